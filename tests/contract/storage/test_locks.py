"""Locks that hold across processes; two database objects stand for two processes."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from backend.errors import StorageUnavailable
from backend.storage.database import Database
from backend.storage.locks import scope_lock
from tests.support.postgres import make_database

pytestmark = pytest.mark.anyio


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[Database]:
    """The same database as another process sees it."""
    other = make_database(database_url)
    async with other.running():
        yield other


async def test_what_is_read_and_written_under_the_lock_is_never_lost(database: Database, other: Database):
    async with database.connection() as connection:
        await connection.execute("CREATE TABLE counter AS SELECT 0 AS count")

    async def count_up(through: Database) -> None:
        async with scope_lock(through, "ana") as connection:
            row = await (await connection.execute("SELECT count FROM counter")).fetchone()
            assert row is not None
            await connection.execute("UPDATE counter SET count = %s", (row["count"] + 1,))

    await asyncio.gather(*(count_up(through) for through in (database, other) for _ in range(10)))
    async with database.connection() as connection:
        row = await (await connection.execute("SELECT count FROM counter")).fetchone()
        assert row == {"count": 20}


async def test_different_scopes_and_threads_do_not_wait_for_each_other(database: Database, other: Database):
    async with (
        asyncio.timeout(2),
        scope_lock(database, "ana"),
        scope_lock(other, "ben"),
        scope_lock(other, "ana", thread_id="t1"),
        scope_lock(database, "ana", thread_id="t2"),
    ):
        pass


async def test_a_lock_that_is_held_too_long_is_an_error(database: Database, other: Database):
    async with scope_lock(database, "ana", thread_id="t1"):
        with pytest.raises(StorageUnavailable):
            async with asyncio.timeout(8), scope_lock(other, "ana", thread_id="t1"):
                pass


async def test_an_error_in_the_block_undoes_its_writes_and_lets_go(database: Database, other: Database):
    async def fail() -> None:
        async with scope_lock(database, "ana") as connection:
            await connection.execute("INSERT INTO accounts (user_id) VALUES ('ana')")
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        await fail()
    async with asyncio.timeout(2), scope_lock(other, "ana") as connection:
        assert await (await connection.execute("SELECT * FROM accounts")).fetchall() == []


async def test_a_cancelled_block_lets_go(database: Database, other: Database):
    inside = asyncio.Event()

    async def hold() -> None:
        async with scope_lock(database, "ana"):
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hold())
    await inside.wait()
    task.cancel()
    await asyncio.wait([task])
    async with asyncio.timeout(2), scope_lock(other, "ana"):
        pass
