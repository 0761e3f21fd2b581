"""A bound on what a request may carry, answered in our form."""

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.api.errors import error_response
from backend.errors import TooLarge


class BodyLimit:
    """ASGI middleware: larger bodies are refused, by the length they declare or as soon as too much has come.

    FastAPI's own `max_body_size` answers in plain text, and nothing inside of it can change that.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = _BoundedRequest(receive, send, max_bytes=self._max_bytes)
        if _declared_bytes(scope) <= self._max_bytes and await request.is_answered_by(self._app, scope):
            return
        refusal = TooLarge(f"the request has more than {self._max_bytes} bytes, which is what MAX_BODY_BYTES allows")
        await error_response(refusal)(scope, receive, send)


class _BoundedRequest:
    """One request, of which the app sees no more than the limit: beyond it, the client seems to have left.

    Every framework knows clients that leave in the middle of a body. An error raised where it reads would come out of
    a middleware that reads in a task of its own as something else.
    """

    def __init__(self, receive: Receive, send: Send, *, max_bytes: int) -> None:
        self._receive = receive
        self._send = send
        self._left = max_bytes
        self._has_started = False

    async def is_answered_by(self, app: ASGIApp, scope: Scope) -> bool:
        """False, and nothing has been sent, when the body was too large before there was an answer."""
        try:
            await app(scope, self._receive_bounded, self._send_unless_too_large)
        except ClientDisconnect:
            if not self._is_too_large:
                raise
        return self._has_started or not self._is_too_large

    @property
    def _is_too_large(self) -> bool:
        return self._left < 0

    async def _receive_bounded(self) -> Message:
        if not self._is_too_large:
            message = await self._receive()
            self._left -= len(message.get("body", b""))
            if not self._is_too_large:
                return message
        return {"type": "http.disconnect"}

    async def _send_unless_too_large(self, message: Message) -> None:
        if self._has_started or not self._is_too_large:
            self._has_started = True
            await self._send(message)


def _declared_bytes(scope: Scope) -> int:
    declared = Headers(scope=scope).get("content-length", "")
    return int(declared) if declared.isdecimal() and declared.isascii() else 0
