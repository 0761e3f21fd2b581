"""A server that serves threads without a sign-in does not start."""

import pytest
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.api.sign_in_check import require_sign_in
from backend.errors import SettingsError

pytestmark = pytest.mark.anyio


def answering(status: int) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["path"] == "/threads/search"
        assert not any(name == b"authorization" for name, _ in scope["headers"])
        await JSONResponse([], status)(scope, receive, send)

    return app


async def broken(scope: Scope, receive: Receive, send: Send) -> None:
    raise RuntimeError("no database yet")


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refusal_is_what_is_wanted(status: int) -> None:
    await require_sign_in(answering(status))


@pytest.mark.parametrize("status", [200, 404, 500])
async def test_any_other_answer_stops_the_start(status: int) -> None:
    with pytest.raises(SettingsError, match="sign-in"):
        await require_sign_in(answering(status))


async def test_a_server_that_fails_past_the_sign_in_is_not_taken_for_one_that_refuses() -> None:
    with pytest.raises(SettingsError):
        await require_sign_in(broken)
