"""GET /api/memory/events: tells an open page that the caller's memory has changed, and nothing else about it."""

import time
from collections.abc import AsyncGenerator
from typing import Any, Final

from fastapi import Depends, FastAPI
from sse_starlette import EventSourceResponse, ServerSentEvent

from backend.api.callers_memory import CallersMemory
from backend.api.strict_route import described
from backend.errors import LimitReached
from backend.memory.changes import Changes, Watch
from backend.memory.user_memory import UserMemory

KEEP_ALIVE_SECONDS: Final = 15
LONGEST_SECONDS: Final = 3600.0
"""Then the client opens another stream, for which it has to sign in again: tokens expire, and users are erased."""
STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "`ready` at once, then `memory_changed` after changes; the data of both is `{}`.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


def add_event_route(app: FastAPI, *, callers_memory: CallersMemory, changes: Changes) -> None:
    the_callers = Depends(callers_memory)

    async def watching(memory: UserMemory = the_callers) -> AsyncGenerator[Watch]:
        """FastAPI leaves the block when the answer has ended, however it ended."""
        with changes.watch(memory.user_id) as watch:
            yield watch

    the_watch = Depends(watching)

    @app.get(
        "/api/memory/events",
        tags=["memory"],
        response_class=EventSourceResponse,
        responses={**STREAM, **described(LimitReached)},
    )
    async def events(watch: Watch = the_watch) -> EventSourceResponse:
        """Server-sent events of the caller's memory, from any process: read it at `ready`, and again at each change.

        Changes in quick succession may come as one event, and one may come without a change. The stream ends after an
        hour, and when the server stops: open another then.
        """
        return EventSourceResponse(events_of(watch), ping=KEEP_ALIVE_SECONDS)


async def events_of(watch: Watch, *, longest_seconds: float = LONGEST_SECONDS) -> AsyncGenerator[ServerSentEvent]:
    """The events of a stream; nothing that changes after `ready` goes unheard."""
    end = time.monotonic() + longest_seconds
    yield ServerSentEvent(event="ready", data="{}")
    while await watch.changed(within=end - time.monotonic()):
        yield ServerSentEvent(event="memory_changed", data="{}")
