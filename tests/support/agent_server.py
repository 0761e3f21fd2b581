"""A LangGraph server as a chat client sees it, over HTTP: one scripted answer for each message."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.loopback_http import Connection, HttpRequest, LoopbackServer

THREAD_ID = "11111111-1111-1111-1111-111111111111"
RUN_ID = "22222222-2222-2222-2222-222222222222"

Event = tuple[str, Any]
"""Name and data of one server-sent event."""
Answer = Sequence[Event]


def chunk(text: str) -> Event:
    """A part of the answer's text as `messages-tuple` streams it."""
    return ("messages", [{"type": "AIMessageChunk", "content": text, "id": "run-1"}, {}])


def update(*messages: Mapping[str, Any]) -> Event:
    """What a node added."""
    return ("updates", {"chat_agent": {"messages": list(messages)}})


class AgentServer:
    """Answers the messages in order; once the script is at its end, a run never ends by itself."""

    def __init__(self, *answers: Answer, token: str | None = None, threads: Sequence[Mapping[str, Any]] = ()) -> None:
        self._answers = list(answers)
        self._token = token
        self._threads = threads
        self._server = LoopbackServer(self._handle)
        self.runs: list[Any] = []
        """The bodies of the requests that started a run."""
        self.cancelled = asyncio.Event()
        self.requests: list[HttpRequest] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}"

    def __enter__(self) -> "AgentServer":
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()
        assert not self._server.failures, self._server.failures

    async def _handle(self, request: HttpRequest, connection: Connection) -> None:
        self.requests.append(request)
        if request.path == "/ok":
            return await connection.send_json(200, {"ok": True})
        if self._token and request.headers.get("authorization") != f"Bearer {self._token}":
            return await connection.send_json(401, {"detail": "no valid token"})
        match request.method, request.path:
            case "POST", "/threads":
                await connection.send_json(200, {"thread_id": THREAD_ID})
            case "POST", "/threads/search":
                await connection.send_json(200, list(self._threads))
            case "POST", path if path.endswith("/runs/stream"):
                await self._stream(request, connection)
            case "POST", path if path.endswith("/cancel"):
                self.cancelled.set()
                await connection.send_json(204, None)
            case "GET", path if path.startswith("/threads/"):
                await self._send_thread(path, connection)
            case _:
                await connection.send_json(404, {"detail": f"no route {request.method} {request.path}"})
        return None

    async def _send_thread(self, path: str, connection: Connection) -> None:
        found = [thread for thread in self._threads if path == f"/threads/{thread['thread_id']}"]
        if found:
            await connection.send_json(200, found[0])
        else:
            await connection.send_json(404, {"detail": "Thread not found"})

    async def _stream(self, request: HttpRequest, connection: Connection) -> None:
        self.runs.append(json.loads(request.body))
        thread_id = request.path.split("/")[2]
        await connection.send_head(
            200,
            {
                "content-type": "text/event-stream",
                "transfer-encoding": "chunked",
                "content-location": f"/threads/{thread_id}/runs/{RUN_ID}",
            },
        )
        is_scripted = bool(self._answers)
        for name, data in self._answers.pop(0) if is_scripted else [chunk("I am thinking")]:
            await _send_event(connection, name, data)
        if not is_scripted:
            await self.cancelled.wait()
        await connection.end_events()


async def _send_event(connection: Connection, name: str, data: Any) -> None:
    event = f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
    await connection.send(b"%x\r\n%s\r\n" % (len(event), event))
