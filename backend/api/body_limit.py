"""A bound on what a request may carry, answered in our form."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
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
        refusal = TooLarge(f"the request has more than {self._max_bytes} bytes, which is what MAX_BODY_BYTES allows")
        if _declared_bytes(scope) > self._max_bytes:
            await error_response(refusal)(scope, receive, send)
            return
        received = 0

        async def bounded_receive() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_bytes:
                # the one kind of error that frameworks let through from where they read a body
                raise HTTPException(refusal.status, refusal.message)
            return message

        await self._app(scope, bounded_receive, send)


def _declared_bytes(scope: Scope) -> int:
    declared = Headers(scope=scope).get("content-length", "")
    return int(declared) if declared.isdecimal() and declared.isascii() else 0
