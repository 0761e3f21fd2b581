"""A wall clock that is behind the one with which a thread was written: another machine's, or this one's, set back."""

import time

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import id as checkpoint_ids

from backend.storage.checkpoint_order import number_from
from backend.storage.database import Database
from backend.storage.langgraph_checkpointer import PostgresSaver
from tests.support.echo_graph import in_thread, make_echo_graph

pytestmark = pytest.mark.anyio

DAY_NANOSECONDS = 86_400 * 10**9


@pytest.fixture
async def saver(database: Database) -> PostgresSaver:
    return PostgresSaver(database, await database.pool())


async def say_a_day_ahead(saver: PostgresSaver, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn of a process whose clock is a day ahead; afterwards this process is as one that has just started."""
    with monkeypatch.context() as ahead:
        now = time.time_ns
        ahead.setattr(time, "time_ns", lambda: now() + DAY_NANOSECONDS)
        await say(saver, text, in_thread("thread"))
    monkeypatch.setattr(checkpoint_ids, "_last_v6_timestamp", None)


async def say(saver: PostgresSaver, text: str, config: RunnableConfig) -> None:
    await make_echo_graph(saver).ainvoke({"messages": [HumanMessage(text)]}, config)


async def texts(saver: PostgresSaver) -> list[str]:
    state = await make_echo_graph(saver).aget_state(in_thread("thread"))
    return [message.text for message in state.values["messages"]]


async def test_a_thread_goes_on_in_a_process_whose_clock_is_behind(
    saver: PostgresSaver, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say_a_day_ahead(saver, "one", monkeypatch)
    await say(saver, "two", in_thread("thread"))
    assert await texts(saver) == ["one", "heard one", "two", "heard two"]


async def test_a_fork_becomes_the_latest_in_a_process_whose_clock_is_behind(
    saver: PostgresSaver, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(saver, "one", in_thread("thread"))
    early = (await make_echo_graph(saver).aget_state(in_thread("thread"))).config
    await say_a_day_ahead(saver, "two", monkeypatch)
    await say(saver, "other", early)
    assert await texts(saver) == ["one", "heard one", "other", "heard other"]


@pytest.mark.parametrize("checkpoint_id", ["", "1", "64d5c3f6-2b8a-4d3c-9d0e-0123456789ab"])
def test_an_id_that_is_none_of_langgraphs_moves_nothing(checkpoint_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_ids, "_last_v6_timestamp", 7)
    number_from(checkpoint_id)
    assert checkpoint_ids._last_v6_timestamp == 7  # pyright: ignore[reportPrivateUsage]
