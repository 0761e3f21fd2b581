"""Memory without a database: doubles that behave as the real ones do, held to it by `tests/contract/memory`."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from backend.errors import StorageUnavailable
from backend.ids import Json, ThreadId, UserId

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
