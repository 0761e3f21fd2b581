import json
from collections.abc import AsyncGenerator
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

THREAD = "00000000-0000-4000-8000-000000000000"


async def ask(server: RecordedServer, method: str, path: str, body: bytes = b"", **headers: str) -> int:
    """What the server behind answers: it says how many threads had been stopped when it was reached.

    It reads the body first, and would miss what is not handed on.
    """

    async def answer(request: Request) -> Response:
        assert await request.body() == body
        return Response(status_code=200 + len(server.stopped))

    async def pieces() -> AsyncGenerator[bytes]:
        for start in range(0, len(body), 7):
            yield body[start : start + 7]

    route = Route("/{path:path}", answer, methods=["GET", "DELETE", "PATCH", "POST"])
    app = StoppedRuns(Starlette(routes=[route]), runs=server)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        return (await client.request(method, path, headers=headers, content=pieces())).status_code


async def test_runs_are_stopped_before_the_deletion_in_the_name_of_whoever_asks() -> None:
    server = RecordedServer(metadata={THREAD: {}})
    assert await ask(server, "DELETE", f"/threads/{THREAD}", authorization="Bearer ana") == 201
    assert server.stopped == [(THREAD, "Bearer ana")]


async def test_the_runs_of_every_thread_that_is_pruned_are_stopped_first() -> None:
    other = str(uuid4())
    server = RecordedServer(metadata={THREAD: {}, other: {}})
    body = json.dumps({"thread_ids": [THREAD, other], "strategy": "delete"}).encode()
    assert await ask(server, "POST", "/threads/prune", body) == 202
    assert sorted(server.stopped) == sorted([(THREAD, None), (other, None)])


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"thread_ids": [THREAD], "strategy": "keep_latest"}, id="threads that stay"),
        pytest.param({"thread_ids": ["x"]}, id="no id"),
        pytest.param({"thread_ids": THREAD}, id="no list"),
        pytest.param([THREAD], id="no object"),
        pytest.param({}, id="none named"),
    ],
)
async def test_a_pruning_that_deletes_nothing_stops_nothing(body: object) -> None:
    server = RecordedServer(metadata={THREAD: {}})
    assert await ask(server, "POST", "/threads/prune", json.dumps(body).encode()) == 200


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
