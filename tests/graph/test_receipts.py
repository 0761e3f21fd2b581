"""What memory did for an answer, told with the answer and in the stream, without a word of what is remembered."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from backend.errors import StorageUnavailable
from backend.llm.messages import estimate_tokens
from tests.support.memory_driver import MemoryDriver
from tests.support.model_server import ModelServer, call, text, tool_calls
from tests.support.profile_patches import add

pytestmark = pytest.mark.anyio

OFF = {"used": False, "reason": "off", "items": 0, "tokens": 0}
EMPTY = {"used": False, "reason": "empty", "items": 0, "tokens": 0}
UNAVAILABLE = {"used": False, "reason": "unavailable", "items": 0, "tokens": 0}


async def receipt(driver: MemoryDriver) -> dict[str, Any]:
    """The receipt of the last answer."""
    answer = (await driver.messages())[-1]
    assert isinstance(answer, AIMessage)
    return answer.response_metadata["memory"]


async def test_without_a_user_memory_is_off(driver: MemoryDriver) -> None:
    nobody = driver.elsewhere(user_id=None)
    await nobody.send("hi")
    assert await receipt(nobody) == {
        "profile": OFF,
        "facts": OFF,
        "recalled": {**OFF, "ids": []},
        "earlier_conversation": OFF,
        "covered_end": None,
        "cut": 0,
        "messages_sent": 1,
        "messages_left_out": 0,
    }


async def test_with_nothing_remembered_it_is_empty(driver: MemoryDriver) -> None:
    await driver.send("hi")
    told = await receipt(driver)
    assert (told["profile"], told["earlier_conversation"]) == (EMPTY, EMPTY)


async def test_what_was_used_is_counted_and_not_told(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.memory.profile.save([add("city", "Reykjavik"), add("diet", "strictly vegan")])
    await driver.talk(7)
    told = await receipt(driver)
    system = model.for_model("chat")[-1].system_text
    memory = system.split("<memory>\n")[1].split("\n</memory>")[0]
    earlier = system.split("<earlier_conversation>\n")[1].split("\n</earlier_conversation>")[0]
    assert told == {
        "profile": {"used": True, "reason": "used", "items": 2, "tokens": estimate_tokens(memory)},
        "facts": EMPTY,
        "recalled": {**EMPTY, "ids": []},
        "earlier_conversation": {"used": True, "reason": "used", "items": 2, "tokens": estimate_tokens(earlier)},
        "covered_end": 5,
        "cut": 2,
        "messages_sent": 9,
        "messages_left_out": 4,
    }
    for content in ("Reykjavik", "vegan", "city", "diet", "question", "answer"):
        assert content not in json.dumps(told)


async def test_with_the_store_away_the_answer_comes_and_says_so(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.memory.profile.save([add("city", "Oslo")])
    await driver.talk(4)
    driver.process.forget_cached()
    driver.process.watch.error = StorageUnavailable()
    assert await driver.send("are you there?") == "answer to are you there?"
    told = await receipt(driver)
    assert (told["profile"], told["earlier_conversation"]) == (UNAVAILABLE, UNAVAILABLE)
    assert "<memory>" not in model.for_model("chat")[-1].system_text
    assert "covered_end" not in driver.server.started[-1][1], "what is not known is not said"

    driver.process.watch.error = None
    await driver.send("and now?")
    told = await receipt(driver)
    assert (told["profile"]["reason"], told["earlier_conversation"]["reason"]) == ("used", "used")


async def test_an_error_that_nobody_foresaw_degrades_in_the_same_way(driver: MemoryDriver) -> None:
    driver.process.watch.error = ConnectionError("no such host")
    assert await driver.send("are you there?") == "answer to are you there?"
    assert (await receipt(driver))["profile"] == UNAVAILABLE


async def test_a_profile_that_cannot_be_read_costs_only_the_profile(driver: MemoryDriver) -> None:
    await driver.talk(4)
    await driver.send("warm")
    driver.process.memories._caches.profiles.drop(None)  # pyright: ignore[reportPrivateUsage]
    driver.process.watch.error = StorageUnavailable()
    await driver.send("are you there?")
    told = await receipt(driver)
    assert told["profile"] == UNAVAILABLE
    assert told["earlier_conversation"]["reason"] == "used"


async def test_without_its_summaries_a_long_thread_is_sent_from_its_newest_turns(
    model: ModelServer, driver: MemoryDriver
) -> None:
    """Buffer and one window: what would be sent with summaries, and nothing that might be more than a model takes."""
    await driver.talk(20)
    driver.process.forget_cached()
    driver.process.watch.error = StorageUnavailable()
    await driver.send("and now?")
    sent = [message["content"] for message in model.for_model("chat")[-1].messages if message["role"] == "user"]
    assert sent == [*(f"question {number}" for number in range(14, 21)), "and now?"]
    assert (await receipt(driver))["cut"] == 13


async def test_the_stream_has_it_as_an_event_of_its_own(driver: MemoryDriver) -> None:
    await driver.memory.profile.save([add("city", "Oslo")])
    events = [
        event
        async for event in driver.graph.astream({"messages": [HumanMessage("hi")]}, driver.config, stream_mode="custom")
    ]
    assert events == [{"memory": await receipt(driver)}]
    assert events[0]["memory"]["profile"]["reason"] == "used"


async def test_every_call_of_a_turn_has_one(model: ModelServer, driver: MemoryDriver) -> None:
    patches = [{"op": "add", "path": "/city", "value": "Oslo"}]
    model.then(tool_calls(call("save_memory", {"patches": patches})), text("Noted."), to="chat")
    await driver.send("I live in Oslo")
    answers = [message for message in await driver.messages() if isinstance(message, AIMessage)]
    assert [one.response_metadata["memory"]["profile"]["reason"] for one in answers] == ["empty", "used"]


async def test_a_fence_is_told_as_no_block_and_a_later_cut(driver: MemoryDriver) -> None:
    await driver.talk(9)
    await driver.memory.summaries.delete(driver.thread, rebuild=False)
    await driver.send("and now?")
    told = await receipt(driver)
    assert told["earlier_conversation"] == EMPTY
    assert told["cut"] == 5
