"""The memory of all users in this process: opens that of one, and keeps what was cached of them true."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Protocol
from uuid import uuid4

from langgraph.store.base import BaseStore

from backend.errors import StorageUnavailable
from backend.ids import UserId
from backend.memory.changes import Changes
from backend.memory.episodes import EpisodeRows, Episodes
from backend.memory.exclusive import ExclusiveWrites
from backend.memory.facts.limits import FactLimits
from backend.memory.facts.service import FactCache, FactRows, Facts
from backend.memory.profile.service import Overlays, Profile, ProfileCache
from backend.memory.recall_cache import RecallCache
from backend.memory.scope import scope_label, user_of
from backend.memory.search import Search
from backend.memory.summaries.service import Ledger, Summaries, SummaryCache
from backend.memory.user_memory import UserMemory
from backend.storage.database import Database
from backend.storage.langgraph_store import open_store
from backend.storage.notifications import Listener, notify


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is kept of one user."""

    profile_max_bytes: int
    facts: FactLimits


class Rows(FactRows, EpisodeRows, Protocol):
    """What facts and episodes are kept in."""


class RecallCaches:
    """What this process has cached, of all users."""

    def __init__(self, *others: Callable[[UserId | None], None]) -> None:
        """`others` drop what is cached of users elsewhere."""
        self.profiles = ProfileCache()
        self.summaries = SummaryCache()
        self.facts = FactCache()
        self._tokens = RecallCache[str, str]()
        self._others = others

    async def token(self, user_id: UserId) -> str:
        """Another text whenever something of the user has been dropped, and at least once a minute."""

        async def new() -> str:
            return uuid4().hex

        return await self._tokens.get(user_id, "token", new)

    def drop(self, user_id: UserId | None) -> None:
        """Forget what is cached of a user; of everybody when it is not known who has changed."""
        self.profiles.drop(user_id)
        self.summaries.drop(user_id)
        self.facts.drop(user_id)
        self._tokens.drop(user_id)
        for drop in self._others:
            drop(user_id)


class Memories:
    """Runs bring the server's store; outside of runs there is a store of our own, over the same tables."""

    def __init__(
        self,
        *,
        caches: RecallCaches,
        overlays: Overlays,
        ledger: Ledger,
        rows: Rows,
        writes: ExclusiveWrites,
        limits: Limits,
        search_of: Callable[[UserId], Search],
        clock: Callable[[], datetime],
    ) -> None:
        self.changes = Changes()
        """Whoever watches a user's memory in this process hears here of changes made in any."""
        self._caches = caches
        self._overlays = overlays
        self._ledger = ledger
        self._rows = rows
        self._writes = writes
        self._limits = limits
        self._search_of = search_of
        self._clock = clock
        self._own_store: BaseStore | None = None

    def in_run(self, user_id: UserId | None, store: BaseStore | None) -> UserMemory | None:
        """The memory of a run's user; None when nobody speaks, or the server has no store."""
        if user_id is None or store is None:
            return None
        return UserMemory(
            user_id=user_id,
            profile=Profile(
                user_id=user_id,
                store=store,
                overlays=self._overlays,
                writes=self._writes,
                cache=self._caches.profiles,
                max_bytes=self._limits.profile_max_bytes,
            ),
            summaries=Summaries(
                user_id=user_id,
                store=store,
                ledger=self._ledger,
                writes=self._writes,
                cache=self._caches.summaries,
            ),
            facts=Facts(
                user_id=user_id,
                rows=self._rows,
                writes=self._writes,
                cache=self._caches.facts,
                limits=self._limits.facts,
                clock=self._clock,
            ),
            episodes=Episodes(user_id=user_id, rows=self._rows, writes=self._writes, clock=self._clock),
            search=self._search_of(user_id),
            token=partial(self._caches.token, user_id),
        )

    def of(self, user_id: UserId) -> UserMemory:
        """The memory of a user outside of runs.

        Raises:
            StorageUnavailable: this process does not serve yet, or does not any more.
        """
        memory = self.in_run(user_id, self._own_store)
        if memory is None:
            raise StorageUnavailable
        return memory

    @asynccontextmanager
    async def running(self, database: Database) -> AsyncGenerator[None]:
        """While the block runs there is a store of our own, and processes hear of each other's changes."""
        listener = Listener(database, self._heard_change, on_episode=self._heard_episode)
        async with open_store(database) as store:
            self._own_store = store
            listener.start()
            try:
                yield
            finally:
                await listener.stop()
                self._own_store = None

    def _heard_change(self, scope: str | None) -> None:
        user_id = _user_heard_of(scope)
        self._caches.drop(user_id)
        self.changes.tell(user_id)

    def _heard_episode(self, scope: str | None) -> None:
        self.changes.tell(_user_heard_of(scope))


def _user_heard_of(scope: str | None) -> UserId | None:
    """None where it may be any."""
    try:
        return user_of(scope) if scope else None
    except ValueError:
        return None


async def announce_change(database: Database, user_id: UserId) -> None:
    """Let every process drop what it has cached of a user."""
    async with database.connection() as connection:
        await notify(connection, scope_label(user_id))
