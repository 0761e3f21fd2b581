"""Background runs that come twice, at once, late, from another process, or not at all."""

import asyncio
import dataclasses

import pytest
from structlog.testing import capture_logs

from backend.accounts.run_context import run_context
from backend.background.summarize import make_summarize_node
from backend.background_agent import build
from backend.errors import StorageUnavailable
from tests.support.memory_driver import MemoryDriver, OpenDriver
from tests.support.model_server import ModelServer, text
from tests.support.summaries import labels, windows_asked

pytestmark = pytest.mark.anyio


async def test_a_run_that_comes_again_changes_nothing(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.talk(6, remembering=False)
    turns = list(driver.server.started)
    await driver.remember(times=2)
    rows = await driver.rows()
    for turn in turns:
        await driver.run(turn)
    assert await driver.rows() == rows
    assert windows_asked(model) == [labels(1, 6)]


async def test_two_runs_at_once_ask_the_model_once_and_write_one_row(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.talk(3, remembering=False)
    turn = driver.server.started[-1]
    gate = model.hold("summary")
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(driver.run(turn))
        await model.wait_until(lambda: gate.waiting)
        await driver.run(turn)
        gate.release()
    assert len(model.for_model("summary")) == 1
    assert await driver.windows() == [(0, 2)]


async def test_runs_at_once_in_two_processes_ask_the_model_once_and_write_one_row(
    model: ModelServer, driver: MemoryDriver, open_driver: OpenDriver
) -> None:
    other = await open_driver(memory_thread_summary_keep_recent=3)
    await driver.talk(3, remembering=False)
    turn = driver.server.started[-1]
    gate = model.hold("summary")
    async with asyncio.TaskGroup() as tasks:
        runs = [tasks.create_task(one.run(turn)) for one in (driver, other, driver, other)]
        await model.wait_until(lambda: gate.waiting)
        gate.release()
    assert all(run.done() for run in runs)
    assert len(model.for_model("summary")) == 1
    assert await driver.windows() == [(0, 2)]


async def test_a_thread_whose_turns_are_served_by_two_processes_is_compressed_without_gap_or_overlap(
    model: ModelServer, driver: MemoryDriver, open_driver: OpenDriver
) -> None:
    other = (await open_driver(memory_thread_summary_keep_recent=3)).elsewhere(thread_id=driver.thread_id)
    for number in range(1, 13):
        one = (driver, other)[number % 2]
        await one.send(f"question {number}")
        await one.remember()
    assert await driver.windows() == [(0, 2), (3, 5), (6, 8), (9, 11)]
    assert windows_asked(model) == [labels(1, 3), labels(4, 6), labels(7, 9), labels(10, 12)]


async def test_the_run_of_an_older_turn_that_comes_late_changes_nothing(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(7, remembering=False)
    older, newest = driver.server.started[2], driver.server.started[-1]
    await driver.run(newest)
    assert await driver.windows() == [(0, 5)]
    await driver.run(older)
    await driver.run(driver.server.started[5])
    assert await driver.windows() == [(0, 5)]
    assert len(model.for_model("summary")) == 1


async def test_a_run_that_never_came_is_made_up_for_by_the_next(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.talk(3, remembering=False)
    driver.server.started.clear()
    await driver.talk(1)
    assert await driver.windows() == [(0, 2)]


async def test_a_turn_that_became_due_while_another_pass_ran_is_compressed_after_a_later_turn(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(3, remembering=False)
    gate = model.hold("summary")
    first = asyncio.create_task(driver.run(driver.server.started.pop()))
    await model.wait_until(lambda: gate.waiting)
    await driver.talk(3)
    gate.release()
    await first
    assert await driver.windows() == [(0, 2)]
    await driver.talk(1)
    assert await driver.windows() == [(0, 2), (3, 5)]


async def test_a_claim_that_was_left_by_a_process_that_died_ends_by_itself(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(3, remembering=False)
    turn = driver.server.started.pop()
    left_behind = await driver.process.ledger.claim("ana", driver.thread, seconds=600)
    await driver.run(turn)
    assert await driver.rows() == []
    assert left_behind is not None
    await driver.process.ledger.release("ana", driver.thread, left_behind)
    await driver.process.ledger.claim("ana", driver.thread, seconds=0)
    await driver.run(turn)
    assert await driver.windows() == [(0, 2)]


async def test_a_run_that_is_cancelled_in_the_model_leaves_the_thread_free(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(3, remembering=False)
    turn = driver.server.started.pop()
    gate = model.hold("summary")
    run = asyncio.create_task(driver.run(turn))
    await model.wait_until(lambda: gate.waiting)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    gate.release()
    await driver.run(turn)
    assert await driver.windows() == [(0, 2)]


async def test_a_turn_that_is_in_another_branch_by_now_is_given_up_after_a_while(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(3, remembering=False)
    abandoned = driver.server.started.pop()
    await driver.send_from(await driver.checkpoint_before(2), "another third question")
    impatient = dataclasses.replace(driver.process.services.summarizer, visible_seconds=0.05)
    node = make_summarize_node(
        summarizer=impatient,
        memory_of=driver.process.memories.in_run,
        read_context=lambda config: run_context(config, auth_mode="none", default_user=""),
    )
    nodes = dataclasses.replace(driver.process.services.background, summarize=node)
    driver.background = build(nodes).compile(store=driver.process.store)
    await driver.run(abandoned)
    assert model.for_model("summary") == []
    await driver.remember()
    assert await driver.windows() == [(0, 2)]


async def test_text_that_no_database_holds_is_cleaned(model: ModelServer, driver: MemoryDriver) -> None:
    model.then(text('{"entries": [{"question": "a\\u0000b\\ud800c", "answer": "noted", "refs": []}]}'), to="summary")
    await driver.talk(3)
    [row] = await driver.rows()
    assert row.summary.entries[0].question == "ab\ufffdc"


async def test_with_the_store_away_nothing_is_asked_and_a_later_turn_catches_up(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(3, remembering=False)
    driver.process.watch.error = StorageUnavailable()
    turn = driver.server.started[-1]
    await driver.run(turn)
    assert model.for_model("summary") == []
    driver.process.watch.error = None
    await driver.run(turn)
    assert await driver.windows() == [(0, 2)]


async def test_with_the_store_away_when_the_model_has_answered_nothing_is_written(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.talk(3, remembering=False)
    gate = model.hold("summary")
    run = asyncio.create_task(driver.remember())
    await model.wait_until(lambda: gate.waiting)
    driver.process.watch.error = StorageUnavailable()
    gate.release()
    await run
    driver.process.watch.error = None
    assert await driver.rows() == []


class TestLog:
    """One line a pass says why it was made or not, without a word of the conversation."""

    async def passes(self, driver: MemoryDriver, turns: int) -> list[dict[str, object]]:
        with capture_logs() as lines:
            await driver.talk(turns)
        assert "question" not in str(lines)
        return [dict(line) for line in lines if line["event"] == "summary_pass"]

    async def test_a_pass_tells_its_window_its_tokens_and_its_time(self, driver: MemoryDriver) -> None:
        lines = await self.passes(driver, 3)
        assert [line["fired"] for line in lines] == [False, False, True]
        assert [line["reason"] for line in lines[:2]] == ["not due", "not due"]
        [row] = await driver.rows()
        fired = lines[2]
        assert (fired["start"], fired["end"], fired["sequence"]) == (0, 2, 1)
        assert (fired["tokens_before"], fired["tokens_after"]) == (row.token_count_before, row.token_count_after)
        assert fired["chat_thread_id"] == driver.thread_id, "`thread_id` is the background run's own"
        assert isinstance(fired["seconds"], float)
