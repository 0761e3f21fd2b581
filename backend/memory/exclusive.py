"""Writing one user's memory: one writer at a time in all processes, and everybody hears that it has changed."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Final, Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary

from backend.errors import StorageUnavailable
from backend.ids import ThreadId, UserId
from backend.memory.scope import scope_label
from backend.storage.database import Database
from backend.storage.locks import scope_lock
from backend.storage.notifications import notify

WAIT_SECONDS: Final = 10
"""For the writers of this process that come first; PostgreSQL's lock has a limit of its own."""


class ExclusiveWrites(Protocol):
    """What memory asks of storage for reading, changing and writing back."""

    def of(self, user_id: UserId, thread_id: ThreadId | None = None) -> AbstractAsyncContextManager[None]:
        """The block has no other writer of this user, or of this thread of the user, beside it.

        When it ends, what was cached of the user is dropped: in this process before the caller goes on, in others
        soon after. Never call a model in the block.

        Raises:
            StorageUnavailable: the lock or the database cannot be had within a few seconds.
        """
        ...


Key = tuple[UserId, ThreadId | None]


class PostgresWrites:
    """Locks in PostgreSQL. What waits in this process waits without a connection in its hand.

    A writer needs one connection for the lock and another for its work. Writers that wait for a lock would take the
    connections which its holder needs to finish, so only one writer a key and half a pool of writers get to PostgreSQL.
    """

    def __init__(self, *, database: Database, writers: int, drop: Callable[[UserId], None]) -> None:
        """`writers` at most at once in an event loop; `drop` forgets what is cached of a user."""
        self._database = database
        self._writers: Final = writers
        self._drop = drop
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, _Queue] = WeakKeyDictionary()

    @asynccontextmanager
    async def of(self, user_id: UserId, thread_id: ThreadId | None = None) -> AsyncGenerator[None]:
        queue = self._queues.setdefault(asyncio.get_running_loop(), _Queue(self._writers))
        label = scope_label(user_id)
        async with queue.turn((user_id, thread_id)):
            try:
                async with scope_lock(self._database, label, thread_id=thread_id) as connection:
                    yield
                    await notify(connection, label)
            finally:
                self._drop(user_id)


class _Queue:
    """The writers of one event loop."""

    def __init__(self, writers: int) -> None:
        self._places = asyncio.Semaphore(writers)
        self._locks: WeakValueDictionary[Key, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, key: Key) -> AsyncGenerator[None]:
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(WAIT_SECONDS):
                    await held.enter_async_context(lock)
                    await held.enter_async_context(self._places)
            except TimeoutError:
                raise StorageUnavailable("other changes are still being written; try again in a moment") from None
            yield
