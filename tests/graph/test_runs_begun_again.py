"""A run that a server begins again: `langgraph dev` does so, after a kill, with what was running when it last saved."""

from collections.abc import AsyncGenerator

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from tests.support.chat_driver import ChatDriver, make_chat_driver
from tests.support.model_server import ModelServer, structured, text

pytestmark = pytest.mark.anyio


@pytest.fixture
async def driver() -> AsyncGenerator[ChatDriver]:
    with ModelServer() as model:
        model.when("router", structured({"subagent": "chat_agent"}))
        model.when("title", text("A fine title"))
        model.when("chat", lambda request: text(f"answer to {request.last_human_text}"))
        async with make_chat_driver(model, InMemorySaver()) as driver:
            yield driver


async def texts(driver: ChatDriver) -> list[str]:
    return [message.text for message in await driver.messages()]


async def test_an_answered_turn_that_is_run_again_stays_as_it_is(driver: ChatDriver) -> None:
    await driver.send(HumanMessage("hi", id="h1"))
    first = driver.server.started[-1]
    await driver.send(HumanMessage("hi", id="h1"))
    assert await texts(driver) == ["hi", "answer to hi"]
    assert driver.server.started[-1] == first


async def test_an_answered_turn_that_was_not_handed_over_yet_is_handed_over(driver: ChatDriver) -> None:
    """As when the server was killed between the answer and the end of the turn."""
    answered = {"messages": [HumanMessage("hi", id="h1"), AIMessage("hello", id="a1")]}
    await driver.graph.aupdate_state(driver.config, answered, as_node="chat_agent")
    await driver.send(HumanMessage("hi", id="h1"))
    assert await texts(driver) == ["hi", "hello"]
    assert driver.server.started[-1][1]["message_ids"] == ["h1", "a1"]


async def test_a_message_that_is_sent_again_with_other_words_is_answered(driver: ChatDriver) -> None:
    await driver.send(HumanMessage("hi", id="h1"))
    await driver.send(HumanMessage("bye", id="h1"))
    assert await texts(driver) == ["bye", "answer to hi", "answer to bye"]
