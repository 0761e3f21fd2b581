"""When passes are made, over which turns, and what they leave in the store and in the thread."""

import asyncio

import pytest
from langchain_core.messages import HumanMessage

from backend.ids import UserId
from tests.support.memory_driver import MemoryDriver, OpenDriver, Turn
from tests.support.model_server import ModelServer, call, text, tool_calls
from tests.support.summaries import answer, labels, summary, turns_of, windows_asked

pytestmark = pytest.mark.anyio


class TestTrigger:
    async def test_a_growing_thread_is_compressed_after_every_k_turns(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        counts: list[int] = []
        for _ in range(9):
            await driver.talk(1)
            counts.append(len(await driver.rows()))
        assert counts == [0, 0, 1, 1, 1, 2, 2, 2, 3]
        assert await driver.windows() == [(0, 2), (3, 5), (6, 8)]
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
        self, model: ModelServer, driver: MemoryDriver, turns: int, window: tuple[int, int] | None
    ) -> None:
        await driver.talk(turns, remembering=False)
        await driver.run(driver.server.started[-1])
        assert await driver.windows() == ([window] if window else [])
        assert len(model.for_model("summary")) == (1 if window else 0)

    async def test_a_setting_of_zero_switches_it_off(self, model: ModelServer, open_driver: OpenDriver) -> None:
        model.when("chat", answer)
        driver = await open_driver(memory_thread_summary_keep_recent=0)
        await driver.talk(12)
        assert model.for_model("summary") == []
        assert await driver.rows() == []
        assert driver.server.loads == 0

    async def test_the_thread_is_loaded_only_when_a_pass_may_be_due(self, driver: MemoryDriver) -> None:
        loads: list[int] = []
        for _ in range(6):
            before = driver.server.loads
            await driver.talk(1)
            loads.append(driver.server.loads - before)
        assert [bool(count) for count in loads] == [False, False, True, False, False, True]

    async def test_without_a_user_nothing_is_summarized(self, model: ModelServer, driver: MemoryDriver) -> None:
        nobody = driver.elsewhere(user_id=None)
        await nobody.talk(4)
        assert model.for_model("summary") == []
        assert driver.server.loads == 0


class TestWhatIsCompressed:
    async def test_three_passes_stand_in_order_and_what_was_corrected_later_stands_in_the_later_one(
        self, driver: MemoryDriver
    ) -> None:
        """CASES 10."""
        turns = [f"question {number}" for number in range(1, 10)]
        turns[1], turns[4] = "ship on Friday", "no, Monday"
        for turn in turns:
            await driver.send(turn)
            await driver.remember()
        rows = await driver.rows()
        assert [row.sequence for row in rows] == [1, 2, 3]
        assert await driver.windows() == [(0, 2), (3, 5), (6, 8)]
        refs = [[ref for entry in row.summary.entries for ref in entry.refs] for row in rows]
        assert refs == [labels(1, 3), labels(4, 6), labels(7, 9)]
        assert [[entry.question for entry in row.summary.entries][1] for row in rows[:2]] == [
            "summary of: ship on Friday",
            "summary of: no, Monday",
        ]

    async def test_the_last_turn_of_a_window_has_its_tool_call_its_result_and_its_answer(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        """CASES 11."""
        await driver.talk(2)
        model.then(tool_calls(call("lookup_thread_messages", {"refs": ["#1"]})), text("it was question 1"), to="chat")
        await driver.talk(1)
        third = turns_of(model.for_model("summary")[0])[2]
        assert third["id"] == "#3"
        assert [message["role"] for message in third["messages"]] == ["human", "ai", "tool", "ai"]
        assert third["messages"][1]["tool_calls"] == [{"name": "lookup_thread_messages", "args": {"refs": ["#1"]}}]
        assert "question 1" in third["messages"][2]["content"]
        assert third["messages"][3]["content"] == "it was question 1"

    async def test_a_turn_whose_answer_is_missing_is_not_compressed_yet(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        """CASES 11."""
        await driver.talk(2)
        model.then(tool_calls(call("lookup_thread_messages", {"refs": ["#1"]})), to="chat")
        gate = model.hold(lambda asked: asked.model == "chat" and asked.messages[-1]["role"] == "tool")
        third = asyncio.create_task(driver.send("question 3"))
        await model.wait_until(lambda: gate.waiting)
        third.cancel()
        with pytest.raises(asyncio.CancelledError):
            await third
        gate.release()
        last = (await driver.messages())[-1]
        assert last.type == "tool"
        await driver.run(handed_over(driver, human_count=3, last=str(last.id)))
        assert model.for_model("summary") == []

        await driver.send("question 4")
        await driver.remember()
        assert await driver.windows() == [(0, 2)]
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
        driver = await open_driver(memory_thread_summary_keep_recent=1)
        hidden = HumanMessage("<context>date</context>", additional_kwargs={"hide_from_ui": True})
        await driver.send(hidden, "I want to see Oslo")
        assert driver.server.started[0][1]["human_count"] == 1
        await driver.remember()
        assert model.for_model("title")[0].last_human_text == "I want to see Oslo"
        [turn] = turns_of(model.for_model("summary")[0])
        assert turn["id"] == "#1"
        assert turn["messages"][0] == {"role": "human", "content": "I want to see Oslo"}
        assert "date" not in model.for_model("summary")[0].last_human_text
        stored = [message for message in await driver.messages() if message.text == "I want to see Oslo"]
        assert (await driver.rows())[0].message_ids == [stored[0].id]

    async def test_a_call_with_numbers_that_json_has_not_does_not_hide_the_summary_of_its_turn(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        """On the way through the server such a number becomes null."""
        broken = '{"patches": [{"op": "add", "path": "/n", "value": [1, {"deep": NaN}]}]}'
        model.then(tool_calls(call("save_memory", broken)), text("I cannot."), to="chat")
        await driver.talk(4)
        assert await driver.windows() == [(0, 2)]
        assert "summary of: question 1" in model.for_model("chat")[-1].system_text
        await driver.talk(1)
        assert len(model.for_model("summary")) == 1

    async def test_two_messages_in_one_input_are_two_turns_with_the_ids_of_the_state(
        self, driver: MemoryDriver
    ) -> None:
        """CASES 4."""
        await driver.talk(1)
        await driver.send("first of two", "second of two")
        await driver.remember()
        humans = [message.id for message in await driver.messages() if message.type == "human"]
        assert len(humans) == 3
        assert (await driver.rows())[0].message_ids == humans

    async def test_the_row_tells_what_it_cost_and_saved(self, model: ModelServer, driver: MemoryDriver) -> None:
        await driver.talk(3)
        [row] = await driver.rows()
        assert row.token_count_before == -(-len(model.for_model("summary")[0].last_human_text) // 4)
        assert row.token_count_after > 0
        assert (row.message_count, row.trigger_reason) == (3, "turn_based")


class TestThreadState:
    async def test_no_background_run_changes_a_message(self, driver: MemoryDriver) -> None:
        """CASES 4."""
        await driver.send(HumanMessage("with an id", id="mine"), "and one without")
        await driver.talk(3, remembering=False)
        before = [message.model_dump() for message in await driver.messages()]
        checkpoint = await driver.here()
        await driver.remember(times=3)
        assert len(await driver.rows()) == 1
        assert [message.model_dump() for message in await driver.messages()] == before
        assert await driver.here() == checkpoint


def handed_over(driver: MemoryDriver, *, human_count: int, last: str) -> Turn:
    """What a dispatch would hand over, for a turn that never got to it."""
    return UserId("ana"), {
        "thread_id": driver.thread_id,
        "message_ids": [last],
        "human_count": human_count,
        "user_text": "",
        "assistant_text": "",
        "finished_at": "2026-03-01T12:00:00+00:00",
    }
