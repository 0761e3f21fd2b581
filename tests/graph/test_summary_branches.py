"""A summary counts only in the branch whose turns it was made from: the model never reads one of another text."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage

from tests.support.memory_driver import MemoryDriver
from tests.support.model_server import ModelServer, text
from tests.support.summaries import labels, windows_asked

pytestmark = pytest.mark.anyio


def system_text(model: ModelServer) -> str:
    return model.for_model("chat")[-1].system_text


def sent_questions(model: ModelServer) -> list[str]:
    return [str(message["content"]) for message in model.for_model("chat")[-1].messages if message["role"] == "user"]


async def update(driver: MemoryDriver, *messages: object) -> None:
    """As a client changes a thread's state."""
    await driver.graph.aupdate_state(driver.config, {"messages": list(messages)})


async def message_id(driver: MemoryDriver, said: str) -> str:
    return next(str(message.id) for message in await driver.messages() if message.text == said)


async def test_after_an_edit_of_an_earlier_message_its_summary_is_neither_shown_nor_counted(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(6)
    await driver.send_from(await driver.checkpoint_before(1), "question 2, edited")
    assert "<earlier_conversation>" not in system_text(model)
    assert sent_questions(model) == ["question 1", "question 2, edited"]
    await driver.remember()
    await driver.talk(1)
    assert windows_asked(model)[-1] == labels(1, 3)
    await driver.send("go on")
    assert "summary of: question 2, edited" in system_text(model)
    assert "summary of: question 2\n" not in system_text(model)
    assert "summary of: question 4" not in system_text(model)


async def test_an_edit_behind_the_first_summary_leaves_that_one_and_drops_the_second(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(6)
    await driver.send_from(await driver.checkpoint_before(4), "question 5, edited")
    assert "summary of: question 3" in system_text(model)
    assert "summary of: question 4" not in system_text(model)
    await driver.remember()
    await driver.talk(1)
    assert windows_asked(model)[-1] == labels(4, 6)
    assert [(row.start_message_index, row.sequence) for row in await driver.rows()] == [(0, 1), (3, 2), (3, 3)]


async def test_after_another_answer_to_the_same_message_the_summary_of_the_old_one_is_not_shown(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(3)
    third = (await driver.messages())[4]
    assert isinstance(third, HumanMessage)
    model.then(text("a better answer"), to="chat")
    await driver.send_from(await driver.checkpoint_before(2), third)
    assert [message.id for message in await driver.messages()][4] == third.id
    assert "<earlier_conversation>" not in system_text(model)
    await driver.remember()
    assert windows_asked(model) == [labels(1, 3), labels(1, 3)]
    await driver.talk(1)
    assert "a better answer" in system_text(model)
    assert "answer to question 3" not in system_text(model)


async def test_going_back_to_a_branch_finds_its_summaries_again(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.talk(3)
    old_branch = await driver.here()
    await driver.send_from(await driver.checkpoint_before(1), "question 2, edited")
    await driver.remember()
    await driver.talk(3)
    assert "summary of: question 2, edited" in system_text(model)
    await driver.send_from(old_branch, "back again")
    assert "summary of: question 2\n" in system_text(model)
    assert "edited" not in system_text(model)
    await driver.remember()
    assert len(windows_asked(model)) == 2, "nothing had to be written again"


async def test_two_branches_of_one_thread_are_summarized_side_by_side(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.talk(3)
    old_branch = await driver.here()
    await driver.send_from(await driver.checkpoint_before(1), "another second question")
    await driver.remember()
    await driver.talk(1)
    new_branch = await driver.here()
    for number in (4, 5, 6):
        await driver.send_from(old_branch, f"question {number}, old branch")
        old_branch = await driver.here()
        await driver.remember()
        await driver.send_from(new_branch, f"question {number}, new branch")
        new_branch = await driver.here()
        await driver.remember()
    assert sorted(await driver.windows()) == [(0, 2), (0, 2), (3, 5), (3, 5)]
    for branch, other, mine in ((old_branch, "new", "old"), (new_branch, "old", "new")):
        await driver.send_from(branch, "and now?")
        assert f"summary of: question 5, {mine} branch" in system_text(model)
        assert f"{other} branch" not in system_text(model)


async def test_summaries_that_are_removed_for_good_come_back_in_no_branch(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(3)
    old_branch = await driver.here()
    await driver.send_from(await driver.checkpoint_before(1), "another second question")
    await driver.remember()
    await driver.talk(1)
    new_branch = await driver.here()
    assert await driver.memory.summaries.delete(driver.thread, rebuild=False) == 2
    asked = len(windows_asked(model))
    for branch in (old_branch, new_branch):
        await driver.send_from(branch, "go on")
        await driver.remember()
    assert await driver.rows() == []
    assert len(windows_asked(model)) == asked


@pytest.mark.parametrize(
    ("removed", "gone"),
    [
        pytest.param("question 2", "summary of: question 2", id="a question"),
        pytest.param("answer to question 2", "answer to question 2", id="an answer"),
    ],
)
async def test_when_a_message_was_removed_its_summary_goes_with_it(
    model: ModelServer, driver: MemoryDriver, removed: str, gone: str
) -> None:
    await driver.talk(3)
    await update(driver, RemoveMessage(id=await message_id(driver, removed)))
    await driver.send("go on")
    assert "<earlier_conversation>" not in system_text(model)
    await driver.remember()
    await driver.send("go on")
    await driver.remember()
    await driver.send("go on")
    assert "summary of: question 1" in system_text(model)
    assert gone not in system_text(model)


async def test_when_a_message_was_changed_in_place_the_summary_of_the_old_words_is_not_shown(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(3)
    changed = HumanMessage("question 2, corrected", id=await message_id(driver, "question 2"))
    await update(driver, changed)
    await driver.send("go on")
    assert "<earlier_conversation>" not in system_text(model)
    await driver.remember()
    await driver.send("go on")
    assert "summary of: question 2, corrected" in system_text(model)


async def test_a_message_after_the_summarized_turns_may_change_and_the_summary_stays(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(4)
    await update(driver, AIMessage("another answer", id=await message_id(driver, "answer to question 4")))
    await driver.send("go on")
    assert "summary of: question 3" in system_text(model)


async def test_a_copied_thread_starts_without_summaries_and_earns_its_own(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(3)
    copy = driver.elsewhere()
    await update(copy, *await driver.messages())
    await copy.send("go on")
    assert "<earlier_conversation>" not in system_text(model)
    await copy.remember()
    assert await copy.windows() == [(0, 2)]
    await copy.send("go on")
    assert "summary of: question 1" in system_text(model)
    assert [row.sequence for row in await driver.rows()] == [1]


async def test_a_fence_holds_in_another_branch_for_the_turns_that_both_share(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(3)
    await driver.memory.summaries.delete(driver.thread, rebuild=False)
    await driver.send_from(await driver.checkpoint_before(1), "another second question")
    await driver.remember()
    await driver.talk(2)
    assert await driver.windows() == [(1, 3)]
    assert windows_asked(model)[-1] == labels(2, 4)


async def test_what_the_framework_adds_to_a_summarized_turn_does_not_count_against_it(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(3)
    hidden = HumanMessage("<context>date</context>", additional_kwargs={"hide_from_ui": True})
    await driver.send(hidden, "go on")
    assert "summary of: question 3" in system_text(model)
