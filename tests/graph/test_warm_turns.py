"""A warm turn asks the database one thing, what was said about its question; all else of memory is at hand."""

import pytest

from backend.errors import StorageUnavailable
from tests.support.conditions import eventually
from tests.support.memory_driver import MemoryDriver, OpenDriver
from tests.support.model_server import ModelServer
from tests.support.profile_patches import add
from tests.support.summaries import answer

pytestmark = pytest.mark.anyio


SEARCH = 1
"""The one query that every turn makes."""


async def test_a_turn_on_a_warm_cache_makes_no_query_but_the_search(driver: MemoryDriver) -> None:
    await driver.memory.profile.save([add("city", "Oslo")])
    await driver.talk(4)

    async def costs_nothing_more() -> bool:
        asked = driver.process.watch.asked
        await driver.send("and now?")
        return driver.process.watch.asked == asked + SEARCH

    await eventually(costs_nothing_more)
    assert await costs_nothing_more()
    assert driver.server.started[-1][1]["covered_end"] == 2, "the dispatch knew how far the summaries reach"
    answer = (await driver.messages())[-1]
    assert answer.response_metadata["memory"]["profile"]["items"] == 1
    assert answer.response_metadata["memory"]["earlier_conversation"]["items"] == 1


async def test_a_cold_turn_reads_each_once(driver: MemoryDriver) -> None:
    await driver.talk(4)
    driver.process.forget_cached()
    asked = driver.process.watch.asked
    await driver.send("and now?")
    cold = driver.process.watch.asked - asked
    assert SEARCH + 2 <= cold <= SEARCH + 6, "profile, account, rows, fence, facts; the dispatch finds them cached"


async def test_a_pass_is_shown_in_the_next_turn_of_the_process_that_made_it(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(4)
    assert "summary of: question 3" in model.for_model("chat")[-1].system_text


async def test_what_another_process_wrote_is_shown_soon(
    model: ModelServer, driver: MemoryDriver, open_driver: OpenDriver
) -> None:
    other = (await open_driver(memory_thread_summary_keep_recent=3)).elsewhere(thread_id=driver.thread_id)
    await other.send("hi")
    await driver.talk(3)
    await driver.memory.profile.save([add("city", "Bergen")])

    async def sees_it() -> bool:
        await other.send("and now?")
        system = model.for_model("chat")[-1].system_text
        return "Bergen" in system and "summary of: hi" in system

    await eventually(sees_it)


async def test_a_write_of_another_user_costs_nothing(driver: MemoryDriver) -> None:
    ben = driver.elsewhere(user_id="ben")
    await driver.talk(1)
    await ben.talk(1)

    async def costs_nothing() -> bool:
        await ben.memory.profile.save([add("city", "Oslo")])
        asked = driver.process.watch.asked
        await driver.send("and now?")
        return driver.process.watch.asked == asked + SEARCH

    await eventually(costs_nothing)


async def test_what_failed_to_load_is_read_again_by_the_next_turn(model: ModelServer, driver: MemoryDriver) -> None:
    model.when("chat", answer)
    await driver.memory.profile.save([add("city", "Oslo")])
    driver.process.watch.error = StorageUnavailable()
    await driver.send("hi")
    driver.process.watch.error = None
    await driver.send("hi")
    assert "Oslo" in model.for_model("chat")[-1].system_text
