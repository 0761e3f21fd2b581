"""/api/memory/threads and /api/threads: the summaries of the caller's threads, and the threads themselves (S1)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Protocol

from fastapi import Depends, FastAPI, Response
from pydantic import BaseModel

from backend.api.callers_memory import CallersMemory
from backend.api.thread_ids import thread_id_in
from backend.errors import NotFound
from backend.ids import ThreadId, UserId
from backend.memory.forgetting import Forgetting
from backend.memory.summaries.record import SummaryRow
from backend.memory.user_memory import UserMemory
from backend.observability.best_effort import best_effort


class Titles(Protocol):
    """The threads' titles, which the server keeps."""

    async def thread_titles(
        self, thread_ids: Iterable[ThreadId], *, user_id: UserId | None
    ) -> Mapping[ThreadId, str]: ...


class SummaryOut(SummaryRow):
    """One pass, with the title of its thread."""

    title: str | None = None


class ThreadOut(BaseModel):
    """A thread with its passes in order; `last_activity` is that of the newest."""

    thread_id: str
    title: str | None
    last_activity: datetime
    summaries: list[SummaryRow]


class ThreadsOut(BaseModel):
    threads: list[ThreadOut]


class DeletedOut(BaseModel):
    deleted: int


def add_thread_routes(app: FastAPI, *, callers_memory: CallersMemory, titles: Titles, forgetting: Forgetting) -> None:
    the_callers = Depends(callers_memory)

    @app.get("/api/memory/threads", tags=["memory"])
    async def list_threads(memory: UserMemory = the_callers) -> ThreadsOut:
        """The summaries grouped by thread, newest activity first."""
        rows = await with_titles(await memory.summaries.all(), titles=titles, user_id=memory.user_id)
        return ThreadsOut(threads=by_thread(rows))

    @app.delete("/api/memory/threads/{thread_id}", tags=["memory"])
    async def delete_summaries(thread_id: str, memory: UserMemory = the_callers, *, rebuild: bool = True) -> DeletedOut:
        """Remove all summaries of a thread; with `rebuild=false` they are not written again."""
        deleted = await memory.summaries.delete(thread_id_in(thread_id), rebuild=rebuild)
        if not deleted:
            raise NotFound("this thread has no summaries")
        return DeletedOut(deleted=deleted)

    @app.delete("/api/threads/{thread_id}", tags=["threads"], status_code=204)
    async def delete_thread(thread_id: str, memory: UserMemory = the_callers, *, memories: bool = False) -> Response:
        """Delete the thread, its checkpoints and its summaries; with `memories=true` its facts and episodes too."""
        thread = thread_id_in(thread_id)
        if memories:
            await _delete_with_memories(thread, memory=memory, forgetting=forgetting)
        else:
            await forgetting.delete_thread(thread, user_id=memory.user_id)
        return Response(status_code=204)


async def _delete_with_memories(thread_id: ThreadId, *, memory: UserMemory, forgetting: Forgetting) -> None:
    """Also where the thread is gone already: whoever kept its memories may think better of it.

    The thread goes first, so that none of its turns can be remembered after the erasure.
    """
    try:
        await forgetting.delete_thread(thread_id, user_id=memory.user_id)
    except NotFound:
        if not await _erase_memories(thread_id, memory=memory):
            raise
    else:
        await _erase_memories(thread_id, memory=memory)


async def _erase_memories(thread_id: ThreadId, *, memory: UserMemory) -> int:
    """Erase the facts and episodes that came from a thread; how many."""
    return await memory.facts.erase_thread(thread_id) + await memory.episodes.erase_thread(thread_id)


async def with_titles(rows: Sequence[SummaryRow], *, titles: Titles, user_id: UserId) -> list[SummaryOut]:
    """The rows with their threads' titles; without them when the server does not tell."""
    named: Mapping[ThreadId, str] = {}
    async with best_effort("titles", user_id=user_id):
        named = await titles.thread_titles({ThreadId(row.thread_id) for row in rows}, user_id=user_id)
    return [SummaryOut(**dict(row), title=named.get(ThreadId(row.thread_id))) for row in rows]


def by_thread(rows: Iterable[SummaryOut]) -> list[ThreadOut]:
    """Threads by newest activity; the passes of each as they come."""
    groups = groupby(sorted(rows, key=lambda row: row.thread_id), key=lambda row: row.thread_id)
    threads = [_thread(thread_id, list(passes)) for thread_id, passes in groups]
    return sorted(threads, key=lambda thread: thread.last_activity, reverse=True)


def _thread(thread_id: str, passes: Sequence[SummaryOut]) -> ThreadOut:
    return ThreadOut(
        thread_id=thread_id,
        title=passes[0].title,
        last_activity=max(row.created_at for row in passes),
        summaries=[SummaryRow(**row.model_dump(exclude={"title"})) for row in passes],
    )
