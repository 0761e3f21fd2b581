"""Reads JSON from the public services that tools ask, and turns each way in which they fail into an error of ours."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Final, TypeVar

import httpx
from pydantic import AfterValidator, BaseModel, ValidationError

from backend import __version__
from backend.errors import ServiceUnavailable, ToolRefusal
from backend.llm.messages import clip

MAX_BODY_BYTES: Final = 1_000_000
MAX_LABEL_CHARS: Final = 80
REFUSED: Final = frozenset({400, 422})
"""Answers that are about the arguments; every other error is the service's own or the operator's."""
TOO_MANY_REQUESTS: Final = 429

Shape = TypeVar("Shape", bound=BaseModel)


def one_line(text: str) -> str:
    """Text without line breaks, runs of spaces, NUL and lone surrogates, which no URL can carry."""
    return " ".join(text.encode("utf-8", "replace").decode().replace("\x00", " ").split())


Label = Annotated[str, AfterValidator(lambda text: clip(one_line(text), MAX_LABEL_CHARS))]
"""A name or unit as a service sent it: it ends up in front of the model, so it is one short line."""


class JsonClient:
    """Asks one question at a time, over a connection of its own, so that any event loop may use one client.

    Opening `httpx.AsyncClient` costs 0.15 ms once its TLS context is made, which takes 50 ms; so only that is shared.
    """

    def __init__(self, *, timeout_seconds: float) -> None:
        self._timeout = timeout_seconds
        self._tls = httpx.create_ssl_context()
        # httpx imports its transport with the first client, which reads files: here, not in a running event loop.
        self._open()

    async def get(
        self, url: str | httpx.URL, params: Mapping[str, str | int | float], *, shape: type[Shape], service: str
    ) -> Shape:
        """GET `url` with `params` beside those it has already, and read the answer as `shape`.

        `service` names who is asked, for the messages: "The weather service". The whole exchange is bounded in time
        and size; redirects are not followed.

        Raises:
            ToolRefusal: the service does not accept the arguments.
            ServiceUnavailable: it does not answer in time, answers with an error, too much, or something else.
        """
        try:
            async with asyncio.timeout(self._timeout):
                body = await self._body(httpx.URL(url).copy_merge_params(params), service)
        except (TimeoutError, httpx.TimeoutException):
            raise ServiceUnavailable(f"{service} did not answer within {self._timeout:g} seconds.") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ServiceUnavailable(f"{service} cannot be reached.") from error
        try:
            return shape.model_validate_json(body)
        except ValidationError:
            raise ServiceUnavailable(f"{service} sent an answer that cannot be read.") from None

    async def _body(self, url: httpx.URL, service: str) -> bytes:
        async with self._open() as client, client.stream("GET", url) as response:
            _check_status(response.status_code, service)
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > MAX_BODY_BYTES:
                    raise ServiceUnavailable(f"{service} sent more than can be read.")
            return bytes(body)

    def _open(self) -> httpx.AsyncClient:
        # Asking for plain text keeps a small compressed answer from unpacking into a huge one.
        headers = {"User-Agent": f"afterthought/{__version__}", "Accept-Encoding": "identity"}
        return httpx.AsyncClient(verify=self._tls, timeout=self._timeout, headers=headers, follow_redirects=False)


def _check_status(status: int, service: str) -> None:
    if status in REFUSED:
        raise ToolRefusal(f"{service} does not accept these arguments (HTTP {status}).")
    if status == TOO_MANY_REQUESTS:
        raise ServiceUnavailable(f"{service} gets too many requests at the moment (HTTP {status}).")
    if not httpx.codes.is_success(status):
        raise ServiceUnavailable(f"{service} answered with an error (HTTP {status}).")
