"""Cursors for LangGraph's own store and saver, over our connections."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from psycopg import AsyncCursor
from psycopg.rows import DictRow, dict_row

from backend.storage.database import Database


@asynccontextmanager
async def open_cursor(database: Database, *, pipeline: bool) -> AsyncGenerator[AsyncCursor[DictRow]]:
    """A cursor with binary results on a connection of its own; in a pipeline, the block is one transaction.

    Raises:
        StorageUnavailable: the database does not answer.
    """
    async with AsyncExitStack() as stack:
        connection = await stack.enter_async_context(database.connection())
        if pipeline:
            await stack.enter_async_context(connection.pipeline())
        yield await stack.enter_async_context(connection.cursor(binary=True, row_factory=dict_row))
