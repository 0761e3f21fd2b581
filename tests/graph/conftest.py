from collections.abc import AsyncGenerator, Iterator

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.support.chat_driver import ChatDriver, make_chat_driver
from tests.support.model_server import ModelServer, structured, text


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model that routes to the chat agent and names threads; what the chat answers is scripted by each test."""
    with ModelServer() as server:
        server.when("router", structured({"subagent": "chat_agent"}))
        server.when("title", text("A fine title"))
        yield server


@pytest.fixture
async def chat(model: ModelServer) -> AsyncGenerator[ChatDriver]:
    async with make_chat_driver(model, InMemorySaver()) as driver:
        yield driver
