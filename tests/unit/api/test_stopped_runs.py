from uuid import uuid4

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from backend.api.stopped_runs import StoppedRuns
from tests.support.threads import RecordedServer

pytestmark = pytest.mark.anyio

THREAD = str(uuid4())


async def ask(server: RecordedServer, method: str, path: str, **headers: str) -> int:
    """What the server behind answers: it says how many threads had been stopped when it was reached."""

    async def answer(_: Request) -> Response:
        return Response(status_code=200 + len(server.stopped))

    route = Route("/{path:path}", answer, methods=["GET", "DELETE", "PATCH"])
    app = StoppedRuns(Starlette(routes=[route]), runs=server)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        return (await client.request(method, path, headers=headers)).status_code


async def test_runs_are_stopped_before_the_deletion_in_the_name_of_whoever_asks() -> None:
    server = RecordedServer(metadata={THREAD: {}})
    assert await ask(server, "DELETE", f"/threads/{THREAD}", authorization="Bearer ana") == 201
    assert server.stopped == [(THREAD, "Bearer ana")]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"/threads/{THREAD}"),
        ("PATCH", f"/threads/{THREAD}"),
        ("DELETE", f"/threads/{THREAD}/runs/1"),
        ("DELETE", "/threads/x"),
    ],
)
async def test_other_requests_stop_nothing(method: str, path: str) -> None:
    server = RecordedServer(metadata={THREAD: {}})
    assert await ask(server, method, path) == 200


async def test_a_thread_that_is_not_there_is_left_to_the_server_to_refuse() -> None:
    assert await ask(RecordedServer(), "DELETE", f"/threads/{THREAD}") == 200


async def test_a_run_that_does_not_stop_does_not_keep_the_thread_from_going() -> None:
    assert await ask(RecordedServer(metadata={THREAD: {}}, down=True), "DELETE", f"/threads/{THREAD}") == 200
