"""A LangGraph server as commands see it, over HTTP: threads with messages, which may belong to users who sign in."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from backend.accounts.identity import Identity
from backend.accounts.service_token import verify_service_token
from backend.errors import Unauthenticated
from tests.support.loopback_http import Connection, HttpRequest, LoopbackServer
from tests.support.service_tokens import SERVICE_SECRET


@dataclass
class HeldThread:
    """A thread; `configurable` is what its last run said, as LangGraph keeps it."""

    messages: Sequence[Mapping[str, Any]]
    owner: str | None = None
    configurable: Mapping[str, Any] = field(default_factory=dict[str, Any])


class ThreadServer:
    """Serves threads to everybody, or with `signs_in` to service tokens of their owners."""

    def __init__(self, *, signs_in: bool = False) -> None:
        self.threads: dict[str, HeldThread] = {}
        self.requests: list[HttpRequest] = []
        self.is_gone_when_asked: set[str] = set()
        """Threads that are listed and deleted before they are asked for."""
        self._signs_in = signs_in
        self._server = LoopbackServer(self._handle)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}"

    def __enter__(self) -> "ThreadServer":
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()
        assert not self._server.failures, self._server.failures

    def add(self, turns: int, *, owner: str | None = None, **configurable: Any) -> str:
        """A thread with so many answered turns; its id."""
        thread_id = str(uuid4())
        messages = [message for turn in range(turns) for message in _turn(thread_id, turn)]
        self.threads[thread_id] = HeldThread(messages, owner, configurable)
        return thread_id

    async def _handle(self, request: HttpRequest, connection: Connection) -> None:
        self.requests.append(request)
        if request.path == "/ok":
            return await connection.send_json(200, {"ok": True})
        try:
            caller = self._caller(request)
        except Unauthenticated as error:
            return await connection.send_json(401, {"detail": error.message})
        visible = {id_: held for id_, held in self.threads.items() if caller is None or held.owner == caller.user_id}
        if (request.method, request.path) == ("POST", "/threads/search"):
            asked = json.loads(request.body)
            page = list(visible)[asked["offset"] :][: asked["limit"]]
            return await connection.send_json(200, [{"thread_id": thread_id} for thread_id in page])
        return await self._answer_about_one(request, connection, visible, caller)

    async def _answer_about_one(
        self, request: HttpRequest, connection: Connection, visible: Mapping[str, HeldThread], caller: Identity | None
    ) -> None:
        thread_id = request.path.split("/")[2]
        if thread_id not in visible or thread_id in self.is_gone_when_asked:
            return await connection.send_json(404, {"detail": "Thread not found"})
        if request.method == "DELETE":
            if caller is not None and not caller.may_erase:
                return await connection.send_json(403, {"detail": "Forbidden"})
            del self.threads[thread_id]
            return await connection.send_json(204, None)
        held = visible[thread_id]
        values = {"messages": list(held.messages)}
        state: dict[str, Any] = {"values": values, "metadata": dict(held.configurable), "next": []}
        return await connection.send_json(200, state)

    def _caller(self, request: HttpRequest) -> Identity | None:
        if not self._signs_in:
            return None
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        return verify_service_token(token, secret=SERVICE_SECRET)


def _turn(thread_id: str, turn: int) -> list[dict[str, Any]]:
    """What is asked names the thread, so that a model's script can tell threads apart."""
    return [
        {"type": "human", "id": f"{thread_id}/h{turn}", "content": f"question {turn + 1} in {thread_id}"},
        {"type": "ai", "id": f"{thread_id}/a{turn}", "content": f"answer {turn + 1}"},
    ]
