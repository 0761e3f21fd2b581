"""What the server refuses under `/api` before our routes are reached is told in the form of our own errors."""

import json
from http import HTTPStatus
from typing import Final, cast

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.api.errors import API, error_body
from backend.errors import (
    AfterthoughtError,
    CallerError,
    Forbidden,
    NotFound,
    OutsideFailure,
    TooLarge,
    Unauthenticated,
)

KINDS: Final = {error.status: error.code for error in (Unauthenticated, Forbidden, NotFound, TooLarge, OutsideFailure)}


class ErrorForm:
    """ASGI middleware: `{"detail": ...}`, as frameworks refuse a sign-in, a path or a method, becomes `{"error": ...}`.

    Status and headers stay, because the browser needs some of them to let its page read the answer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(API):
            await self._app(scope, receive, send)
            return
        held: list[Message] = []

        async def reforming_send(message: Message) -> None:
            is_refusal = message["type"] == "http.response.start" and message["status"] >= HTTPStatus.BAD_REQUEST
            if not (held or is_refusal):
                await send(message)
                return
            held.append(message)
            if is_refusal or message.get("more_body"):
                return
            for part in _reformed(held[0], b"".join(part.get("body", b"") for part in held[1:])):
                await send(part)
            held.clear()

        await self._app(scope, receive, reforming_send)


def _reformed(start: Message, body: bytes) -> tuple[Message, Message]:
    detail = _detail(body)
    if detail is not None:
        body = error_body(_kind(start["status"]), detail).model_dump_json().encode()
        start = {**start, "headers": list(start["headers"])}
        MutableHeaders(scope=start)["content-length"] = str(len(body))
    return start, {"type": "http.response.body", "body": body}


def _detail(body: bytes) -> str | None:
    try:
        told = json.loads(body)
    except ValueError:
        return None
    detail = cast("dict[str, object]", told).get("detail") if isinstance(told, dict) else None
    return detail if isinstance(detail, str) else None


def _kind(status: int) -> str:
    other = CallerError if status < HTTPStatus.INTERNAL_SERVER_ERROR else AfterthoughtError
    return KINDS.get(status, other.code)
