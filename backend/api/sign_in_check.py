"""A server that should ask for a sign-in and does not must not start."""

from typing import Final

import httpx
from starlette.types import ASGIApp

from backend.errors import SettingsError

PROBE: Final = "/threads/search"
REFUSALS: Final = (401, 403)


async def require_sign_in(app: ASGIApp) -> None:
    """Ask the server for threads without a token, in process, as it starts.

    Some servers go on without an auth module that failed to load, or that their configuration does not name, and then
    serve everybody as one user. Only the answer tells, so it is what is looked at.

    Raises:
        SettingsError: the request was not refused.
    """
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        response = await client.post(PROBE, json={"limit": 1})
    if response.status_code not in REFUSALS:
        raise SettingsError(
            "AUTH_MODE is on, but the server does not ask for a sign-in; "
            "its configuration must name auth.path backend.auth:auth, and that module must load"
        )
