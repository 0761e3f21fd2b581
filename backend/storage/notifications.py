"""Telling every process that the memory of a scope has changed, so that it drops what it has cached."""

import asyncio
from collections.abc import Callable
from typing import Final

import psycopg
import structlog

from backend.errors import AfterthoughtError
from backend.storage.database import Database
from backend.storage.pool import SESSION, Connection

log = structlog.stdlib.get_logger(__name__)

MAX_PAYLOAD_BYTES: Final = 7_999
HEARTBEAT_SECONDS: Final = 15.0
FIRST_PAUSE_SECONDS: Final = 0.2
LONGEST_PAUSE_SECONDS: Final = 10.0


async def notify(connection: Connection, scope: str) -> None:
    """Tell all listeners, when the transaction of the connection commits (at once without one)."""
    # PostgreSQL refuses longer payloads; an empty one says that anything may have changed.
    payload = scope if len(scope.encode()) <= MAX_PAYLOAD_BYTES else ""
    await connection.execute(SESSION["notify"], {"payload": payload})


class Listener:
    """Calls `on_change` with each scope that changed, and with None when anything may have changed unheard.

    It has one task and one connection of its own. After the connection was lost it calls `on_change(None)` as soon as
    it listens again, which it tries with growing pauses.
    """

    def __init__(self, database: Database, on_change: Callable[[str | None], None]) -> None:
        """Nothing is started yet. `on_change` runs in the event loop of `start`, must not block and must not raise."""
        self._database = database
        self._on_change = on_change
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
                self._on_change(notification.payload or None)
            await connection.execute("")  # raises when the server went away without a word
