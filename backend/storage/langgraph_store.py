"""LangGraph's store on our connections: what `runtime.store` is in every node."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from langgraph.store.base import BaseStore
from langgraph.store.postgres.aio import AsyncPostgresStore
from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool

from backend.storage.cursors import open_cursor
from backend.storage.database import Database, process_database
from backend.storage.migrate import stop_queue


class PostgresStore(AsyncPostgresStore):
    """Upstream's store with each call as a statement of its own.

    Upstream puts all calls of an event loop into one queue and runs them in batches, one batch at a time: a slow
    search holds up everybody, and one value that the database refuses fails the calls of all who are in its batch.
    """

    aget = BaseStore.aget
    asearch = BaseStore.asearch
    aput = BaseStore.aput
    adelete = BaseStore.adelete
    alist_namespaces = BaseStore.alist_namespaces

    def __init__(self, database: Database, pool: AsyncConnectionPool[AsyncConnection[DictRow]]) -> None:
        super().__init__(pool, deserializer=_as_the_driver_read_it)
        self._database = database

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncGenerator[AsyncCursor[DictRow]]:
        async with open_cursor(self._database, pipeline=pipeline) as cursor:
            yield cursor


def _as_the_driver_read_it(value: Any) -> Any:
    """Upstream parses a value that is no object a second time, which fails and would make it unreadable for ever."""
    return value


@asynccontextmanager
async def open_store(database: Database | None = None) -> AsyncGenerator[PostgresStore]:
    """The store for the running event loop; `langgraph.json` names this function, and the server calls it bare.

    Raises:
        SettingsError: the database cannot be used.
        StorageUnavailable: it does not answer; later calls raise it too, within a few seconds.
    """
    database = database or await asyncio.to_thread(process_database)
    async with database.running():
        store = PostgresStore(database, await database.pool())
        try:
            yield store
        finally:
            await stop_queue(store)
