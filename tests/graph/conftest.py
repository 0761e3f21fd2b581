from collections.abc import AsyncIterator, Iterator

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.support.chat_driver import ChatDriver, make_chat_driver
from tests.support.memory_driver import MemoryDriver, OpenDriver, memory_drivers
from tests.support.memory_homes import Home, HomeInMemory, HomeInPostgres
from tests.support.model_server import ModelServer, structured, text
from tests.support.summaries import answer, summary


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model that routes to the chat agent and names threads; what the chat answers is scripted by each test."""
    with ModelServer() as server:
        server.when("router", structured({"subagent": "chat_agent"}))
        server.when("title", text("A fine title"))
        yield server


@pytest.fixture
async def chat(model: ModelServer) -> AsyncIterator[ChatDriver]:
    async with make_chat_driver(model, InMemorySaver()) as driver:
        yield driver


@pytest.fixture(params=["memory", "postgres"])
def home(request: pytest.FixtureRequest) -> Home:
    """Where what is remembered is kept."""
    return HomeInMemory() if request.param == "memory" else HomeInPostgres(request.getfixturevalue("database_url"))


@pytest.fixture
async def open_driver(home: Home, model: ModelServer) -> AsyncIterator[OpenDriver]:
    """Opens drivers of both graphs, each in a process of its own."""
    async with memory_drivers(home, model) as open_driver:
        yield open_driver


@pytest.fixture
async def driver(model: ModelServer, open_driver: OpenDriver) -> MemoryDriver:
    """A thread that is summarized every three turns, with models that repeat what they are given."""
    model.when("chat", answer)
    model.when("summary", summary)
    return await open_driver(memory_thread_summary_keep_recent=3)
