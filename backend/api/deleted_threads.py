"""The server's own `DELETE /threads/{id}` ends as ours does: with the thread's summaries gone too."""

import re
from collections.abc import Awaitable, Callable
from http import HTTPMethod, HTTPStatus
from typing import Final
from uuid import UUID

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.errors import StorageUnavailable
from backend.ids import ThreadId

log = structlog.stdlib.get_logger(__name__)

THREAD: Final = re.compile(r"/threads/([^/]+)/?")


class DeletedThreads:
    """ASGI middleware: when the server has deleted a thread, and before the client hears of it, `purge` runs.

    The thread is gone by then, so a failure cannot be told as one; what is left is found under the caller's
    `/api/memory/threads` and goes with a second deletion there.
    """

    def __init__(self, app: ASGIApp, *, purge: Callable[[ThreadId], Awaitable[object]]) -> None:
        self._app = app
        self._purge = purge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        thread_id = _thread_to_delete(scope)
        if thread_id is None:
            await self._app(scope, receive, send)
            return

        async def purging_send(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_success(message["status"]):
                await self._purge_logged(thread_id)
            await send(message)

        await self._app(scope, receive, purging_send)

    async def _purge_logged(self, thread_id: ThreadId) -> None:
        try:
            await self._purge(thread_id)
        except StorageUnavailable:
            log.exception("purge_failed", thread_id=thread_id)


def _thread_to_delete(scope: Scope) -> ThreadId | None:
    if scope["type"] != "http" or scope["method"] != HTTPMethod.DELETE:
        return None
    found = THREAD.fullmatch(scope["path"])
    try:
        return ThreadId(str(UUID(found[1]))) if found else None
    except ValueError:
        return None


def _is_success(status: int) -> bool:
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
