"""A run that a server begins again: `langgraph dev` does so, after a kill, with what was running when it last saved."""

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from tests.support.chat_driver import make_chat_driver
from tests.support.model_server import ModelServer, structured, text

pytestmark = pytest.mark.anyio


async def test_an_answered_turn_that_is_run_again_stays_as_it_is() -> None:
    with ModelServer() as model:
        model.when("router", structured({"subagent": "chat_agent"}))
        model.when("title", text("A fine title"))
        model.when("chat", text("Hello there."))
        async with make_chat_driver(model, InMemorySaver()) as driver:
            await driver.send(HumanMessage("hi", id="h1"))
            first = driver.server.started[-1]
            await driver.send(HumanMessage("hi", id="h1"))
            assert [message.text for message in await driver.messages()] == ["hi", "Hello there."]
            assert driver.server.started[-1][1]["message_ids"] == first[1]["message_ids"]
