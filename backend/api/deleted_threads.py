"""Threads that the server itself deletes end as with our own endpoint: their summaries go too."""

import re
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPMethod, HTTPStatus
from typing import Final

from pydantic import BaseModel, ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.api.thread_ids import thread_id_in
from backend.errors import NotFound
from backend.ids import ThreadId
from backend.observability.best_effort import best_effort

THREAD: Final = re.compile(r"/threads/([^/]+)/?")
PRUNING: Final = "/threads/prune"


class PruneRequest(BaseModel):
    thread_ids: list[str]
    strategy: str = "delete"


class DeletedThreads:
    """ASGI middleware: when the server has deleted threads, and before the client hears of it, `purge` runs for each.

    It watches `DELETE /threads/{id}` and `POST /threads/prune`, which the server refuses as a whole when one of the
    threads is not the caller's. The threads are gone by then, so a failure cannot be told as one; what is left is found
    under the caller's `/api/memory/threads` and goes with a second deletion there.
    """

    def __init__(self, app: ASGIApp, *, purge: Callable[[ThreadId], Awaitable[object]]) -> None:
        self._app = app
        self._purge = purge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not deletes_threads(scope):
            await self._app(scope, receive, send)
            return
        body = bytearray()

        async def noting_receive() -> Message:
            message = await receive()
            body.extend(message.get("body", b""))
            return message

        async def purging_send(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_success(message["status"]):
                await self._purge_all(threads_named_by(scope["path"], bytes(body)))
            await send(message)

        await self._app(scope, noting_receive, purging_send)

    async def _purge_all(self, thread_ids: Sequence[ThreadId]) -> None:
        """Ends with the first failure: with the database away the client would wait for each of the others too."""
        for number, thread_id in enumerate(thread_ids):
            async with best_effort("purge", thread_id=thread_id, left=len(thread_ids) - number) as attempt:
                await self._purge(thread_id)
            if attempt.failed:
                return


def deletes_threads(scope: Scope) -> bool:
    """Whether this is a request of the server's that deletes threads when it succeeds."""
    if scope["type"] != "http":
        return False
    if scope["method"] == HTTPMethod.POST:
        return scope["path"] == PRUNING
    return scope["method"] == HTTPMethod.DELETE and THREAD.fullmatch(scope["path"]) is not None


def threads_named_by(path: str, body: bytes) -> list[ThreadId]:
    """The threads that such a request names; none when it cannot be read, which the server refuses."""
    try:
        if path != PRUNING:
            return [thread_id_in(path.strip("/").rpartition("/")[2])]
        pruned = PruneRequest.model_validate_json(body)
        return [thread_id_in(name) for name in pruned.thread_ids] if pruned.strategy == "delete" else []
    except (NotFound, ValidationError):
        return []


def _is_success(status: int) -> bool:
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
