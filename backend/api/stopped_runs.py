"""Before the server deletes a thread, what runs in it is stopped: a run that goes on would write after the deletion."""

import asyncio
from typing import Final, Protocol

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.api.deleted_threads import deletes_threads, threads_named_by
from backend.errors import NotFound, ServerUnavailable
from backend.ids import ThreadId

LAST_WRITES_SECONDS: Final = 1.0
"""The server calls a run ended a moment before what the run had begun to store is stored."""

log = structlog.stdlib.get_logger(__name__)


class Runs(Protocol):
    """What is needed of the server."""

    async def stop_runs(self, thread_id: ThreadId, *, authorization: str | None) -> int: ...


class StoppedRuns:
    """ASGI middleware: before the server deletes threads, their runs are cancelled, as whoever asks for the deletion.

    A run that does not end in time does not keep the thread from going; what it still writes is then left over.
    """

    def __init__(self, app: ASGIApp, *, runs: Runs) -> None:
        self._app = app
        self._runs = runs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not deletes_threads(scope):
            await self._app(scope, receive, send)
            return
        received = await _whole_request(receive)
        body = b"".join(message.get("body", b"") for message in received)
        thread_ids = threads_named_by(scope["path"], body)
        authorization = Headers(scope=scope).get("authorization")
        stopped = await asyncio.gather(*(self._stop(thread_id, authorization) for thread_id in thread_ids))
        if any(stopped):
            await asyncio.sleep(LAST_WRITES_SECONDS)
        await self._app(scope, _replay(received, receive), send)

    async def _stop(self, thread_id: ThreadId, authorization: str | None) -> int:
        try:
            return await self._runs.stop_runs(thread_id, authorization=authorization)
        except NotFound:
            return 0
        except ServerUnavailable as error:
            log.warning("stop_runs_failed", thread_id=thread_id, reason=error.message)
            return 0


async def _whole_request(receive: Receive) -> list[Message]:
    """Up to the end of the body, or of a client that leaves before."""
    received = [await receive()]
    while received[-1].get("more_body"):
        received.append(await receive())
    return received


def _replay(received: list[Message], receive: Receive) -> Receive:
    left = iter(received)

    async def replaying() -> Message:
        message = next(left, None)
        return await receive() if message is None else message

    return replaying
