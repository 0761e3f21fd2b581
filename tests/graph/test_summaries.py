"""When passes are made, over which turns, and what they leave in the store and in the thread."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from langchain_core.messages import HumanMessage

from tests.support.memory_driver import MemoryDriver, OpenDriver
from tests.support.model_server import ModelRequest, ModelServer, Reply, call, text, tool_calls
from tests.support.summaries import labels, summary, turns_of, windows_asked

pytestmark = pytest.mark.anyio

K = 3


def answer(request: ModelRequest) -> Reply:
    return text(f"answer to {request.last_human_text}")


@pytest.fixture
async def chat(model: ModelServer, open_driver: OpenDriver) -> MemoryDriver:
    model.when("chat", answer)
    model.when("summary", summary)
    return await open_driver(memory_thread_summary_keep_recent=K)


class TestTrigger:
    async def test_a_growing_thread_is_compressed_after_every_k_turns(
        self, model: ModelServer, chat: MemoryDriver
    ) -> None:
        counts: list[int] = []
        for _ in range(9):
            await chat.talk(1)
            counts.append(len(await chat.rows()))
        assert counts == [0, 0, 1, 1, 1, 2, 2, 2, 3]
        assert await chat.windows() == [(0, 2), (3, 5), (6, 8)]
        assert windows_asked(model) == [labels(1, 3), labels(4, 6), labels(7, 9)]

    @pytest.mark.parametrize(
        ("turns", "window"),
        [
            pytest.param(2, None, id="2 turns"),
            pytest.param(3, (0, 2), id="3 turns"),
            pytest.param(4, (0, 2), id="4 turns"),
            pytest.param(7, (0, 5), id="7 turns"),
            pytest.param(10, (0, 8), id="10 turns"),
        ],
    )
    async def test_turns_that_were_not_compressed_in_time_are_compressed_at_once(
        self, model: ModelServer, chat: MemoryDriver, turns: int, window: tuple[int, int] | None
    ) -> None:
        await chat.talk(turns, remembering=False)
        await chat.run(chat.server.started[-1])
        assert await chat.windows() == ([window] if window else [])
        assert len(model.for_model("summary")) == (1 if window else 0)

    async def test_a_setting_of_zero_switches_it_off(self, model: ModelServer, open_driver: OpenDriver) -> None:
        model.when("chat", answer)
        chat = await open_driver(memory_thread_summary_keep_recent=0)
        await chat.talk(12)
        assert model.for_model("summary") == []
        assert await chat.rows() == []
        assert chat.server.loads == 0

    async def test_the_thread_is_loaded_only_when_a_pass_may_be_due(self, chat: MemoryDriver) -> None:
        await chat.talk(9)
        assert chat.server.loads == 3

    async def test_without_a_user_nothing_is_summarized(self, model: ModelServer, chat: MemoryDriver) -> None:
        nobody = chat.elsewhere(user_id=None)
        await nobody.talk(4)
        assert model.for_model("summary") == []
        assert chat.server.loads == 0


class TestWhatIsCompressed:
    async def test_three_passes_stand_in_order_and_what_was_corrected_later_stands_in_the_later_one(
        self, chat: MemoryDriver
    ) -> None:
        """CASES 10."""
        turns = [f"question {number}" for number in range(1, 10)]
        turns[1], turns[4] = "ship on Friday", "no, Monday"
        for turn in turns:
            await chat.send(turn)
            await chat.remember()
        rows = await chat.rows()
        assert [row.sequence for row in rows] == [1, 2, 3]
        assert await chat.windows() == [(0, 2), (3, 5), (6, 8)]
        refs = [[ref for entry in row.summary.entries for ref in entry.refs] for row in rows]
        assert refs == [labels(1, 3), labels(4, 6), labels(7, 9)]
        assert [[entry.question for entry in row.summary.entries][1] for row in rows[:2]] == [
            "summary of: ship on Friday",
            "summary of: no, Monday",
        ]

    async def test_the_last_turn_of_a_window_has_its_tool_call_its_result_and_its_answer(
        self, model: ModelServer, chat: MemoryDriver
    ) -> None:
        """CASES 11."""
        await chat.talk(2)
        model.then(tool_calls(call("lookup_thread_messages", {"refs": ["#1"]})), text("it was question 1"), to="chat")
        await chat.talk(1)
        third = turns_of(model.for_model("summary")[0])[2]
        assert third["id"] == "#3"
        assert [message["role"] for message in third["messages"]] == ["human", "ai", "tool", "ai"]
        assert third["messages"][1]["tool_calls"] == [{"name": "lookup_thread_messages", "args": {"refs": ["#1"]}}]
        assert "question 1" in third["messages"][2]["content"]
        assert third["messages"][3]["content"] == "it was question 1"

    async def test_a_turn_whose_answer_is_missing_is_not_compressed_yet(
        self, model: ModelServer, chat: MemoryDriver
    ) -> None:
        """CASES 11."""
        await chat.talk(2)
        model.then(tool_calls(call("lookup_thread_messages", {"refs": ["#1"]})), to="chat")
        gate = model.hold(lambda asked: asked.model == "chat" and asked.messages[-1]["role"] == "tool")
        third = asyncio.create_task(chat.send("question 3"))
        await model.wait_until(lambda: gate.waiting)
        third.cancel()
        with pytest.raises(asyncio.CancelledError):
            await third
        gate.release()
        last = (await chat.messages())[-1]
        assert last.type == "tool"
        await chat.run((None, handed_over(chat, human_count=3, last=str(last.id))))
        await chat.run(("ana", handed_over(chat, human_count=3, last=str(last.id))))  # pyright: ignore[reportArgumentType]
        assert model.for_model("summary") == []

        await chat.send("question 4")
        await chat.remember()
        assert await chat.windows() == [(0, 2)]
        assert [message["role"] for message in turns_of(model.for_model("summary")[0])[2]["messages"]] == [
            "human",
            "ai",
            "tool",
        ]

    async def test_what_the_framework_put_in_is_no_turn_and_not_quoted(
        self, model: ModelServer, open_driver: OpenDriver
    ) -> None:
        """CASES 12."""
        model.when("chat", answer)
        model.when("summary", summary)
        chat = await open_driver(memory_thread_summary_keep_recent=1)
        hidden = HumanMessage("<context>date</context>", additional_kwargs={"hide_from_ui": True})
        await chat.send(hidden, "I want to see Oslo")
        assert chat.server.started[0][1]["human_count"] == 1
        await chat.remember()
        assert model.for_model("title")[0].last_human_text == "I want to see Oslo"
        [turn] = turns_of(model.for_model("summary")[0])
        assert turn["id"] == "#1"
        assert turn["messages"][0] == {"role": "human", "content": "I want to see Oslo"}
        assert "date" not in model.for_model("summary")[0].last_human_text
        stored = [message for message in await chat.messages() if message.text == "I want to see Oslo"]
        assert (await chat.rows())[0].message_ids == [stored[0].id]

    async def test_two_messages_in_one_input_are_two_turns_with_the_ids_of_the_state(
        self, chat: MemoryDriver
    ) -> None:
        """CASES 4."""
        await chat.talk(1)
        await chat.send("first of two", "second of two")
        await chat.remember()
        humans = [message.id for message in await chat.messages() if message.type == "human"]
        assert len(humans) == 3
        assert (await chat.rows())[0].message_ids == humans

    async def test_the_row_tells_what_it_cost_and_saved(self, model: ModelServer, chat: MemoryDriver) -> None:
        await chat.talk(3)
        [row] = await chat.rows()
        assert row.token_count_before == -(-len(model.for_model("summary")[0].last_human_text) // 4)
        assert 0 < row.token_count_after
        assert (row.message_count, row.trigger_reason) == (3, "turn_based")


class TestThreadState:
    async def test_no_background_run_changes_a_message(self, chat: MemoryDriver) -> None:
        """CASES 4."""
        await chat.send(HumanMessage("with an id", id="mine"), "and one without")
        await chat.talk(3, remembering=False)
        before = [message.model_dump() for message in await chat.messages()]
        checkpoint = await chat.here()
        await chat.remember(times=3)
        assert len(await chat.rows()) == 1
        assert [message.model_dump() for message in await chat.messages()] == before
        assert await chat.here() == checkpoint


def handed_over(chat: MemoryDriver, *, human_count: int, last: str) -> dict[str, object]:
    """What a dispatch would hand over, for a turn that never got to it."""
    return {
        "thread_id": chat.thread_id,
        "message_ids": [last],
        "human_count": human_count,
        "user_text": "",
        "assistant_text": "",
        "finished_at": "2026-03-01T12:00:00+00:00",
    }
