"""Memory without a database: doubles that behave as the real ones do, held to it by `tests/contract/memory`."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import uuid4

from backend.errors import CallerError, Duplicate, StaleVersion, StorageUnavailable
from backend.ids import Json, MemoryId, ThreadId, UserId
from backend.storage.memory_rows import Change, Kind, MemoryRow, NewMemory, Place
from backend.storage.recall_rows import RecallQuery, ScoredRow

WAIT_SECONDS = 3.0


@dataclass
class _Thread:
    claim: str | None = None
    claimed_until: float = 0.0
    fenced: Sequence[str] = ()

    def take_claim_away(self) -> None:
        self.claim = None


class LedgerInMemory:
    """As `backend.storage.summary_ledger.SummaryLedger`."""

    def __init__(self) -> None:
        self._threads: dict[tuple[str, ThreadId], _Thread] = {}

    async def claim(self, scope: str, thread_id: ThreadId, *, seconds: float) -> str | None:
        known = self._threads.setdefault((scope, thread_id), _Thread())
        if known.claim is not None and known.claimed_until >= time.monotonic():
            return None
        known.claim, known.claimed_until = str(uuid4()), time.monotonic() + seconds
        return known.claim

    async def renew(self, scope: str, thread_id: ThreadId, claim: str, *, seconds: float) -> None:
        if await self.holds(scope, thread_id, claim):
            self._threads[scope, thread_id].claimed_until = time.monotonic() + seconds

    async def holds(self, scope: str, thread_id: ThreadId, claim: str) -> bool:
        known = self._threads.get((scope, thread_id))
        return known is not None and known.claim == claim

    async def release(self, scope: str, thread_id: ThreadId, claim: str) -> None:
        if await self.holds(scope, thread_id, claim):
            self._threads[scope, thread_id].take_claim_away()

    async def void(self, scope: str, thread_id: ThreadId) -> None:
        if known := self._threads.get((scope, thread_id)):
            known.take_claim_away()

    async def fence(self, scope: str, thread_id: ThreadId, message_ids: Sequence[str]) -> None:
        known = self._threads.setdefault((scope, thread_id), _Thread())
        known.fenced = list(message_ids)
        known.take_claim_away()

    async def fenced(self, scope: str, thread_id: ThreadId) -> Sequence[str]:
        known = self._threads.get((scope, thread_id))
        return list(known.fenced) if known else ()

    async def forget(self, scope: str, thread_id: ThreadId) -> None:
        self._threads.pop((scope, thread_id), None)

    async def threads_of(self, scope: str) -> Sequence[ThreadId]:
        return sorted(thread_id for owner, thread_id in self._threads if owner == scope)

    async def scopes_of(self, thread_id: ThreadId) -> Sequence[str]:
        return sorted(scope for scope, known in self._threads if known == thread_id)


class WritesInMemory:
    """As `backend.memory.exclusive.PostgresWrites`, for all that share this object."""

    def __init__(self, *drops: Callable[[UserId], None]) -> None:
        """`drops` forget what is cached of a user; one for each process that is played."""
        self.drops = list(drops)
        self._locks: dict[tuple[UserId, ThreadId | None], asyncio.Lock] = {}

    @asynccontextmanager
    async def of(self, user_id: UserId, thread_id: ThreadId | None = None) -> AsyncGenerator[None]:
        lock = self._locks.setdefault((user_id, thread_id), asyncio.Lock())
        try:
            await asyncio.wait_for(lock.acquire(), WAIT_SECONDS)
        except TimeoutError:
            raise StorageUnavailable from None
        try:
            yield
        finally:
            for drop in self.drops:
                drop(user_id)
            lock.release()


@dataclass
class AccountsInMemory:
    """As `backend.storage.account_rows.AccountRows`."""

    rows: dict[UserId, dict[str, Json]] = field(default_factory=dict[UserId, dict[str, Json]])

    async def overlay(self, user_id: UserId) -> Mapping[str, Json]:
        return dict(self.rows.get(user_id, {}))

    async def keep(
        self, user_id: UserId, *, name: str | None, email: str | None, avatar: str | None, socials: Sequence[str]
    ) -> bool:
        row: dict[str, Json] = {"name": name, "email": email, "avatar": avatar, "socials": list(socials)}
        news = self.rows.get(user_id) != row
        self.rows[user_id] = row
        return news

    async def forget(self, user_id: UserId) -> None:
        self.rows.pop(user_id, None)


@dataclass
class RowsInMemory:
    """As `backend.storage.memory_rows.MemoryRows`."""

    rows: list[MemoryRow] = field(default_factory=list[MemoryRow])
    hashes: dict[MemoryId, bytes] = field(default_factory=dict[MemoryId, bytes])
    erased: dict[tuple[str, str], datetime] = field(default_factory=dict[tuple[str, str], datetime])
    forgotten: dict[tuple[str, bytes], datetime] = field(default_factory=dict[tuple[str, bytes], datetime])

    async def facts(self, scope: str) -> Sequence[MemoryRow]:
        return sorted(self._of(scope, "fact"), key=lambda row: (row.updated_at, row.id), reverse=True)

    async def episodes(self, scope: str, *, limit: int, after: Place | None = None) -> Sequence[MemoryRow]:
        rows = sorted(self._of(scope, "episode"), key=_age, reverse=True)
        return [row for row in rows if after is None or _age(row) < (after.created_at, after.id)][:limit]

    async def save(
        self, scope: str, *, added: Sequence[NewMemory] = (), changed: Sequence[Change] = (), at: datetime
    ) -> Sequence[MemoryRow]:
        before = list(self.rows), dict(self.hashes)
        try:
            rows = [self._change(scope, change, at) for change in changed]
            return rows + [self._add(scope, memory, at) for memory in added]
        except CallerError:
            self.rows, self.hashes = before
            raise

    async def record(self, scope: str, memory: NewMemory, *, at: datetime) -> bool:
        erased = [self.erased.get((scope, thread)) for thread in ("", memory.thread_id or "")]
        if any(time is not None and time >= at for time in erased) or (scope, memory.content_hash) in self.forgotten:
            return False
        try:
            self._add(scope, memory, at)
        except Duplicate:
            return False
        return True

    async def remove(self, scope: str, kind: Kind, memory_id: MemoryId, *, version: int | None = None) -> bool:
        gone = [row for row in self._of(scope, kind) if row.id == memory_id and version in (None, row.version)]
        self._drop(gone)
        return bool(gone)

    async def forget(self, scope: str, memory_id: MemoryId, *, at: datetime) -> bool:
        gone = [row for row in self._of(scope, "episode") if row.id == memory_id]
        for row in gone:
            tombstone = scope, self.hashes[row.id]
            self.forgotten[tombstone] = max(at, row.created_at, self.forgotten.get(tombstone, at))
        self._drop(gone)
        return bool(gone)

    async def erase(self, scope: str, kind: Kind, *, at: datetime) -> int:
        if kind == "episode":
            covered = [key for key, time in self.erased.items() if key[0] == scope and key[1] and time <= at]
            for key in covered:
                del self.erased[key]
            for key in [key for key, time in self.forgotten.items() if key[0] == scope and time <= at]:
                del self.forgotten[key]
            self._note(scope, "", at)
        return self._drop(self._of(scope, kind))

    async def erase_thread(self, scope: str, kind: Kind, thread_id: ThreadId, *, at: datetime) -> int:
        if kind == "episode":
            self._note(scope, thread_id, at)
        return self._drop([row for row in self._of(scope, kind) if row.thread_id == thread_id])

    async def touch(self, scope: str, memory_ids: Sequence[MemoryId], *, at: datetime) -> None:
        for row in self.rows:
            unused = row.accessed_at is None or row.accessed_at < at
            if row.scope == scope and row.id in memory_ids and unused:
                self._put(replace(row, accessed_at=at, access_count=row.access_count + 1))

    async def known(self, scope: str, memory_ids: Sequence[MemoryId]) -> frozenset[MemoryId]:
        return frozenset(row.id for row in self.rows if row.scope == scope and row.id in memory_ids)

    async def count(self, scope: str, kind: Kind) -> int:
        return len(self._of(scope, kind))

    def _of(self, scope: str, kind: Kind) -> list[MemoryRow]:
        return [row for row in self.rows if (row.scope, row.kind) == (scope, kind)]

    def _note(self, scope: str, thread_id: str, at: datetime) -> None:
        self.erased[scope, thread_id] = max(at, self.erased.get((scope, thread_id), at))

    def _add(self, scope: str, memory: NewMemory, at: datetime) -> MemoryRow:
        self._require_once(scope, memory)
        values = _values(memory)
        row = MemoryRow(
            id=MemoryId(str(uuid4())), scope=scope, version=1, status="active", created_at=at, updated_at=at,
            accessed_at=None, access_count=0, **values,
        )  # fmt: skip
        self.rows.append(row)
        self.hashes[row.id] = memory.content_hash
        return row

    def _change(self, scope: str, change: Change, at: datetime) -> MemoryRow:
        known = [row for row in self._of(scope, "fact") if (row.id, row.version) == (change.id, change.version)]
        if not known:
            raise StaleVersion
        self._require_once(scope, change.to, but=change.id)
        row = replace(known[0], version=known[0].version + 1, updated_at=at, **_values(change.to))
        self._put(row)
        self.hashes[row.id] = change.to.content_hash
        return row

    def _require_once(self, scope: str, memory: NewMemory, *, but: MemoryId | None = None) -> None:
        if any(row.id != but and self._collides(row, memory) for row in self._of(scope, memory.kind)):
            raise Duplicate

    def _collides(self, row: MemoryRow, memory: NewMemory) -> bool:
        if memory.kind == "fact" and memory.key is not None:
            return row.key == memory.key
        return row.key is None and self.hashes[row.id] == memory.content_hash

    def _put(self, row: MemoryRow) -> None:
        self.rows[[known.id for known in self.rows].index(row.id)] = row

    def _drop(self, gone: Sequence[MemoryRow]) -> int:
        self.rows = [row for row in self.rows if row not in gone]
        return len(gone)


NEW_FIELDS = ("kind", "key", "categories", "content", "importance", "said_by", "thread_id", "turn", "message_ids")


def _values(memory: NewMemory) -> dict[str, Any]:
    values = {name: getattr(memory, name) for name in NEW_FIELDS}
    return {**values, "categories": tuple(memory.categories), "message_ids": tuple(memory.message_ids)}


def _age(row: MemoryRow) -> tuple[datetime, str]:
    return row.created_at, row.id


@dataclass
class SearchInMemory:
    """Finds rows by the words that they share with a text, without those that most rows have."""

    rows: RowsInMemory
    ask: Callable[[], None]

    async def search(self, scope: str, query: RecallQuery) -> Sequence[ScoredRow]:
        self.ask()
        words = {row.id: _words(row.content) for row in self.rows.rows if row.scope == scope}
        common = {word for word, count in Counter(chain(*words.values())).items() if count > max(2, len(words) / 2)}
        wanted = _words(query.text) - common
        scored = [
            ScoredRow(row=row, score=shared, parts={"words": shared})
            for row in self.rows.rows
            if row.scope == scope
            and row.kind in query.kinds
            and row.id not in query.besides
            and not _is_sent(row, query)
            and (shared := float(len(wanted & words[row.id])))
        ]
        return sorted(scored, key=lambda one: (one.score, _age(one.row)), reverse=True)[: query.limit]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _is_sent(row: MemoryRow, query: RecallQuery) -> bool:
    return row.kind == "episode" and row.thread_id == query.sent_thread and (row.turn or 0) >= query.sent_from_turn
