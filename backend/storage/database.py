"""The database of a process: where it is, connections to it, and the one accessor that all entrances share."""

import asyncio
import functools
import threading
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import cast

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool

from backend.errors import AfterthoughtError, SettingsError, StorageUnavailable
from backend.settings import Settings, load_settings
from backend.storage.embedded import EmbeddedPostgres
from backend.storage.migrate import QUERIES, prepare
from backend.storage.pool import SESSION, Connection, Pools
from backend.storage.translation import translated

log = structlog.stdlib.get_logger(__name__)


class Database:
    """The PostgreSQL of the settings: the server at DATABASE_URL, or the embedded one, started when first used."""

    def __init__(self, settings: Settings) -> None:
        """Nothing is started or opened yet."""
        data = settings.embedded_data
        self._embedded = EmbeddedPostgres(data) if data is not None else None
        self._url = settings.database_url
        self._pools = Pools(
            url=self._find_url,
            size=settings.database_pool_size,
            timeout=settings.database_timeout_seconds,
            went_away=self._revive,
        )
        self._users: dict[asyncio.AbstractEventLoop, int] = {}
        self._reviving = threading.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """The database is there and up to date; who leaves the block last in an event loop closes its connections.

        Raises:
            SettingsError: DATABASE_URL or DATA_DIR cannot be used.
            StorageUnavailable: the database does not answer; the message says why.
        """
        await self.prepare()
        loop = asyncio.get_running_loop()
        self._users[loop] = self._users.get(loop, 0) + 1
        try:
            yield
        finally:
            self._users[loop] -= 1
            if not self._users[loop]:
                del self._users[loop]
                await self._pools.close()

    async def prepare(self) -> None:
        """Bring the database up to date. Raises as `running` does."""
        async with await self.connect() as connection:
            with translated():
                await prepare(connection)

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        """A connection for the length of a block: in autocommit mode, rows as dicts, times aware and in UTC.

        A statement may take ten seconds. The block raises the errors of `translated`.

        Raises:
            StorageUnavailable: there is none within DATABASE_TIMEOUT_SECONDS.
        """
        return self._pools.connection()

    async def connect(self) -> Connection:
        """A connection of its own, which the caller closes; its statements raise the driver's errors.

        Raises:
            SettingsError: DATABASE_URL or DATA_DIR cannot be used.
            StorageUnavailable: the database does not answer; the message says why.
        """
        try:
            return await self._pools.connect()
        except psycopg.ProgrammingError:
            raise SettingsError("DATABASE_URL: it is not the address of a PostgreSQL database") from None
        except psycopg.OperationalError as error:
            reason = str(error).strip().partition("\n")[0]
            raise StorageUnavailable(f"The database does not answer: {reason}") from error

    async def pool(self) -> AsyncConnectionPool[AsyncConnection[DictRow]]:
        """The pool of the running event loop, as LangGraph's own classes want to have one."""
        return cast("AsyncConnectionPool[AsyncConnection[DictRow]]", await self._pools.pool())

    def release(self) -> None:
        """Stop using the embedded server, which ends with its last user; without it this does nothing. Blocks.

        The end of the process does it too.
        """
        if self._embedded is not None:
            self._embedded.release()

    async def server_version(self) -> str:
        """PostgreSQL's version, such as "18.1". Raises StorageUnavailable when it does not answer in time."""
        async with self.connection() as connection:
            row = await (await connection.execute(SESSION["server_version"])).fetchone()
            return row["version"] if row else ""

    async def extensions(self) -> dict[str, str]:
        """The extensions that are installed, with their versions."""
        async with self.connection() as connection:
            rows = await (await connection.execute(QUERIES["extensions"])).fetchall()
            return {row["name"]: row["version"] for row in rows}

    async def _find_url(self) -> str:
        return self._url if self._embedded is None else await asyncio.to_thread(self._embedded.start)

    def _revive(self) -> None:
        """Nobody else looks after the embedded server. Who needed it now has failed; the next one finds it again."""
        if self._embedded is not None:
            asyncio.get_running_loop().run_in_executor(None, self._start_again, self._embedded)

    def _start_again(self, embedded: EmbeddedPostgres) -> None:
        if not self._reviving.acquire(blocking=False):
            return
        try:
            embedded.start()
        except AfterthoughtError as error:
            log.warning("embedded_start_failed", reason=error.message)
        finally:
            self._reviving.release()


_MAKING = threading.Lock()


@functools.cache
def _make() -> Database:
    return Database(load_settings())


def process_database() -> Database:
    """The database of this process, from its environment: the one thing in the project that is kept in a module.

    The server enters `open_store` and `open_checkpointer` by their names, without arguments and in each of its
    threads, and the graphs and the HTTP app come in by their own modules. Were each to make its own, every event loop
    would have three pools, and every process would hold the embedded server several times.

    Reads files when it is first called.

    Raises:
        SettingsError: as `load_settings`.
    """
    with _MAKING:
        return _make()
