"""Retention: once a day one process of all deletes the episodes that are too old or too many; facts never."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

import structlog

from backend.memory.episodes import RECORDED_WITHIN
from backend.observability.best_effort import best_effort
from backend.storage.retention_rows import KeptOfScope, OldestKept

log = structlog.stdlib.get_logger(__name__)

NAME: Final = "retention"
FIRST_AFTER_SECONDS: Final = 60.0
"""A server that has just started has other things to do."""
EVERY_SECONDS: Final = 3600.0
STEP_ROWS: Final = 2_000
STEP_SCOPES: Final = 100
ERASURE_NOTES_FOR: Final = 2 * RECORDED_WITHIN
"""No turn is kept that comes so late; clocks may differ by the rest."""


class RetentionRows(Protocol):
    """What retention needs of storage."""

    async def claim(self, name: str, *, at: datetime, since: datetime) -> bool: ...
    async def scopes(self, *, keep: int, after: str, limit: int) -> Sequence[KeptOfScope]: ...
    async def oldest_kept(self, *, keep: int) -> OldestKept | None: ...
    async def prune(self, oldest: OldestKept, *, scope: str | None = None, limit: int) -> int: ...
    async def drop_erasures(self, before: datetime, *, limit: int) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionLimits:
    """How long, and how many of the newest, episodes are kept."""

    days: int
    per_user: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Every process has one; whoever comes first on a day (in UTC) does the work of that day."""

    rows: RetentionRows
    limits: RetentionLimits
    clock: Callable[[], datetime]
    drop_vectors: Callable[[], Awaitable[int]] | None = None
    """Deletes the vectors of embedding models that are not configured any more; how many."""
    first_after_seconds: float = FIRST_AFTER_SECONDS
    every_seconds: float = EVERY_SECONDS
    step_rows: int = STEP_ROWS
    step_scopes: int = STEP_SCOPES

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """While the block runs it is tried every hour; at the end what is under way stops, and is done the next day."""
        task = asyncio.get_running_loop().create_task(self._try_again_and_again(), name=NAME)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def run_if_due(self) -> Mapping[str, int] | None:
        """Do the work of the day unless it was taken on already; how much was deleted, by reason, or None.

        Running it twice, or beside itself, deletes nothing more.

        Raises:
            StorageUnavailable: some of it may be done; the rest is the next day's.
        """
        now, started = self.clock(), time.monotonic()
        if not await self.rows.claim(NAME, at=now, since=day_of(now)):
            return None
        # The limit of all together comes last: it is not for others to make room for one who has too many.
        deleted = {
            "too_old": await self._too_old(now),
            "beyond_newest_of_user": await self._beyond_newest_of_users(),
            "beyond_newest_of_all": await self._beyond_newest_of_all(),
            "erasure_notes": await self._erasure_notes(now),
            "vectors": await self.drop_vectors() if self.drop_vectors else 0,
        }
        log.info("retention", **deleted, seconds=round(time.monotonic() - started, 3))
        return deleted

    async def _try_again_and_again(self) -> None:
        pause = self.first_after_seconds
        while True:
            await asyncio.sleep(pause)
            pause = self.every_seconds
            async with best_effort(NAME):
                await self.run_if_due()

    async def _too_old(self, now: datetime) -> int:
        return await self._prune(OldestKept(now - timedelta(days=self.limits.days)))

    async def _beyond_newest_of_users(self) -> int:
        deleted, after = 0, ""
        while True:
            page = await self.rows.scopes(keep=self.limits.per_user, after=after, limit=self.step_scopes)
            deleted += sum([await self._prune(kept.oldest, scope=kept.scope) for kept in page])
            if len(page) < self.step_scopes:
                return deleted
            after = page[-1].scope

    async def _beyond_newest_of_all(self) -> int:
        return await self._prune(await self.rows.oldest_kept(keep=self.limits.total))

    async def _erasure_notes(self, now: datetime) -> int:
        return await self._in_steps(lambda: self.rows.drop_erasures(now - ERASURE_NOTES_FOR, limit=self.step_rows))

    async def _prune(self, oldest: OldestKept | None, *, scope: str | None = None) -> int:
        if oldest is None:
            return 0
        return await self._in_steps(lambda: self.rows.prune(oldest, scope=scope, limit=self.step_rows))

    async def _in_steps(self, step: Callable[[], Awaitable[int]]) -> int:
        """So many rows a statement, until one finds fewer: nothing is locked for long."""
        deleted = 0
        while True:
            count = await step()
            deleted += count
            if count < self.step_rows:
                return deleted


def day_of(moment: datetime) -> datetime:
    """When the day of a moment began, in UTC: days are the same for all processes, wherever they are."""
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
