"""The thread summaries of one user: read through the cache, committed under the thread's lock (S1)."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from langgraph.store.base import BaseStore, SearchItem

from backend.ids import ThreadId, UserId
from backend.memory.exclusive import ExclusiveWrites
from backend.memory.recall_cache import RecallCache
from backend.memory.scope import scope_label, search_all, threads_namespace
from backend.memory.summaries.fence import fence_of
from backend.memory.summaries.record import SummaryEntries, SummaryRow, next_sequence, read_rows
from backend.memory.summaries.transcript import KnownDigests
from backend.memory.summaries.window import Window, coverage
from backend.observability.best_effort import best_effort

CLAIM_SECONDS: Final = 60.0
"""A claim ends by itself so soon after its process has died; one that lives renews it."""
RENEW_EVERY_SECONDS: Final = 20.0


class Ledger(Protocol):
    """What is kept of threads beside their rows: who summarizes one now, and which turns are fenced."""

    async def claim(self, scope: str, thread_id: ThreadId, *, seconds: float) -> str | None: ...
    async def renew(self, scope: str, thread_id: ThreadId, claim: str, *, seconds: float) -> None: ...
    async def holds(self, scope: str, thread_id: ThreadId, claim: str) -> bool: ...
    async def release(self, scope: str, thread_id: ThreadId, claim: str) -> None: ...
    async def void(self, scope: str, thread_id: ThreadId) -> None: ...
    async def fence(self, scope: str, thread_id: ThreadId, message_ids: Sequence[str]) -> None: ...
    async def fenced(self, scope: str, thread_id: ThreadId) -> Sequence[str]: ...
    async def forget(self, scope: str, thread_id: ThreadId) -> None: ...
    async def threads_of(self, scope: str) -> Sequence[ThreadId]: ...


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """All that is kept of a thread: its readable rows by sequence, of every branch, and its fence."""

    rows: Sequence[SummaryRow]
    fenced: Sequence[str]
    digests: KnownDigests = field(default_factory=KnownDigests, compare=False, repr=False)
    """Of the thread's messages, as far as rows were compared with them; not stored, kept while the record is."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What a pass made of a window, before it is a row."""

    window: Window
    human_ids: Sequence[str | None]
    """Of the whole branch, in order; the window's are part of them."""
    entries: SummaryEntries
    tokens_before: int
    tokens_after: int
    digest_of: Callable[[Window], str]
    """Of any window of the branch, see `digests_of`."""


SummaryCache = RecallCache[ThreadId, ThreadRecord]


@dataclass(frozen=True, slots=True)
class Summaries:
    """Reads and changes raise StorageUnavailable when the database does not answer."""

    user_id: UserId
    store: BaseStore
    ledger: Ledger
    writes: ExclusiveWrites
    cache: SummaryCache

    async def of(self, thread_id: ThreadId) -> ThreadRecord:
        """What is kept of a thread; a warm read asks nothing."""

        async def load() -> ThreadRecord:
            return await self.stored(thread_id)

        return await self.cache.get(self.user_id, thread_id, load)

    async def stored(self, thread_id: ThreadId) -> ThreadRecord:
        """The same, past the cache."""
        items = await search_all(self.store, threads_namespace(self.user_id), thread_id=thread_id)
        fenced = await self.ledger.fenced(self._scope, thread_id)
        return ThreadRecord(rows=read_rows(item.value for item in items), fenced=fenced)

    async def all(self) -> Sequence[SummaryRow]:
        """Every readable row of every thread, passes of a thread in order."""
        return read_rows(item.value for item in await self._items())

    async def claim(self, thread_id: ThreadId) -> str | None:
        """The right to make the next pass, or None while another run makes one."""
        return await self.ledger.claim(self._scope, thread_id, seconds=CLAIM_SECONDS)

    async def release(self, thread_id: ThreadId, claim: str) -> None:
        await self.ledger.release(self._scope, thread_id, claim)

    @asynccontextmanager
    async def claimed(self, thread_id: ThreadId) -> AsyncGenerator[str | None]:
        """As `claim`, for the length of the block, however long the model takes in it."""
        claim = await self.claim(thread_id)
        if claim is None:
            yield None
            return
        renewal = asyncio.get_running_loop().create_task(self._keep_claim(thread_id, claim))
        try:
            yield claim
        finally:
            renewal.cancel()
            await asyncio.wait([renewal])
            await self.release(thread_id, claim)

    async def _keep_claim(self, thread_id: ThreadId, claim: str) -> None:
        while True:
            await asyncio.sleep(RENEW_EVERY_SECONDS)
            async with best_effort("renew_claim", chat_thread_id=thread_id):
                await self.ledger.renew(self._scope, thread_id, claim, seconds=CLAIM_SECONDS)

    async def commit(self, thread_id: ThreadId, done: Pass, *, claim: str, at: datetime) -> SummaryRow | None:
        """Store a pass as the thread's next row.

        None, and nothing is written, when the claim was lost (the thread, its summaries or the user are gone) or the
        window has been covered meanwhile.
        """
        async with self.writes.of(self.user_id, thread_id):
            if not await self.ledger.holds(self._scope, thread_id, claim):
                return None
            known = await self.stored(thread_id)
            covered = coverage(known.rows, done.human_ids, fenced=known.fenced, digest_of=done.digest_of)
            if covered.end != done.window.start - 1:
                return None
            row = _row(thread_id, done, sequence=await self._free_sequence(thread_id, known.rows), at=at)
            await self.store.aput(
                threads_namespace(self.user_id), _key(thread_id, row.sequence), row.as_json(), index=False
            )
            return row

    async def delete(self, thread_id: ThreadId, *, rebuild: bool) -> int:
        """Remove all rows of a thread; how many. Without `rebuild` a fence keeps them from being written again."""
        async with self.writes.of(self.user_id, thread_id):
            known = await self.stored(thread_id)
            fence = [] if rebuild else fence_of(known.rows, known.fenced)
            if fence:
                await self.ledger.fence(self._scope, thread_id, fence)
            else:
                await self.ledger.void(self._scope, thread_id)
            return await self._delete_rows(thread_id)

    async def purge(self, thread_id: ThreadId) -> int:
        """Remove all that is kept of a thread, as if it had never been; how many rows."""
        async with self.writes.of(self.user_id, thread_id):
            await self.ledger.forget(self._scope, thread_id)
            return await self._delete_rows(thread_id)

    async def erase(self) -> int:
        """Purge every thread; how many rows."""
        known = await self.ledger.threads_of(self._scope)
        stored = [_thread_of(item.key) for item in await self._items()]
        return sum([await self.purge(thread_id) for thread_id in dict.fromkeys([*known, *stored])])

    @property
    def _scope(self) -> str:
        return scope_label(self.user_id)

    async def _items(self) -> list[SearchItem]:
        return await search_all(self.store, threads_namespace(self.user_id))

    async def _delete_rows(self, thread_id: ThreadId) -> int:
        """The thread's own first, since rows that others remove meanwhile shift the pages of all; then, by their keys,
        those that cannot be read.
        """
        own = await search_all(self.store, threads_namespace(self.user_id), thread_id=thread_id)
        others = [item for item in await self._items() if _thread_of(item.key) == thread_id]
        keys = dict.fromkeys(item.key for item in (*own, *others))
        for key in keys:
            await self.store.adelete(threads_namespace(self.user_id), key)
        return len(keys)

    async def _free_sequence(self, thread_id: ThreadId, rows: Sequence[SummaryRow]) -> int:
        """Above every readable row, and not where an unreadable one stands: nothing is overwritten unnoticed."""
        sequence = next_sequence(rows)
        while await self.store.aget(threads_namespace(self.user_id), _key(thread_id, sequence)):
            sequence += 1
        return sequence


def _key(thread_id: ThreadId, sequence: int) -> str:
    return f"{thread_id}:{sequence}"


def _thread_of(key: str) -> ThreadId:
    return ThreadId(key.rpartition(":")[0])


def _row(thread_id: ThreadId, done: Pass, *, sequence: int, at: datetime) -> SummaryRow:
    window = done.window
    return SummaryRow(
        thread_id=thread_id,
        sequence=sequence,
        start_message_index=window.start,
        end_message_index=window.end,
        message_count=len(window.turns),
        message_ids=[message_id or "" for message_id in done.human_ids[window.start : window.end + 1]],
        summary=done.entries,
        token_count_before=done.tokens_before,
        token_count_after=done.tokens_after,
        created_at=at,
        excerpt_digest=done.digest_of(window),
    )
