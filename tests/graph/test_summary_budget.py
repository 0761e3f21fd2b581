"""What is sent of a thread with more summaries than fit: the newest, and where to read what they leave out."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from backend.llm.messages import estimate_tokens
from backend.memory.summaries.earlier import MAX_EARLIER_TOKENS
from tests.support.memory_driver import MemoryDriver, OpenDriver
from tests.support.memory_homes import Home, HomeInMemory
from tests.support.model_server import ModelRequest, ModelServer, Reply, call, structured, text, tool_calls
from tests.support.summaries import answer, labels_of

pytestmark = pytest.mark.anyio

TURNS = 13
"""Each summarized by itself, in more tokens than a twelfth of what is shown of all."""
WORDS = "word " * (MAX_EARLIER_TOKENS // 12)


def wordy_summary(request: ModelRequest) -> Reply:
    [label] = labels_of(request)
    return structured({"entries": [{"question": f"all of {label}", "answer": WORDS, "refs": [label]}]})


@pytest.fixture
def home() -> Home:
    """Where memory is kept makes no difference here."""
    return HomeInMemory()


@pytest.fixture
async def driver(model: ModelServer, open_driver: OpenDriver) -> MemoryDriver:
    model.when("chat", answer)
    model.when("summary", wordy_summary)
    driver = await open_driver(memory_thread_summary_keep_recent=1)
    await driver.talk(TURNS)
    return driver


def earlier(model: ModelServer) -> str:
    system = model.for_model("chat")[-1].system_text
    return system.split("<earlier_conversation>\n")[1].split("\n</earlier_conversation>")[0]


async def receipt(driver: MemoryDriver) -> dict[str, Any]:
    last = (await driver.messages())[-1]
    assert isinstance(last, AIMessage)
    return last.response_metadata["memory"]


async def test_the_newest_are_shown_and_the_receipt_counts_those(model: ModelServer, driver: MemoryDriver) -> None:
    lead, *shown = earlier(model).split("\n\n")
    left_out = TURNS - 1 - len(shown)
    assert left_out > 0
    assert f"of #1 to #{left_out} are left out" in lead
    assert shown[0].startswith(f"Q (#{left_out + 1}): all of #{left_out + 1}")
    told = await receipt(driver)
    assert told["earlier_conversation"] == {
        "used": True,
        "reason": "used",
        "items": len(shown),
        "tokens": estimate_tokens(earlier(model)),
    }
    assert len(await driver.rows()) == TURNS, "all of them are kept"


async def test_what_is_left_out_still_moves_the_cut_and_can_be_read(model: ModelServer, driver: MemoryDriver) -> None:
    model.then(tool_calls(call("lookup_thread_messages", {"refs": ["#1"]})), text("As you said."), to="chat")
    await driver.send("what did I say first?")
    assert (await receipt(driver))["cut"] == TURNS + 1 - 5
    [result] = [message for message in await driver.messages() if isinstance(message, ToolMessage)]
    assert "question 1" in result.text
    assert "'question 1'" not in str(model.for_model("chat")[-2].messages[1:])


async def test_after_their_removal_those_that_are_written_again_are_shown(
    model: ModelServer, driver: MemoryDriver
) -> None:
    model.when("summary", lambda _: structured({"entries": [{"question": "all", "answer": "again", "refs": ["#1"]}]}))
    await driver.memory.summaries.delete(driver.thread, rebuild=True)
    await driver.talk(2)
    assert earlier(model).startswith("Q (#1): all\nA: again")
