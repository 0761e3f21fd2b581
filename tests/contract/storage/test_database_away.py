"""A database that stops, is killed, freezes, or ends connections: clear errors in a few seconds, then all is well."""

import asyncio
import time
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager

import pytest
from langchain_core.messages import HumanMessage

from backend.errors import SettingsError, StorageUnavailable
from backend.storage.database import Database
from backend.storage.langgraph_checkpointer import PostgresSaver, open_checkpointer
from backend.storage.langgraph_store import PostgresStore, open_store
from tests.support.echo_graph import in_thread, make_echo_graph
from tests.support.postgres import TestServer, make_database

pytestmark = pytest.mark.anyio

TIMEOUT_SECONDS = 1.0
A_FEW_SECONDS = 3.0
"""What the timeout of one second becomes on a busy machine."""


@pytest.fixture
async def fragile(own_server: TestServer) -> AsyncIterator[Database]:
    """A prepared database on a server that the test may harm."""
    database = make_database(own_server.url, timeout_seconds=TIMEOUT_SECONDS)
    async with database.running():
        yield database


@contextmanager
def fails_soon() -> Generator[None]:
    began = time.monotonic()
    with pytest.raises(StorageUnavailable, match="The database does not answer"):
        yield
    assert time.monotonic() - began < A_FEW_SECONDS


async def ask(database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute("SELECT 1")


async def warm_up(database: Database, connections: int = 5) -> None:
    """Leave so many idle connections in the pool."""
    barrier = asyncio.Barrier(connections)

    async def hold() -> None:
        async with database.connection():
            await barrier.wait()

    await asyncio.gather(*(hold() for _ in range(connections)))


async def test_while_it_is_stopped_every_use_fails_soon_and_then_works(fragile: Database, own_server: TestServer):
    store = PostgresStore(fragile, await fragile.pool())
    saver = PostgresSaver(fragile, await fragile.pool())
    graph = make_echo_graph(saver)
    await graph.ainvoke({"messages": [HumanMessage("one")]}, in_thread("thread"))

    own_server.stop()
    with fails_soon():
        await ask(fragile)
    with fails_soon():
        await store.aget(("ana", "memory"), "main")
    with fails_soon():
        await store.aput(("ana", "memory"), "main", {})
    with fails_soon():
        await saver.aget_tuple(in_thread("thread"))
    with fails_soon():
        await graph.ainvoke({"messages": [HumanMessage("two")]}, in_thread("thread"))

    own_server.start()
    await graph.ainvoke({"messages": [HumanMessage("three")]}, in_thread("thread"))
    state = await graph.aget_state(in_thread("thread"))
    assert [message.text for message in state.values["messages"]] == ["one", "heard one", "three", "heard three"]


async def test_the_first_use_after_a_restart_works_although_all_idle_connections_are_dead(
    fragile: Database, own_server: TestServer
):
    await warm_up(fragile)
    own_server.stop()
    own_server.start()
    began = time.monotonic()
    await ask(fragile)
    assert time.monotonic() - began < TIMEOUT_SECONDS
    await warm_up(fragile)


async def test_after_a_long_outage_the_next_use_works(fragile: Database, own_server: TestServer):
    await warm_up(fragile)
    own_server.stop()
    for _ in range(9):  # until the pauses of an attempt that goes on would be longer than our timeout
        with fails_soon():
            await asyncio.gather(*(ask(fragile) for _ in range(10)))
    own_server.start()
    await ask(fragile)
    await warm_up(fragile)


async def test_the_first_use_after_all_connections_were_ended_works(fragile: Database, own_server: TestServer):
    await warm_up(fragile)
    own_server.kill_connections()
    await ask(fragile)


async def test_a_connection_that_ends_in_use_is_an_error_of_ours(fragile: Database, own_server: TestServer):
    async def use_it() -> None:
        async with fragile.connection() as connection:
            own_server.kill_connections()
            await connection.execute("SELECT 1")

    with fails_soon():
        await use_it()
    await ask(fragile)


async def test_a_server_killed_in_the_middle_of_a_turn_fails_it_soon(fragile: Database, own_server: TestServer):
    saver = PostgresSaver(fragile, await fragile.pool())
    await make_echo_graph(saver).ainvoke({"messages": [HumanMessage("one")]}, in_thread("thread"))
    own_server.kill()
    with fails_soon():
        await make_echo_graph(saver).ainvoke({"messages": [HumanMessage("two")]}, in_thread("thread"))
    own_server.start()
    result = await make_echo_graph(saver).ainvoke({"messages": [HumanMessage("three")]}, in_thread("thread"))
    assert result["messages"][-1].text == "heard three"


async def test_a_frozen_server_fails_a_use_soon_and_works_when_thawed(fragile: Database, own_server: TestServer):
    await warm_up(fragile)
    own_server.freeze()
    try:
        for _ in range(2):
            with fails_soon():
                await ask(fragile)
    finally:
        own_server.thaw()
    await ask(fragile)


async def test_uses_that_are_cancelled_while_they_wait_take_no_connection_away(own_server: TestServer):
    database = make_database(own_server.url, timeout_seconds=TIMEOUT_SECONDS, pool_size=2)
    async with database.running():
        await warm_up(database, connections=2)
        own_server.freeze()
        try:
            uses = [asyncio.create_task(ask(database)) for _ in range(6)]
            await asyncio.sleep(TIMEOUT_SECONDS / 5)  # they are waiting for an answer, or for a connection
            for use in uses:
                use.cancel()
        finally:
            own_server.thaw()
        await asyncio.wait(uses)
        await warm_up(database, connections=2)


async def test_a_statement_that_is_stuck_in_a_frozen_server_is_given_up(fragile: Database, own_server: TestServer):
    await ask(fragile)
    try:
        with fails_soon():
            async with fragile.connection() as connection:
                connection.patience = TIMEOUT_SECONDS
                own_server.freeze()
                await connection.execute("SELECT 1")
    finally:
        own_server.thaw()
    await ask(fragile)


async def test_when_all_connections_are_in_use_the_next_one_is_waited_for_and_then_refused(database_url: str):
    database = make_database(database_url, timeout_seconds=TIMEOUT_SECONDS, pool_size=2)
    async with database.running():
        async with database.connection(), database.connection():
            with fails_soon():
                await ask(database)
        await ask(database)


async def test_a_start_without_a_database_says_why(tmp_path_factory: pytest.TempPathFactory):
    nothing = tmp_path_factory.mktemp("nothing")
    database = make_database(f"postgresql://postgres@/afterthought?host={nothing}", timeout_seconds=TIMEOUT_SECONDS)
    with pytest.raises(StorageUnavailable, match=r"The database does not answer: .*No such file"):
        async with open_store(database):
            pass


@pytest.mark.parametrize("url", ["nonsense", "mysql://user:secret@127.0.0.1/db", "postgresql://a:secret@[::1/db"])
async def test_an_address_that_is_none_is_a_wrong_setting(url: str):
    with pytest.raises(SettingsError, match="DATABASE_URL") as raised:
        async with open_checkpointer(make_database(url)):
            pass
    assert "secret" not in str(raised.value)
