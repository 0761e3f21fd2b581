"""Our checkpointer and store in a real server, behind the adapters that it puts before them."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import psycopg
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.support.conditions import until
from tests.support.echo_graph import HOLD
from tests.support.langgraph_server import RunningServer, ServerFiles, running_server
from tests.support.postgres import TestServer

pytestmark = [pytest.mark.anyio, pytest.mark.server]

FILES = ServerFiles(
    graphs={"echo": "tests.support.echo_server:graph"},
    app=None,
    auth=None,
    store="backend.storage.langgraph_store.open_store",
    checkpointer="backend.storage.langgraph_checkpointer.open_checkpointer",
)
PAST_THE_FIRST_FULL_COPY = 12


@pytest.fixture(scope="module")
def server_database(postgres_server: TestServer) -> Iterator[str]:
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, server_database: str) -> Iterator[RunningServer]:
    directory = tmp_path_factory.mktemp("echo")
    with running_server(directory, files=FILES, env={"DATABASE_URL": server_database}) as server:
        yield server


@pytest.fixture
async def client(server: RunningServer) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server.url) as client:
        yield client


def said(text: str) -> dict[str, Any]:
    return {"messages": [{"type": "human", "content": text}]}


async def say(client: LangGraphClient, thread_id: str, *texts: str) -> None:
    for text in texts:
        await client.runs.wait(thread_id, "echo", input=said(text))


async def new_thread(client: LangGraphClient) -> str:
    return (await client.threads.create())["thread_id"]


async def texts(client: LangGraphClient, thread_id: str) -> list[str]:
    values = cast("dict[str, Any]", (await client.threads.get_state(thread_id))["values"])
    return [message["content"] for message in values.get("messages", [])] if values else []


def echoed(*all_said: str) -> list[str]:
    return [text for one in all_said for text in (one, f"heard {one}")]


def rows(url: str, thread_id: str) -> int:
    """Of the thread, in all tables of the checkpointer."""
    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    with psycopg.connect(url) as connection:
        queries = [f"SELECT count(*) FROM {table} WHERE thread_id = %s".encode() for table in tables]  # noqa: S608
        found = [connection.execute(query, (thread_id,)).fetchone() for query in queries]
    return sum(row[0] for row in found if row)


async def test_a_thread_and_its_history(client: LangGraphClient):
    thread_id = await new_thread(client)
    turns = [f"turn {number}" for number in range(PAST_THE_FIRST_FULL_COPY)]
    await say(client, thread_id, *turns)
    assert await texts(client, thread_id) == echoed(*turns)
    history = await client.threads.get_history(thread_id, limit=1000)
    lengths = [len(cast("dict[str, Any]", state["values"]).get("messages", [])) for state in history]
    assert lengths == sorted(lengths, reverse=True)
    assert set(lengths) == set(range(2 * PAST_THE_FIRST_FULL_COPY + 1))


async def test_a_copy_of_a_thread_lives_by_itself(client: LangGraphClient):
    thread_id = await new_thread(client)
    turns = [f"turn {number}" for number in range(PAST_THE_FIRST_FULL_COPY)]
    await say(client, thread_id, *turns)
    await client.threads.copy(thread_id)
    threads = await client.threads.search(limit=100)
    copy_id = max(threads, key=lambda thread: thread["created_at"])["thread_id"]
    assert copy_id != thread_id
    await say(client, copy_id, "only there")
    assert await texts(client, copy_id) == echoed(*turns, "only there")
    assert await texts(client, thread_id) == echoed(*turns)


async def test_a_run_that_is_rolled_back_by_the_next_one_leaves_no_trace(client: LangGraphClient):
    thread_id = await new_thread(client)
    await say(client, thread_id, "one")
    held = await client.runs.create(thread_id, "echo", input=said(HOLD))
    async with asyncio.timeout(20):
        while HOLD not in await texts(client, thread_id):
            pass
    await client.runs.wait(thread_id, "echo", input=said("two"), multitask_strategy="rollback")
    assert await texts(client, thread_id) == echoed("one", "two")
    assert held["run_id"] not in {run["run_id"] for run in await client.runs.list(thread_id)}


async def test_a_cancelled_run_keeps_the_question(client: LangGraphClient):
    thread_id = await new_thread(client)
    await client.runs.create(thread_id, "echo", input=said(HOLD))
    async with asyncio.timeout(20):
        while HOLD not in await texts(client, thread_id):
            pass
    await client.runs.wait(thread_id, "echo", input=said("two"), multitask_strategy="interrupt")
    assert await texts(client, thread_id) == [HOLD, *echoed("two")]


async def test_a_fork_from_the_past(client: LangGraphClient):
    thread_id = await new_thread(client)
    await say(client, thread_id, "one")
    checkpoint = (await client.threads.get_state(thread_id))["checkpoint"]
    await say(client, thread_id, "two")
    await client.runs.wait(thread_id, "echo", input=said("another two"), checkpoint_id=checkpoint["checkpoint_id"])
    assert await texts(client, thread_id) == echoed("one", "another two")


async def test_a_deleted_thread_leaves_no_row(client: LangGraphClient, server_database: str):
    thread_id = await new_thread(client)
    await say(client, thread_id, "one")
    assert rows(server_database, thread_id)
    await client.threads.delete(thread_id)
    await until(lambda: not rows(server_database, thread_id))


async def test_a_stateless_run_leaves_no_row(client: LangGraphClient, server_database: str):
    with psycopg.connect(server_database) as connection:
        before = connection.execute("SELECT count(*) FROM checkpoints").fetchone()
    result = cast("Any", await client.runs.wait(None, "echo", input=said("one")))
    assert result["messages"][-1]["content"] == "heard one"
    with psycopg.connect(server_database) as connection:
        assert connection.execute("SELECT count(*) FROM checkpoints").fetchone() == before


async def test_the_store_of_the_server_is_ours(client: LangGraphClient, server_database: str):
    await client.store.put_item(["ana", "memory"], "main", {"city": "Oslo"})
    assert (await client.store.get_item(["ana", "memory"], "main"))["value"] == {"city": "Oslo"}
    with psycopg.connect(server_database) as connection:
        assert connection.execute("SELECT prefix, key FROM store").fetchall() == [("ana.memory", "main")]


async def test_two_threads_run_at_the_same_time(client: LangGraphClient):
    held = await new_thread(client)
    await client.runs.create(held, "echo", input=said(HOLD))
    began = time.monotonic()
    other = await new_thread(client)
    await say(client, other, "one")
    assert time.monotonic() - began < 5
    await client.runs.cancel_many(thread_id=held, run_ids=[run["run_id"] for run in await client.runs.list(held)])


async def test_while_the_database_is_away_a_turn_fails_with_a_message_and_the_next_one_works(
    tmp_path_factory: pytest.TempPathFactory, own_server: TestServer
):
    directory = tmp_path_factory.mktemp("away")
    with running_server(directory, files=FILES, env={"DATABASE_URL": own_server.url}) as server:
        async with get_client(url=server.url) as client:
            thread_id = await new_thread(client)
            await say(client, thread_id, "one")
            own_server.stop()
            began = time.monotonic()
            failed = cast("Any", await client.runs.wait(thread_id, "echo", input=said("lost"), raise_error=False))
            assert "The database does not answer" in str(failed)
            assert time.monotonic() - began < 10
            own_server.start()
            await say(client, thread_id, "two")
            assert await texts(client, thread_id) == echoed("one", "two")
