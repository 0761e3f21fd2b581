"""Connections: one pool for each event loop, none of which outlasts a database that went away."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.abc import PQGen
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from backend.storage.queries import load_queries
from backend.storage.translation import translated

STATEMENT_SECONDS: Final = 10
IDLE_TRANSACTION_SECONDS: Final = 60
LIFETIME_SECONDS: Final = 30 * 60
IDLE_SECONDS: Final = 5 * 60

SESSION: Final = load_queries("session")

T = TypeVar("T")


class Connection(AsyncConnection[DictRow]):
    """A connection in autocommit mode whose rows are dicts, and which waits for no answer longer than `patience`.

    The server limits a statement by itself. A frozen server does not, and neither does TCP while the other machine's
    kernel still acknowledges, so the wait for each answer is bounded here too.
    """

    patience: float | None = STATEMENT_SECONDS + 2.0

    async def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:  # noqa: ASYNC109
        if timeout is not None:
            return await super().wait(gen, interval, timeout)
        try:
            return await super().wait(gen, interval, self.patience)
        except psycopg.errors._WaitTimeout:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            self.pgconn.finish()
            raise

    async def answers(self, *, within: float) -> bool:
        """Whether the server answers an empty statement in so many seconds."""
        self.patience = within
        try:
            # never kept as prepared, so it would be prepared anew each time
            await self.execute("", prepare=False)
        except psycopg.Error:
            return False
        else:
            return True
        finally:
            self.patience = type(self).patience


Pool = AsyncConnectionPool[Connection]


class Pools:
    """One pool for each event loop that uses the database, opened when it is first used there.

    Connections belong to the loop that opened them, and a server may run graphs in several loops.
    """

    def __init__(
        self, *, url: Callable[[], Awaitable[str]], size: int, timeout: float, went_away: Callable[[], None]
    ) -> None:
        """Nothing is opened yet.

        Args:
            url: gives the DSN; asked whenever a pool or a connection is opened.
            size: connections at most, for each loop.
            timeout: seconds that are waited for a connection that works.
            went_away: called when there was none in that time.
        """
        self._url = url
        self._size = size
        self._timeout = timeout
        self._went_away = went_away
        self._pools: dict[asyncio.AbstractEventLoop, Pool] = {}

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """A connection that works, for the length of the block, which raises the errors of `translated`.

        Raises:
            StorageUnavailable: there is none within the timeout.
        """
        pool = await self.pool()
        with translated():
            connection = await self._take(pool)
            try:
                yield connection
            finally:
                await pool.putconn(connection)

    async def pool(self) -> Pool:
        """The pool of the running loop, open. Raises what `url` raises."""
        loop = asyncio.get_running_loop()
        if loop not in self._pools:
            url = await self._url()
            for other in list(self._pools):
                if other.is_closed():
                    self._pools.pop(other, None)
            self._pools.setdefault(loop, self._make_pool(url))
        pool = self._pools[loop]
        await pool.open()
        return pool

    async def connect(self) -> Connection:
        """A connection of its own, outside of any pool, for what keeps one; the caller closes it.

        Raises:
            psycopg.Error: as the driver raises it; callers are inside storage.
        """
        return await Connection.connect(await self._url(), **self._connect_arguments())

    async def close(self) -> None:
        """Close the pool of the running loop; the next use opens a new one."""
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.close()

    async def _take(self, pool: Pool) -> Connection:
        """A connection that answers.

        One that does not tells that the server was restarted, so all idle ones are dead: they are replaced at once.
        (The pool's own `check` tries one after the other with growing pauses, and fails in the end with the server up.)
        """
        end = time.monotonic() + self._timeout
        try:
            connection = await pool.getconn(self._timeout)
            if await self._answers(pool, connection):
                return connection
            await pool.drain()
            return await pool.getconn(max(end - time.monotonic(), self._timeout / 3))
        except PoolTimeout:
            self._went_away()
            raise

    async def _answers(self, pool: Pool, connection: Connection) -> bool:
        """Whether it does; if not, or when the asking is cancelled, the pool has it back."""
        answered = False
        try:
            answered = await connection.answers(within=self._timeout / 2)
        finally:
            if not answered:
                await pool.putconn(connection)
        return answered

    def _make_pool(self, url: str) -> Pool:
        # A short reconnect_timeout: the pool's attempts double their pauses up to it, so with the default of five
        # minutes a database that came back would be found minutes later. After giving up, the next use tries anew.
        return AsyncConnectionPool(
            url,
            connection_class=Connection,
            kwargs=self._connect_arguments(),
            configure=_configure,
            min_size=1,
            max_size=self._size,
            open=False,
            name="afterthought",
            timeout=self._timeout,
            reconnect_timeout=self._timeout,
            max_lifetime=LIFETIME_SECONDS,
            max_idle=IDLE_SECONDS,
        )

    def _connect_arguments(self) -> dict[str, Any]:
        return {
            "autocommit": True,
            "row_factory": dict_row,
            "prepare_threshold": 0,
            "connect_timeout": math.ceil(self._timeout),
            "application_name": "afterthought",
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": STATEMENT_SECONDS * 1000,
        }


async def _configure(connection: Connection) -> None:
    await connection.execute(
        SESSION["configure"],
        {
            "statement_timeout": f"{STATEMENT_SECONDS}s",
            "idle_in_transaction_timeout": f"{IDLE_TRANSACTION_SECONDS}s",
        },
    )
