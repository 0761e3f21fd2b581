"""`lookup_thread_messages`: the model reads earlier turns of its own thread in their own words."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolCall, ToolMessage

from backend.llm.messages import estimate_tokens
from backend.tools.lookup_thread_messages import MAX_TURNS
from tests.support.memory_driver import MemoryDriver
from tests.support.memory_homes import Home, HomeInMemory
from tests.support.model_server import ModelServer, call, text, tool_calls

pytestmark = pytest.mark.anyio


@pytest.fixture
def home() -> Home:
    """Where memory is kept makes no difference here."""
    return HomeInMemory()


async def look_up(model: ModelServer, driver: MemoryDriver, refs: Any) -> ToolMessage:
    """A turn in which the model looks turns up; the result."""
    model.then(tool_calls(call("lookup_thread_messages", {"refs": refs})), text("As you said."), to="chat")
    assert await driver.send("what exactly did I say?") == "As you said."
    return [message for message in await driver.messages() if isinstance(message, ToolMessage)][-1]


def lines(result: ToolMessage) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.text.split("\n")]


async def test_turns_that_are_not_sent_any_more_are_read_in_their_own_words(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(12)
    assert "question 2\n" not in str(model.for_model("chat")[-1].messages[1:])
    result = await look_up(model, driver, ["#2", "#4"])
    assert result.status == "success"
    assert lines(result) == [
        {
            "id": f"#{n}",
            "messages": [
                {"role": "human", "content": f"question {n}"},
                {"role": "ai", "content": f"answer to question {n}"},
            ],
        }
        for n in (2, 4)
    ]


async def test_what_was_forgotten_for_good_as_a_summary_can_still_be_read_in_the_thread(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(9)
    await driver.memory.summaries.delete(driver.thread, rebuild=False)
    assert "question 1" in (await look_up(model, driver, ["#1"])).text


@pytest.mark.parametrize(
    ("refs", "found"),
    [
        pytest.param(["2"], ["#2"], id="without the sign"),
        pytest.param([" #2 "], ["#2"], id="with spaces"),
        pytest.param("#2", ["#2"], id="one text"),
        pytest.param('["#2", "#1"]', ["#2", "#1"], id="a list as JSON text"),
        pytest.param(["#2", "#2", "2"], ["#2"], id="the same twice"),
        pytest.param(["#3"], ["#3"], id="the current turn"),
    ],
)
async def test_labels_are_read_as_models_write_them(
    model: ModelServer, driver: MemoryDriver, refs: Any, found: Sequence[str]
) -> None:
    await driver.talk(2)
    result = await look_up(model, driver, refs)
    assert [line["id"] for line in lines(result)] == found


@pytest.mark.parametrize(
    "refs",
    [
        pytest.param(["#4"], id="beyond the thread"),
        pytest.param(["#0"], id="zero"),
        pytest.param(["#-1"], id="negative"),
        pytest.param(["#1", "all"], id="a word"),
        pytest.param(["#1.5"], id="a fraction"),
        pytest.param(["#²"], id="a digit that is no number"),
        pytest.param([""], id="empty"),
        pytest.param([], id="none"),
    ],
)
async def test_unknown_labels_are_refused_with_the_valid_range(
    model: ModelServer, driver: MemoryDriver, refs: Sequence[str]
) -> None:
    await driver.talk(2)
    result = await look_up(model, driver, refs)
    assert result.status == "error"
    assert "#1 to #3" in result.text


async def test_more_than_ten_turns_at_once_are_refused(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.talk(MAX_TURNS)
    assert "at most 10" in (await look_up(model, driver, [f"#{n}" for n in range(1, MAX_TURNS + 2)])).text
    assert len(lines(await look_up(model, driver, [f"#{n}" for n in range(1, MAX_TURNS + 1)]))) == MAX_TURNS


async def test_what_is_read_is_bounded_and_has_no_credentials(model: ModelServer, driver: MemoryDriver) -> None:
    secret = "ghp_" + "a1B2" * 9
    called: ToolCall = {"name": "read_log", "args": {}, "id": "c1", "type": "tool_call"}
    await driver.send(
        f"my token is {secret}",
        AIMessage("", tool_calls=[called]),
        ToolMessage("x" * 500_000, tool_call_id="c1"),
        AIMessage("y" * 50_000),
        "and now?",
    )
    result = await look_up(model, driver, ["#1"])
    assert estimate_tokens(result.text) <= 6_000
    assert secret not in result.text
    assert "my token is [redacted: github token]" in result.text
    assert "characters left out" in result.text


async def test_ten_long_turns_share_the_room(model: ModelServer, driver: MemoryDriver) -> None:
    model.when("chat", text("y" * 5_000))
    await driver.talk(MAX_TURNS)
    result = await look_up(model, driver, [f"#{n}" for n in range(1, MAX_TURNS + 1)])
    assert [line["id"] for line in lines(result)] == [f"#{n}" for n in range(1, MAX_TURNS + 1)]
    assert estimate_tokens(result.text) <= 6_000


async def test_only_the_thread_of_the_run_can_be_read(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.talk(3)
    other = driver.elsewhere()
    await other.send("a thread of its own")
    result = await look_up(model, other, ["#3"])
    assert "#1 to #2" in result.text
    assert "a thread of its own" in (await look_up(model, other, ["#1"])).text


async def test_it_works_without_a_user(model: ModelServer, driver: MemoryDriver) -> None:
    nobody = driver.elsewhere(user_id=None)
    await nobody.talk(1)
    assert "question 1" in (await look_up(model, nobody, ["#1"])).text
