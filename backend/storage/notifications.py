"""Telling every process that the memory of a scope has changed, so that it drops what it has cached and tells pages."""

import asyncio
from collections.abc import Callable
from typing import Final

import psycopg
import structlog

from backend.errors import AfterthoughtError
from backend.storage.database import Database
from backend.storage.pool import SESSION, Connection

log = structlog.stdlib.get_logger(__name__)

EPISODES: Final = "episode_recorded"
"""The channel of `notify_episode`, as PostgreSQL names it."""
MAX_PAYLOAD_BYTES: Final = 7_999
HEARTBEAT_SECONDS: Final = 15.0
FIRST_PAUSE_SECONDS: Final = 0.2
LONGEST_PAUSE_SECONDS: Final = 10.0

OnScope = Callable[[str | None], None]


async def notify(connection: Connection, scope: str) -> None:
    """Tell all listeners, when the transaction of the connection commits (at once without one)."""
    await connection.execute(SESSION["notify"], {"payload": _payload(scope)})


async def notify_episode(connection: Connection, scope: str) -> None:
    """As `notify`, of an episode that was recorded: nothing that was read before is wrong, so caches stay warm."""
    await connection.execute(SESSION["notify_episode"], {"payload": _payload(scope)})


def _payload(scope: str) -> str:
    """PostgreSQL refuses longer ones; an empty one says that it may be any scope."""
    return scope if len(scope.encode()) <= MAX_PAYLOAD_BYTES else ""


class Listener:
    """Calls `on_change` with each scope that changed, and with None when anything may have changed unheard.

    Episodes that were recorded go to `on_episode` instead, with their scope, or None when it may be any.

    It has one task and one connection of its own. After the connection was lost it calls `on_change(None)` as soon as
    it listens again, which it tries with growing pauses.
    """

    def __init__(self, database: Database, on_change: OnScope, *, on_episode: OnScope | None = None) -> None:
        """Nothing is started yet. Both are called in the event loop of `start`, must not block and must not raise."""
        self._database = database
        self._on_change = on_change
        self._on_episode = on_episode
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Listen in the running event loop, unless it is done already in one that still runs."""
        if self._task is None or self._task.done() or self._task.get_loop().is_closed():
            self._task = asyncio.get_running_loop().create_task(self._listen(), name="memory-listener")

    async def stop(self) -> None:
        """Stop listening, and wait until it has ended. Call it in the event loop of `start`."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _listen(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                async with await self._database.connect() as connection:
                    await connection.execute(SESSION["listen_for_episodes"])
                    await connection.execute(SESSION["listen"])
                    self._on_change(None)
                    pause = FIRST_PAUSE_SECONDS
                    await self._pass_on(connection)
            except (psycopg.Error, AfterthoughtError) as error:
                log.warning("listener_lost", reason=type(error).__name__, retry_in_seconds=pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def _pass_on(self, connection: Connection) -> None:
        while True:
            async for notification in connection.notifies(timeout=HEARTBEAT_SECONDS):
                self._hear(notification)
            await connection.execute("")  # raises when the server went away without a word

    def _hear(self, notification: psycopg.Notify) -> None:
        hear = self._on_episode if notification.channel == EPISODES else self._on_change
        if hear is not None:
            hear(notification.payload or None)
