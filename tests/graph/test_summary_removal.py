"""Summaries that are deleted, with and without a fence, and what a pass does that is under way meanwhile."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from tests.support.memory_driver import MemoryDriver
from tests.support.model_server import ModelServer
from tests.support.summaries import labels, windows_asked

pytestmark = pytest.mark.anyio

Removal = Callable[[MemoryDriver], Awaitable[object]]


@asynccontextmanager
async def pass_under_way(model: ModelServer, driver: MemoryDriver) -> AsyncGenerator[None]:
    """Inside the block the background run of the last turn waits for the model; behind it, it is done."""
    gate = model.hold("summary")
    running = asyncio.create_task(driver.remember())
    try:
        await model.wait_until(lambda: gate.waiting)
        yield
    finally:
        gate.release()
        await running


def sent_texts(model: ModelServer) -> str:
    """All that the last call of the chat model was sent, instructions and messages."""
    return "\n".join(str(message["content"]) for message in model.for_model("chat")[-1].messages)


class TestHealing:
    async def test_deleting_summaries_makes_the_next_turn_rewrite_them(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        await driver.talk(6)
        assert await driver.memory.summaries.delete(driver.thread, rebuild=True) == 2
        assert await driver.rows() == []
        await driver.talk(1)
        assert await driver.windows() == [(0, 5)]
        assert windows_asked(model)[-1] == labels(1, 6)
        await driver.talk(2)
        assert await driver.windows() == [(0, 5), (6, 8)]

    async def test_a_turn_before_they_are_rewritten_is_sent_whole(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        await driver.talk(9)
        await driver.memory.summaries.delete(driver.thread, rebuild=True)
        await driver.send("and now?")
        assert "<earlier_conversation>" not in sent_texts(model)
        assert "question 1" in sent_texts(model)


class TestFence:
    async def test_fenced_turns_are_neither_rewritten_nor_sent_and_later_turns_are_summarized(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        await driver.talk(6)
        await driver.memory.summaries.delete(driver.thread, rebuild=False)
        asked = len(windows_asked(model))
        await driver.talk(5)
        assert await driver.windows() == [(6, 8)]
        assert windows_asked(model)[asked:] == [labels(7, 9)]
        await driver.talk(1)
        assert await driver.windows() == [(6, 8), (9, 11)]
        sent = sent_texts(model)
        for number in range(1, 6):  # question 6 is one of the five before the newest pass
            assert f"question {number}\n" not in f"{sent}\n"
        assert "summary of: question 7" in sent
        assert (await driver.messages())[0].text == "question 1", "the thread itself keeps everything"

    async def test_right_behind_it_the_newest_turns_are_sent_as_they_are(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        await driver.talk(9)
        await driver.memory.summaries.delete(driver.thread, rebuild=False)
        await driver.send("and now?")
        sent = [
            str(message["content"]) for message in model.for_model("chat")[-1].messages if message["role"] == "user"
        ]
        assert sent == ["question 6", "question 7", "question 8", "question 9", "and now?"], "the buffer of five"
        assert "<earlier_conversation>" not in sent_texts(model)

    async def test_it_can_be_repeated_for_what_was_summarized_since(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        await driver.talk(3)
        await driver.memory.summaries.delete(driver.thread, rebuild=False)
        await driver.talk(3)
        await driver.memory.summaries.delete(driver.thread, rebuild=False)
        await driver.talk(5)
        assert await driver.windows() == [(6, 8)]
        assert windows_asked(model) == [labels(1, 3), labels(4, 6), labels(7, 9)]


async def purge(driver: MemoryDriver) -> object:
    return await driver.memory.summaries.purge(driver.thread)


async def delete_thread(driver: MemoryDriver) -> object:
    await driver.process.saver.adelete_thread(driver.thread)
    return await driver.process.services.forgetting.delete_thread(driver.thread, user_id=driver.memory.user_id)


async def thread_gone(driver: MemoryDriver) -> object:
    await driver.delete_thread()
    return await driver.process.services.forgetting.thread_gone(driver.thread)


async def erase_memory(driver: MemoryDriver) -> object:
    return await driver.process.services.forgetting.erase_memory(driver.memory.user_id)


async def erase_user(driver: MemoryDriver) -> object:
    await driver.process.saver.adelete_thread(driver.thread)
    return await driver.process.services.forgetting.erase_user(driver.memory.user_id)


class TestUnderWay:
    async def test_a_turn_that_arrives_during_a_pass_is_kept_and_not_part_of_it(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        """CASES 13."""
        await driver.talk(3, remembering=False)
        async with pass_under_way(model, driver):
            assert await driver.send("a turn meanwhile") == "answer to a turn meanwhile"
        assert await driver.windows() == [(0, 2)]
        assert "a turn meanwhile" not in model.for_model("summary")[0].last_human_text
        await driver.remember()
        await driver.talk(2)
        assert await driver.windows() == [(0, 2), (3, 5)]
        assert [message.text for message in await driver.messages() if message.type == "human"][3] == "a turn meanwhile"

    async def test_deleting_the_summaries_lets_it_write_nothing_and_the_next_turn_begins_anew(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        await driver.talk(3)
        await driver.talk(3, remembering=False)
        async with pass_under_way(model, driver):
            assert await driver.memory.summaries.delete(driver.thread, rebuild=True) == 1
        assert await driver.rows() == []
        await driver.talk(1)
        assert await driver.windows() == [(0, 5)]

    async def test_deleting_them_for_good_lets_it_write_nothing(self, model: ModelServer, driver: MemoryDriver) -> None:
        await driver.talk(3)
        await driver.talk(3, remembering=False)
        async with pass_under_way(model, driver):
            assert await driver.memory.summaries.delete(driver.thread, rebuild=False) == 1
        assert await driver.rows() == []
        await driver.talk(1)
        assert await driver.windows() == [(3, 5)], "what was not summarized then was not forgotten either"

    @pytest.mark.parametrize(
        "removal",
        [
            pytest.param(purge, id="purge"),
            pytest.param(delete_thread, id="our own endpoint"),
            pytest.param(thread_gone, id="the server's own"),
            pytest.param(erase_memory, id="erase the memory"),
            pytest.param(erase_user, id="erase the user"),
        ],
    )
    async def test_after_a_purge_it_writes_nothing(
        self, model: ModelServer, driver: MemoryDriver, removal: Removal
    ) -> None:
        await driver.talk(3)
        await driver.talk(3, remembering=False)
        async with pass_under_way(model, driver):
            await removal(driver)
        assert await driver.rows() == []
        assert list(await driver.process.ledger.threads_of("ana")) == []

    async def test_a_new_thread_of_the_same_id_is_summarized_from_its_beginning(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        await driver.talk(3)
        await driver.talk(3, remembering=False)
        async with pass_under_way(model, driver):
            await delete_thread(driver)
            anew = driver.elsewhere(thread_id=driver.thread_id)
            await anew.send("a new beginning")
        await anew.talk(2)
        [row] = await anew.rows()
        assert (row.sequence, row.start_message_index, row.end_message_index) == (1, 0, 2)
        assert row.summary.entries[0].question == "summary of: a new beginning"

    @pytest.mark.parametrize(
        "removal", [pytest.param(delete_thread, id="ours"), pytest.param(thread_gone, id="theirs")]
    )
    @pytest.mark.parametrize("load", [1, 2])
    async def test_a_thread_that_goes_right_after_its_messages_were_loaded_is_not_summarized(
        self, driver: MemoryDriver, removal: Removal, load: int
    ) -> None:
        """The run looks whether the turn is there, and loads it again once nobody else summarizes the thread."""
        await driver.talk(3, remembering=False)

        async def remove(number: int) -> None:
            if number == load:
                await removal(driver)

        driver.server.after_load = remove
        await driver.remember()
        assert driver.server.loads == load
        assert await driver.rows() == []

    async def test_a_run_of_a_thread_that_is_gone_asks_no_model_and_changes_nothing(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        await driver.talk(3, remembering=False)
        await delete_thread(driver)
        await driver.remember()
        assert model.for_model("summary") == []
        assert list(await driver.process.ledger.threads_of("ana")) == []
