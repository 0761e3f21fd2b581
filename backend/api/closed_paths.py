"""Paths that the dev server opens to everybody, past its own authentication."""

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from backend.api.errors import error_response
from backend.errors import NotFound

CLOSED_PREFIXES: Final = ("/internal", "/deploy")
"""`/internal/debug/thread/{id}` shows any thread, `/internal/truncate` deletes everything, `/deploy` runs a command."""


class ClosedPaths:
    """ASGI middleware: what is under these paths is answered with 404, in every mode."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_closed(scope["path"]):
            await error_response(NotFound("there is nothing here"))(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_closed(path: str) -> bool:
    return any(path == prefix or path.startswith(f"{prefix}/") for prefix in CLOSED_PREFIXES)
