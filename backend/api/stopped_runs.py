"""Before the server deletes a thread, what runs in it is stopped: a run that goes on would write after the deletion."""

import asyncio
from typing import Final, Protocol

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.api.deleted_threads import thread_deleted_by
from backend.errors import NotFound, ServerUnavailable
from backend.ids import ThreadId

LAST_WRITES_SECONDS: Final = 1.0
"""The server calls a run ended a moment before what the run had begun to store is stored."""

log = structlog.stdlib.get_logger(__name__)


class Runs(Protocol):
    """What is needed of the server."""

    async def stop_runs(self, thread_id: ThreadId, *, authorization: str | None) -> int: ...


class StoppedRuns:
    """ASGI middleware: a `DELETE /threads/{id}` cancels the thread's runs first, as whoever asks for the deletion.

    A run that does not end in time does not keep the thread from going; what it still writes is then left over.
    """

    def __init__(self, app: ASGIApp, *, runs: Runs) -> None:
        self._app = app
        self._runs = runs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        thread_id = thread_deleted_by(scope)
        if thread_id is not None:
            await self._stop(thread_id, Headers(scope=scope).get("authorization"))
        await self._app(scope, receive, send)

    async def _stop(self, thread_id: ThreadId, authorization: str | None) -> None:
        try:
            if await self._runs.stop_runs(thread_id, authorization=authorization):
                await asyncio.sleep(LAST_WRITES_SECONDS)
        except NotFound:
            return
        except ServerUnavailable as error:
            log.warning("stop_runs_failed", thread_id=thread_id, reason=error.message)
