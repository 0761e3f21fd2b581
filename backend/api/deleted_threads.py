"""Threads that the server itself deletes end as with our own endpoint: their summaries go too."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPMethod, HTTPStatus
from typing import Final, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.api.thread_ids import thread_id_in
from backend.errors import NotFound
from backend.ids import ThreadId
from backend.observability.best_effort import best_effort

THREAD: Final = re.compile(r"/threads/([^/]+)/?")
PRUNING: Final = "/threads/prune"


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
        if not _deletes(scope):
            await self._app(scope, receive, send)
            return
        body = bytearray()

        async def noting_receive() -> Message:
            message = await receive()
            body.extend(message.get("body", b""))
            return message

        async def purging_send(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_success(message["status"]):
                await self._purge_all(_threads_in(scope["path"], bytes(body)))
            await send(message)

        await self._app(scope, noting_receive, purging_send)

    async def _purge_all(self, thread_ids: Sequence[ThreadId]) -> None:
        """Ends with the first failure: with the database away the client would wait for each of the others too."""
        for number, thread_id in enumerate(thread_ids):
            async with best_effort("purge", thread_id=thread_id, left=len(thread_ids) - number) as attempt:
                await self._purge(thread_id)
            if attempt.failed:
                return


def _deletes(scope: Scope) -> bool:
    if scope["type"] != "http":
        return False
    if scope["method"] == HTTPMethod.POST:
        return scope["path"] == PRUNING
    return scope["method"] == HTTPMethod.DELETE and THREAD.fullmatch(scope["path"]) is not None


def thread_deleted_by(scope: Scope) -> ThreadId | None:
    """The thread that a `DELETE /threads/{id}` names; None for any other request, and for what is no id."""
    if scope["type"] != "http" or scope["method"] != HTTPMethod.DELETE or not THREAD.fullmatch(scope["path"]):
        return None
    try:
        return _threads_in(scope["path"], b"")[0]
    except NotFound:
        return None


def _threads_in(path: str, body: bytes) -> list[ThreadId]:
    """The threads that a successful request has deleted."""
    if path != PRUNING:
        return [thread_id_in(path.strip("/").rpartition("/")[2])]
    pruned = cast("dict[str, object]", json.loads(body))
    named = cast("list[object]", pruned.get("thread_ids") or [])
    return [thread_id_in(str(name)) for name in named] if pruned.get("strategy", "delete") == "delete" else []


def _is_success(status: int) -> bool:
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
