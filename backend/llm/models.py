"""The language models: one client a role, and the one place that knows what a provider's errors mean."""

import asyncio
import ipaddress
import re
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from traceback import walk_tb
from types import MappingProxyType
from typing import Any, TypedDict, get_args
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx2
import openai
from langchain_core.exceptions import ContextOverflowError, ModelError, ModelRefusalError
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from backend.errors import BadModelOutput, ModelUnavailable, OutsideFailure
from backend.llm.offline import OfflineModel
from backend.settings import Role, Settings

OPENAI_URL = "https://api.openai.com/v1"
"""Named rather than left out: without it the libraries look for another host in the environment."""

NO_KEY = SecretStr("unused")
"""What servers that ask for no key are sent; the client insists on one."""

CONNECT_SECONDS = 10.0


class Models:
    """The model for each role, built once; with no provider configured the offline model serves every role."""

    def __init__(self, settings: Settings) -> None:
        self._http = None if settings.offline else ProviderClient(settings)
        self._by_role = MappingProxyType({role: _build(role, settings, self._http) for role in get_args(Role)})

    def for_role(self, role: Role) -> BaseChatModel:
        """The model of a role. Only the chat model streams: what the others say is not for the user's eyes."""
        return self._by_role[role]

    async def close(self) -> None:
        """Close the connections that the running loop opened."""
        if self._http:
            await self._http.aclose()


def _build(role: Role, settings: Settings, http: "ProviderClient | None") -> BaseChatModel:
    if http is None:
        return OfflineModel(role=role)
    key = settings.openai_api_key
    return ChatOpenAI(
        model=settings.model_for(role),
        api_key=key if key.get_secret_value() else NO_KEY,
        base_url=settings.openai_base_url or OPENAI_URL,
        timeout=provider_timeout(settings),
        stream_chunk_timeout=settings.model_timeout_seconds,
        max_retries=settings.model_max_retries,
        stream_usage=True,
        disable_streaming=role != "chat",
        use_responses_api=False,
        output_version="v0",
        openai_proxy="",
        http_client=http.unused_sync_twin(),
        http_async_client=http,
        http_socket_options=(),
    )


def provider_timeout(settings: Settings) -> openai.Timeout:
    seconds = settings.model_timeout_seconds
    return openai.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


class _HttpOptions(TypedDict):
    timeout: openai.Timeout
    trust_env: bool
    verify: ssl.SSLContext


class ProviderClient(openai.DefaultAsyncHttpxClient):
    """Connections to the provider, shared by all roles, with a pool for each event loop.

    A pooled connection works only on the loop that opened it, and a server may run its jobs on several loops.
    A proxy named in the environment is used for other hosts, never for a model on this machine.
    """

    def __init__(self, settings: Settings) -> None:
        self._options: _HttpOptions = {
            "timeout": provider_timeout(settings),
            "trust_env": not _is_loopback(settings.openai_base_url),
            "verify": httpx2.create_ssl_context(),
        }
        self._pools: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = WeakKeyDictionary()
        super().__init__(**self._options)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None:
            pool = self._pools[loop] = openai.DefaultAsyncHttpxClient(**self._options)
        return await pool.send(request, **options)

    async def aclose(self) -> None:
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.aclose()

    def unused_sync_twin(self) -> httpx2.Client:
        """ChatOpenAI builds a blocking client as well, and would make an SSL context for each."""
        return openai.DefaultHttpxClient(**self._options)


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@asynccontextmanager
async def translate_model_errors() -> AsyncGenerator[None]:
    """Around a model call: what the client libraries raise leaves as an error of ours that says what to do.

    The library's own error is not chained: providers repeat keys and parts of the request in theirs. Cancellation and
    errors that do not come out of the client pass as they are.

    Raises:
        ModelUnavailable: no answer: refused key, unknown model, rate limit, too long, unreachable, slow, no model API.
        BadModelOutput: an answer without use: refused, cut off, filtered.
    """
    try:
        yield
    except _CLIENT_ERRORS as error:
        raise _translated(error) from None
    except _UNREADABLE as error:
        place = _place_in_client(error)
        if place is None:
            raise
        raise ModelUnavailable(
            f"What the model server answered cannot be read ({type(error).__name__} in {place}); check that "
            "OPENAI_BASE_URL is the address of a chat completions API, which usually ends in /v1."
        ) from None


_CLIENT_ERRORS = (openai.OpenAIError, ModelError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, TimeoutError)
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError)
"""What the client raises, without a class of its own, for an answer that is no chat completion: a web page, for one."""
_CLIENT_MODULES = ("openai.", "langchain_openai.", "langchain_core.language_models.")

_NO_USE: tuple[tuple[type[Exception], str], ...] = (
    (ModelRefusalError, "The language model refused to answer this."),
    (openai.LengthFinishReasonError, "The answer of the language model was cut off at its length limit."),
    (openai.ContentFilterFinishReasonError, "A filter of the model provider blocked the answer."),
    (openai.APIResponseValidationError, "The answer of the model provider has another form than it should have."),
)
_TOO_LONG = re.compile(r"context[ _](length|window|size)|prompt is too long|maximum context", re.IGNORECASE)
_TOO_SLOW = (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError)
_UNREACHABLE = (openai.APIConnectionError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError)
_SAFE_CODE = re.compile(r"[a-z0-9_.-]{1,64}", re.IGNORECASE)
_BY_CODE = {"insufficient_quota": 402, "context_length_exceeded": 413, "model_not_found": 404, "invalid_api_key": 401}
_BY_STATUS = {
    401: "The model provider refused the key; check OPENAI_API_KEY.",
    402: "The account at the model provider has no credit left.",
    403: "The model provider does not permit this; check that the key in OPENAI_API_KEY may use the model in MODEL.",
    404: "The model provider does not know this model or address; check MODEL, and that OPENAI_BASE_URL is the address "
    "of a chat completions API, which usually ends in /v1.",
    408: "The language model did not answer in time; try again, or raise MODEL_TIMEOUT_SECONDS.",
    413: "The conversation is longer than the language model accepts.",
    429: "The model provider limits how often it may be asked; try again in a moment.",
}


def _translated(error: Exception) -> OutsideFailure:
    for kind, message in _NO_USE:
        if isinstance(error, kind):
            return BadModelOutput(message)
    if isinstance(error, _TOO_SLOW):
        return ModelUnavailable(_BY_STATUS[408])
    if isinstance(error, _UNREACHABLE):
        return ModelUnavailable("The connection to the model provider failed; check OPENAI_BASE_URL and the network.")
    return ModelUnavailable(_message_for_status(error))


def _message_for_status(error: Exception) -> str:
    code: str | None = getattr(error, "code", None)
    status: int | None = getattr(error, "status_code", None)
    if isinstance(error, ContextOverflowError) or _TOO_LONG.search(str(error)):
        return _BY_STATUS[413]
    known = _BY_CODE.get(str(code), status)
    if known in _BY_STATUS:
        return _BY_STATUS[known]
    parts = [f"HTTP {status}" if status else "", code if code and _SAFE_CODE.fullmatch(code) else ""]
    detail = ", ".join(part for part in parts if part) or type(error).__name__
    if status and 400 <= status < 500:  # noqa: PLR2004
        return f"The model provider rejected the request ({detail})."
    return f"The model provider failed ({detail}); try again in a moment."


def _place_in_client(error: Exception) -> str | None:
    """The innermost function of the client libraries that the error came through; None if it is not theirs."""
    frames = [frame.f_globals["__name__"] + "." + frame.f_code.co_name for frame, _ in walk_tb(error.__traceback__)]
    return next((place for place in reversed(frames) if place.startswith(_CLIENT_MODULES)), None)
