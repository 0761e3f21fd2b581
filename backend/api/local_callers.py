"""Without authentication everyone who reaches the server is trusted, so web pages of other sites must not reach it."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.api.errors import error_response
from backend.errors import Forbidden

LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})
IN_PROCESS: Final = "api"
"""What the SDK calls the server that it runs in."""
STUDIO: Final = "https://smith.langchain.com"
READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class LocalCallers:
    """ASGI middleware: refuses what a page of another site sends, or a name that somebody made point to this machine.

    Browsers let any page send simple requests to any server and only keep the answers from it, so the CORS settings
    of `langgraph.json` are not enough: a page could start runs, and so write into memory.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str] = ()) -> None:
        """`hosts` are further names under which the server is meant to be reached."""
        self._app = app
        self._hosts = LOCAL | {IN_PROCESS} | set(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_local(scope):
            refusal = Forbidden("AUTH_MODE=none serves this machine only; sign-in for others: AUTH_MODE=tokens or jwt")
            await error_response(refusal)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_local(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        if _host_in(f"//{headers.get('host', '')}") not in self._hosts:
            return False
        origin = headers.get("origin")
        return scope["method"] in READING or origin in (None, STUDIO) or _host_in(origin) in self._hosts


def _host_in(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
