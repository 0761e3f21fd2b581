"""Connections, event loops, and the accessor that all entrances share."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from backend.errors import Duplicate, InvalidInput, StorageUnavailable
from backend.storage.database import Database
from tests.support.postgres import make_database

pytestmark = pytest.mark.anyio

REPOSITORY = Path(__file__).parents[3]


async def backend_pid(database: Database) -> int:
    async with database.connection() as connection:
        row = await (await connection.execute("SELECT pg_backend_pid() AS pid")).fetchone()
        assert row is not None
        return row["pid"]


async def setting(database: Database, name: str) -> str:
    async with database.connection() as connection:
        row = await (await connection.execute("SELECT current_setting(%s) AS value", (name,))).fetchone()
        assert row is not None
        return row["value"]


async def backend_pids(database: Database) -> set[int]:
    """Of all connections that the pool of this loop has at first: one from the start, and one for the first use."""
    return {await backend_pid(database) for _ in range(10)}


async def test_connections_are_used_again(database: Database):
    assert len(await backend_pids(database)) <= 2


async def test_event_loops_do_not_share_connections(database_url: str):
    database = make_database(database_url)

    async def use_in_a_loop_of_its_own() -> set[int]:
        async with database.running():
            return await backend_pids(database)

    async with database.running():
        here = await backend_pids(database)
        there = await asyncio.to_thread(asyncio.run, use_in_a_loop_of_its_own())
        assert here.isdisjoint(there)
        assert await backend_pids(database) & here


async def test_the_last_to_leave_closes_the_connections_and_a_later_use_opens_new_ones(database_url: str):
    database = make_database(database_url)
    before = asyncio.all_tasks()
    async with database.running():
        async with database.running():
            first = await backend_pids(database)
        assert await backend_pids(database) & first
    assert asyncio.all_tasks() == before
    async with database.running():
        assert (await backend_pids(database)).isdisjoint(first)


async def test_many_uses_at_once_share_few_connections(database_url: str):
    database = make_database(database_url, pool_size=3)
    async with database.running():
        pids = await asyncio.gather(*(backend_pid(database) for _ in range(50)))
        assert len(set(pids)) <= 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("statement_timeout", "10s"),
        ("idle_in_transaction_session_timeout", "1min"),
        ("TimeZone", "UTC"),
        ("application_name", "afterthought"),
    ],
)
async def test_a_connection_is_set_up(database: Database, name: str, value: str):
    assert await setting(database, name) == value


async def test_a_statement_that_takes_too_long_is_given_up(database: Database):
    async def sleep_in_the_server() -> None:
        async with database.connection() as connection:
            await connection.execute("SET statement_timeout = '100ms'")
            try:
                await connection.execute("SELECT pg_sleep(60)")
            finally:
                await connection.execute("SET statement_timeout = '10s'")

    with pytest.raises(StorageUnavailable):
        await sleep_in_the_server()
    assert await setting(database, "statement_timeout") == "10s"


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("INSERT INTO accounts (user_id) VALUES ('ana'), ('ana')", Duplicate),
        ("SELECT 'x'::int", InvalidInput),
        ("SELECT pg_terminate_backend(pg_backend_pid())", StorageUnavailable),
    ],
)
async def test_errors_are_ours_and_the_next_use_works(database: Database, statement: str, error: type[Exception]):
    async def use() -> None:
        async with database.connection() as connection:
            await connection.execute(statement.encode())

    with pytest.raises(error):
        await use()
    assert await backend_pid(database)


async def test_an_abandoned_transaction_is_rolled_back(database: Database):
    async with database.connection() as connection:
        await connection.execute("BEGIN")
        await connection.execute("INSERT INTO accounts (user_id) VALUES ('ana')")
    async with database.connection() as connection:
        assert await (await connection.execute("SELECT * FROM accounts")).fetchall() == []


USES_THE_ACCESSOR = """
import asyncio
import threading
from backend.storage.database import process_database
from backend.storage.langgraph_checkpointer import open_checkpointer
from backend.storage.langgraph_store import open_store

async def main():
    async with open_store() as store, open_checkpointer() as saver:
        await store.aput(("ana", "memory"), "main", {"city": "Oslo"})
        found = await store.aget(("ana", "memory"), "main")
        assert await saver.aget_tuple({"configurable": {"thread_id": "none"}}) is None
        print(found.value["city"], store.conn is saver.conn, len({id(found) for found in databases}))

databases = []
threads = [threading.Thread(target=lambda: databases.append(process_database())) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
asyncio.run(main())
"""


async def test_all_entrances_of_a_process_share_one_database_and_one_pool(database_url: str):
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-W", "error", "-c", USES_THE_ACCESSOR],
        cwd=REPOSITORY,
        env={**os.environ, "DATABASE_URL": database_url},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("Oslo True 1\n", "")
