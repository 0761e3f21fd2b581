"""Memory is read while the router chooses: it is the same for every sub-agent, and an answer waits for the slower."""

import asyncio

import pytest

from tests.support.conditions import until
from tests.support.memory_driver import MemoryDriver
from tests.support.model_server import Gate, ModelServer
from tests.support.profile_patches import add

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


async def test_a_turn_that_ended_at_the_router_leaves_nothing_to_the_next_one(
    model: ModelServer, router: Gate, driver: MemoryDriver
) -> None:
    turn = await begin(driver, "never mind")
    turn.cancel()
    await asyncio.wait([turn])
    router.release()
    await driver.send("and now?")
    assert model.for_model("chat")[-1].last_human_text == "and now?"
    assert (await driver.messages())[-1].response_metadata["memory"]["messages_sent"] == 4
