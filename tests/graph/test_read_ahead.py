"""Memory is read while the router chooses: it is the same for every sub-agent, and an answer waits for the slower."""

import asyncio
from dataclasses import replace
from functools import partial

import pytest
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from backend import agent
from backend.accounts.run_context import run_context
from backend.chat.router import make_router_node
from backend.chat.state import ChatState
from backend.chat.turn_memory import RecentTurns, TurnMemories
from backend.llm.prompts import Prompts
from backend.llm.structured import StructuredCalls
from tests.support.conditions import until
from tests.support.memory_driver import MemoryDriver
from tests.support.model_server import Gate, ModelServer
from tests.support.profile_patches import add
from tests.support.recorded_turns import record_turns

pytestmark = pytest.mark.anyio


async def begin(driver: MemoryDriver, text: str) -> asyncio.Task[str]:
    """A turn whose router model does not answer yet, and whose memory is being read."""
    asked = driver.process.watch.asked
    turn = asyncio.create_task(driver.send(text))
    await until(lambda: driver.process.watch.asked > asked)
    return turn


@pytest.fixture
async def router(model: ModelServer, driver: MemoryDriver) -> Gate:
    """The router of a thread with one turn, held at the next."""
    await driver.talk(1)
    return model.hold("router")


async def test_memory_is_asked_before_the_router_has_answered(router: Gate, driver: MemoryDriver) -> None:
    turn = await begin(driver, "and now?")
    router.release()
    assert await turn == "answer to and now?"


async def test_what_is_saved_while_the_router_thinks_is_in_the_call(
    model: ModelServer, router: Gate, driver: MemoryDriver
) -> None:
    turn = await begin(driver, "and now?")
    await driver.memory.profile.save([add("city", "Bergen")])
    router.release()
    await turn
    assert "Bergen" in model.for_model("chat")[-1].system_text


async def test_what_is_erased_while_the_router_thinks_is_not_sent(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.memory.profile.save([add("city", "Bergen")])
    router = model.hold("router")
    turn = await begin(driver, "and now?")
    await driver.memory.profile.erase()
    router.release()
    await turn
    assert "Bergen" not in model.for_model("chat")[-1].system_text


async def test_a_call_with_other_messages_reads_anew(driver: MemoryDriver) -> None:
    """As in another run of the thread, of which the first ended at its router."""
    memories = TurnMemories(
        memory_of=driver.process.memories.in_run,
        read_context=partial(run_context, auth_mode="none", default_user=""),
        recent=RecentTurns(buffer=5, without_summaries=15),
    )
    store = driver.process.store
    await record_turns(driver.memory, ("My kayak is called Wanderer", "A fine name for a kayak."))

    async def notes_of(message_id: str) -> set[str]:
        messages: list[AnyMessage] = [HumanMessage("What is my kayak called?", id=message_id)]
        read = await memories.of_call({"messages": messages}, driver.config, store)
        assert read.items.sent is not None
        return set(read.items.sent.notes)

    await memories.read_ahead({"messages": [HumanMessage("My kayak?", id="h1")]}, driver.config, store)
    assert await notes_of("h2") == {"h2"}


async def test_reading_that_fails_does_not_fail_the_turn(model: ModelServer, driver: MemoryDriver) -> None:
    async def read_ahead(state: ChatState, config: RunnableConfig, store: BaseStore | None) -> None:
        raise RuntimeError

    services = driver.process.services
    router = make_router_node(
        model=services.models.for_role("router"),
        structured=StructuredCalls(),
        prompts=Prompts(),
        timeout_seconds=5,
        read_ahead=read_ahead,
    )
    nodes = replace(services.chat, router=router)
    driver.graph = agent.build(nodes).compile(checkpointer=driver.process.saver, store=driver.process.store)
    assert await driver.send("hi") == "answer to hi"
