"""Paths that the dev server opens to everybody, past its own authentication."""

import json
from collections.abc import Mapping
from typing import Final, cast

from starlette.types import ASGIApp, Receive, Scope, Send

from backend.api.errors import error_response
from backend.errors import NotFound, SettingsError

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


def refuse_mount_prefix(environment: Mapping[str, str]) -> None:
    """Below a prefix the server's paths are others than those that middleware closes, opens and watches.

    Raises:
        SettingsError: the server is configured with one.
    """
    if environment.get("MOUNT_PREFIX") or _configured_prefix(environment.get("LANGGRAPH_HTTP", "")):
        raise SettingsError(
            "MOUNT_PREFIX (or http.mount_prefix in the server's configuration) is not supported; leave it out, "
            "and have the proxy in front take the prefix off"
        )


def _configured_prefix(http: str) -> object:
    """What the server's own configuration says; the server itself refuses one that it cannot read."""
    try:
        configuration: object = json.loads(http)
    except ValueError:
        return None
    return cast("dict[str, object]", configuration).get("mount_prefix") if isinstance(configuration, dict) else None


def _is_closed(path: str) -> bool:
    return any(path == prefix or path.startswith(f"{prefix}/") for prefix in CLOSED_PREFIXES)
