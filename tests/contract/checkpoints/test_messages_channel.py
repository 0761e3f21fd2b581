"""What a thread's messages are, whatever happens to the thread, over every checkpointer."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

import pytest
from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, RemoveMessage
from langgraph.channels import DeltaChannel
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from typing_extensions import TypedDict

from backend.storage.messages_channel import merge_messages
from tests.contract.checkpoints.conftest import OpenSaver
from tests.support.echo_graph import EchoGraph, Gate, in_thread, make_echo_graph
from tests.support.server_adapter import delete_thread

pytestmark = pytest.mark.anyio

THREAD = "8f5a37a5-0000-4000-8000-000000000001"
PAST_THE_FIRST_FULL_COPY = 13
"""Turns. Each updates the messages twice, and a full copy is stored every 20 updates while there are few."""
WHERE_COPIES_ARE_FARTHER_APART = 120
"""Turns, of two messages each."""


class EqualDistances(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], DeltaChannel(merge_messages, snapshot_frequency=20)]
    subagent: str


async def say(graph: EchoGraph, *texts: str, checkpoint_id: str | None = None) -> None:
    for text in texts:
        await graph.ainvoke({"messages": [HumanMessage(text)]}, in_thread(THREAD, checkpoint_id=checkpoint_id))


async def messages(graph: EchoGraph, checkpoint_id: str | None = None) -> Sequence[BaseMessage]:
    state = await graph.aget_state(in_thread(THREAD, checkpoint_id=checkpoint_id))
    return state.values.get("messages", [])


async def texts(graph: EchoGraph, checkpoint_id: str | None = None) -> list[str]:
    return [message.text for message in await messages(graph, checkpoint_id)]


def echoed(*said: str) -> list[str]:
    return [text for one in said for text in (one, f"heard {one}")]


async def head(graph: EchoGraph) -> str:
    return (await graph.aget_state(in_thread(THREAD))).config.get("configurable", {})["checkpoint_id"]


async def test_a_long_thread_keeps_every_message_once_and_in_order(open_saver: OpenSaver):
    graph = make_echo_graph(open_saver())
    said = [f"turn {number}" for number in range(2 * PAST_THE_FIRST_FULL_COPY)]
    for number, text in enumerate(said):
        await say(graph, text)
        assert await texts(graph) == echoed(*said[: number + 1])
    ids = [message.id for message in await messages(graph)]
    assert None not in ids
    assert len(set(ids)) == len(ids)


async def test_a_longer_thread_is_read_whole_however_far_back_its_last_copy_lies(open_saver: OpenSaver):
    said = [f"turn {number}" for number in range(WHERE_COPIES_ARE_FARTHER_APART)]
    await say(make_echo_graph(open_saver()), *said)
    assert await texts(make_echo_graph(open_saver())) == echoed(*said)


@pytest.mark.parametrize("turns_before", [PAST_THE_FIRST_FULL_COPY, 50])
async def test_a_thread_with_a_copy_at_equal_distances_goes_on(open_saver: OpenSaver, turns_before: int):
    """As threads have it that were begun when the distance did not grow."""
    said = [f"turn {number}" for number in range(turns_before)]
    await say(make_echo_graph(open_saver(), state=EqualDistances), *said)
    await say(make_echo_graph(open_saver()), "and now", "and then")
    assert await texts(make_echo_graph(open_saver())) == echoed(*said, "and now", "and then")


async def test_a_message_without_an_id_gets_one_that_stays(open_saver: OpenSaver):
    graph = make_echo_graph(open_saver())
    await say(graph, "one", "two")
    first = [message.id for message in await messages(graph)]
    assert first == [message.id for message in await messages(make_echo_graph(open_saver()))]


async def test_a_restart_in_the_middle_changes_nothing(open_saver: OpenSaver):
    said = [f"turn {number}" for number in range(PAST_THE_FIRST_FULL_COPY)]
    for text in said:
        await say(make_echo_graph(open_saver()), text)
    assert await texts(make_echo_graph(open_saver())) == echoed(*said)


async def test_every_state_of_the_past_can_be_read(open_saver: OpenSaver):
    graph = make_echo_graph(open_saver())
    heads: list[str] = []
    for number in range(PAST_THE_FIRST_FULL_COPY):
        await say(graph, f"turn {number}")
        heads.append(await head(graph))
    for number, checkpoint_id in enumerate(heads):
        assert await texts(graph, checkpoint_id) == echoed(*(f"turn {turn}" for turn in range(number + 1)))


async def test_the_history_holds_the_messages_of_each_step(open_saver: OpenSaver):
    graph = make_echo_graph(open_saver())
    await say(graph, *(f"turn {number}" for number in range(PAST_THE_FIRST_FULL_COPY)))
    lengths = [len(state.values.get("messages", [])) async for state in graph.aget_state_history(in_thread(THREAD))]
    assert lengths == sorted(lengths, reverse=True)
    assert set(lengths) == set(range(2 * PAST_THE_FIRST_FULL_COPY + 1))


async def test_a_fork_goes_on_from_an_older_state_and_leaves_the_other_branch(open_saver: OpenSaver):
    graph = make_echo_graph(open_saver())
    await say(graph, "one", "two")
    old = await head(graph)
    await say(graph, "three", "four")
    abandoned = await head(graph)

    await say(graph, "another three", checkpoint_id=old)
    assert await texts(graph) == echoed("one", "two", "another three")
    await say(graph, "another four")

    assert await texts(graph) == echoed("one", "two", "another three", "another four")
    assert await texts(graph, abandoned) == echoed("one", "two", "three", "four")
    assert await texts(make_echo_graph(open_saver())) == echoed("one", "two", "another three", "another four")


async def test_two_forks_from_one_state_do_not_see_each_other(open_saver: OpenSaver):
    graph = make_echo_graph(open_saver())
    await say(graph, "one")
    old = await head(graph)
    await say(graph, "left", checkpoint_id=old)
    left = await head(graph)
    await say(graph, "right", checkpoint_id=old)
    assert await texts(graph, left) == echoed("one", "left")
    assert await texts(graph) == echoed("one", "right")


async def test_an_update_of_an_older_state_makes_a_branch_without_what_came_after(open_saver: OpenSaver):
    graph = make_echo_graph(open_saver())
    await say(graph, "one", "two")
    old = await head(graph)
    await say(graph, "three")
    config = in_thread(THREAD, checkpoint_id=old)
    await graph.aupdate_state(config, {"messages": [HumanMessage("put in")]}, as_node="trigger_background_agent")
    assert await texts(graph) == [*echoed("one", "two"), "put in"]
    await say(graph, "three again")
    assert await texts(graph) == [*echoed("one", "two"), "put in", *echoed("three again")]


async def test_a_copied_checkpoint_has_the_same_messages(open_saver: OpenSaver):
    graph = make_echo_graph(open_saver())
    await say(graph, "one", "two")
    await graph.aupdate_state(in_thread(THREAD), None, as_node="__copy__")
    assert await texts(graph) == echoed("one", "two")
    await say(graph, "three")
    assert await texts(graph) == echoed("one", "two", "three")


async def test_a_message_with_a_known_id_takes_the_place_of_the_old_one(open_saver: OpenSaver):
    graph = make_echo_graph(open_saver())
    await say(graph, "one", "two")
    edited = HumanMessage("one, edited", id=(await messages(graph))[0].id)
    await graph.aupdate_state(in_thread(THREAD), {"messages": [edited]}, as_node="trigger_background_agent")
    assert await texts(graph) == ["one, edited", "heard one", "two", "heard two"]
    await say(graph, *(f"turn {number}" for number in range(PAST_THE_FIRST_FULL_COPY)))
    assert (await texts(make_echo_graph(open_saver())))[:4] == ["one, edited", "heard one", "two", "heard two"]


async def test_a_removed_message_stays_away(open_saver: OpenSaver):
    graph = make_echo_graph(open_saver())
    await say(graph, "one", "two")
    removal = RemoveMessage(id=str((await messages(graph))[1].id))
    await graph.aupdate_state(in_thread(THREAD), {"messages": [removal]}, as_node="trigger_background_agent")
    assert await texts(graph) == ["one", "two", "heard two"]
    await say(graph, "three")
    assert await texts(make_echo_graph(open_saver())) == ["one", "two", "heard two", "three", "heard three"]


async def test_a_thread_that_was_emptied_starts_anew(open_saver: OpenSaver):
    graph = make_echo_graph(open_saver())
    await say(graph, "one", "two")
    removal = RemoveMessage(id=REMOVE_ALL_MESSAGES)
    await graph.aupdate_state(in_thread(THREAD), {"messages": [removal]}, as_node="trigger_background_agent")
    assert await texts(graph) == []
    await say(graph, "three")
    assert await texts(make_echo_graph(open_saver())) == echoed("three")


@pytest.mark.parametrize("turns_before", [0, 1, PAST_THE_FIRST_FULL_COPY])
async def test_a_cancelled_turn_keeps_its_question_and_the_next_turn_works(open_saver: OpenSaver, turns_before: int):
    said = [f"turn {number}" for number in range(turns_before)]
    await say(make_echo_graph(open_saver()), *said)

    gate = Gate()
    turn = asyncio.create_task(say(make_echo_graph(open_saver(), gate=gate), "never answered"))
    await gate.reached.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    graph = make_echo_graph(open_saver())
    assert await texts(graph) == [*echoed(*said), "never answered"]
    await say(graph, "next")
    assert await texts(graph) == [*echoed(*said), "never answered", *echoed("next")]


async def test_a_deleted_thread_is_empty_and_can_begin_anew(open_saver: OpenSaver):
    saver = open_saver()
    graph = make_echo_graph(saver)
    await say(graph, *(f"turn {number}" for number in range(PAST_THE_FIRST_FULL_COPY)))
    await delete_thread(saver, THREAD)
    assert await texts(graph) == []
    await say(graph, "again")
    assert await texts(graph) == echoed("again")


async def test_threads_do_not_see_each_other(open_saver: OpenSaver):
    graph = make_echo_graph(open_saver())
    others: list[dict[str, Any]] = [{"messages": [HumanMessage("elsewhere")]}]
    await asyncio.gather(
        say(graph, "one", "two"),
        *(graph.ainvoke(other, in_thread(f"{THREAD}{number}")) for number, other in enumerate(others)),
    )
    assert await texts(graph) == echoed("one", "two")
