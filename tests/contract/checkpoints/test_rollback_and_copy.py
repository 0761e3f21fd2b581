"""What the server asks of a checkpointer beyond LangGraph: rolling runs back, and copying threads."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
import structlog
from langchain_core.messages import HumanMessage

from backend.storage.database import Database
from backend.storage.langgraph_checkpointer import PostgresSaver, open_checkpointer
from tests.support.echo_graph import EchoGraph, Gate, in_thread, make_echo_graph
from tests.support.postgres import TestServer, make_database
from tests.support.server_adapter import delete_thread

pytestmark = pytest.mark.anyio

THREAD = "8f5a37a5-0000-4000-8000-000000000001"
COPY = "8f5a37a5-0000-4000-8000-000000000002"
TURNS_OF_TWO_FULL_COPIES = 21


async def say(graph: EchoGraph, text: str, *, run_id: str = "", thread: str = THREAD, checkpoint_id: str = "") -> str:
    """One turn; the id of its run."""
    run_id = run_id or str(uuid4())
    config = in_thread(thread, run_id=run_id, checkpoint_id=checkpoint_id or None)
    await graph.ainvoke({"messages": [HumanMessage(text)]}, config)
    return run_id


async def texts(graph: EchoGraph, thread: str = THREAD) -> list[str]:
    state = await graph.aget_state(in_thread(thread))
    return [message.text for message in state.values.get("messages", [])]


def echoed(*said: str) -> list[str]:
    return [text for one in said for text in (one, f"heard {one}")]


async def stored(database: Database) -> dict[str, list[Any]]:
    """All rows of the thread but the bytes, in an order of their own."""
    queries = {
        "checkpoints": b"SELECT checkpoint_id, metadata FROM checkpoints ORDER BY 1",
        "writes": b"SELECT checkpoint_id, task_id, idx, channel FROM checkpoint_writes ORDER BY 1, 2, 3",
        "blobs": b"SELECT channel, version FROM checkpoint_blobs ORDER BY 1, 2",
    }
    async with database.connection() as connection:
        return {name: await (await connection.execute(query)).fetchall() for name, query in queries.items()}


@pytest.mark.parametrize("turns_before", [0, 1, 4, 9, 10, TURNS_OF_TWO_FULL_COPIES])
async def test_a_finished_run_that_is_rolled_back_leaves_no_row(
    database: Database, saver: PostgresSaver, turns_before: int
):
    graph = make_echo_graph(saver)
    said = [f"turn {number}" for number in range(turns_before)]
    for text in said:
        await say(graph, text)
    before = await stored(database)

    await saver.adelete_for_runs([await say(graph, "taken back")])

    assert await stored(database) == before
    assert await texts(graph) == echoed(*said)
    await say(graph, "next")
    assert await texts(graph) == echoed(*said, "next")


@pytest.mark.parametrize("turns_before", [0, 1, 10])
async def test_a_run_that_is_rolled_back_in_the_middle_leaves_no_row(
    database: Database, saver: PostgresSaver, turns_before: int
):
    graph = make_echo_graph(saver)
    said = [f"turn {number}" for number in range(turns_before)]
    for text in said:
        await say(graph, text)
    before = await stored(database)

    gate, run_id = Gate(), str(uuid4())
    turn = asyncio.create_task(say(make_echo_graph(saver, gate=gate), "taken back", run_id=run_id))
    await gate.reached.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert "taken back" in await texts(graph)
    await saver.adelete_for_runs([run_id])

    assert await stored(database) == before
    await say(graph, "next")
    assert await texts(graph) == echoed(*said, "next")


async def test_a_resumed_run_that_is_rolled_back_can_be_resumed_anew(database: Database, saver: PostgresSaver):
    gate = Gate()
    turn = asyncio.create_task(say(make_echo_graph(saver, gate=gate), "one"))
    await gate.reached.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    before = await stored(database)

    run_id = str(uuid4())
    await make_echo_graph(saver, text=", resumed").ainvoke(None, in_thread(THREAD, run_id=run_id))
    await saver.adelete_for_runs([run_id])

    assert await stored(database) == before
    await make_echo_graph(saver, text=", resumed anew").ainvoke(None, in_thread(THREAD))
    assert await texts(make_echo_graph(saver)) == ["one", "heard one, resumed anew"]


async def test_rolling_back_twice_changes_nothing(database: Database, saver: PostgresSaver):
    graph = make_echo_graph(saver)
    await say(graph, "one")
    run_id = await say(graph, "taken back")
    await saver.adelete_for_runs([run_id])
    await say(graph, "two")
    before = await stored(database)
    await saver.adelete_for_runs([run_id])
    assert await stored(database) == before


async def test_a_run_from_which_another_went_on_stays(saver: PostgresSaver):
    graph = make_echo_graph(saver)
    await say(graph, "one")
    run_id = await say(graph, "two")
    await say(graph, "three")
    await saver.adelete_for_runs([run_id])
    assert await texts(graph) == echoed("one", "two", "three")


async def test_two_runs_in_a_row_are_rolled_back_together(database: Database, saver: PostgresSaver):
    graph = make_echo_graph(saver)
    await say(graph, "one")
    before = await stored(database)
    run_ids = [await say(graph, "two"), await say(graph, "three")]
    await saver.adelete_for_runs(run_ids)
    assert await stored(database) == before


async def test_rolling_back_a_fork_keeps_the_branch_it_came_from(saver: PostgresSaver):
    graph = make_echo_graph(saver)
    await say(graph, "one")
    old = (await graph.aget_state(in_thread(THREAD))).config.get("configurable", {})["checkpoint_id"]
    await say(graph, "two")
    run_id = await say(graph, "another two", checkpoint_id=old)
    await saver.adelete_for_runs([run_id])
    assert await texts(graph) == echoed("one", "two")


async def test_rolling_back_leaves_other_threads_and_copies_alone(saver: PostgresSaver):
    graph = make_echo_graph(saver)
    await say(graph, "elsewhere", thread="other")
    run_id = await say(graph, "one")
    await saver.acopy_thread(THREAD, COPY)
    await saver.adelete_for_runs([run_id])
    assert await texts(graph) == []
    assert await texts(graph, "other") == echoed("elsewhere")
    assert await texts(graph, COPY) == echoed("one")


@pytest.mark.parametrize("turns", [1, 9, 10, 11, TURNS_OF_TWO_FULL_COPIES])
async def test_a_copied_thread_is_the_same_and_lives_on_by_itself(saver: PostgresSaver, turns: int):
    graph = make_echo_graph(saver)
    said = [f"turn {number}" for number in range(turns)]
    for text in said:
        await say(graph, text)
    await saver.acopy_thread(THREAD, COPY)

    assert await history(graph, COPY) == await history(graph, THREAD)
    await say(graph, "only there", thread=COPY)
    await say(graph, "only here")
    assert await texts(graph, COPY) == echoed(*said, "only there")
    await delete_thread(saver, THREAD)
    assert await texts(graph, COPY) == echoed(*said, "only there")


async def history(graph: EchoGraph, thread: str) -> list[list[tuple[str, str]]]:
    return [
        [(message.id, message.text) for message in state.values.get("messages", [])]
        async for state in graph.aget_state_history(in_thread(thread))
    ]


async def test_the_copy_says_whose_it_is(saver: PostgresSaver):
    graph = make_echo_graph(saver)
    config = in_thread(THREAD, run_id=str(uuid4()))
    config["metadata"] = {**config.get("metadata", {}), "thread_id": THREAD}
    await graph.ainvoke({"messages": [HumanMessage("one")]}, config)
    await saver.acopy_thread(THREAD, COPY)
    found = [found.metadata async for found in saver.alist(in_thread(COPY))]
    assert {metadata.get("thread_id", COPY) for metadata in found} == {COPY}
    assert not any("run_id" in metadata for metadata in found)


class TestDeletion:
    async def test_it_gives_way_to_nobody(self, saver: PostgresSaver):
        """The dev server removes what stands at a place in its list after this, wherever the list has moved to."""
        deletion = saver.adelete_thread(THREAD)
        with pytest.raises(StopIteration):
            deletion.send(None)
        await saver.settle()

    async def test_it_is_waited_for_when_the_saver_is_closed(self, database: Database):
        async with open_checkpointer(database) as closing:
            await say(make_echo_graph(closing), "hello")
            await closing.adelete_thread(THREAD)
        async with open_checkpointer(database) as opened:
            assert await texts(make_echo_graph(opened)) == []

    async def test_a_database_that_is_away_costs_a_log_line(self, own_server: TestServer):
        database = make_database(own_server.url)
        async with open_checkpointer(database) as saver:
            own_server.stop()
            with structlog.testing.capture_logs() as logs:
                await saver.adelete_thread(THREAD)
                await saver.settle()
        assert [line["event"] for line in logs if line["log_level"] == "warning"] == ["delete_checkpoints_failed"]
