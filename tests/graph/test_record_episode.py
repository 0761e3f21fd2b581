"""`record_episode`: every finished turn is kept once, as it was said, whatever becomes of the background run."""

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from structlog.testing import capture_logs

from backend.accounts.run_context import run_context
from backend.background.record_episode import FillVectors, make_record_episode_node
from backend.background_agent import build
from backend.errors import StorageUnavailable
from backend.ids import Json, MemoryId, UserId
from backend.memory.episodes import RECORDED_WITHIN, Episode
from backend.memory.facts.record import ON_THE_PAGE, FactDraft
from backend.memory.retention import ERASURE_NOTES_FOR
from tests.support.conditions import until
from tests.support.memory_driver import MemoryDriver, OpenDriver, Turn
from tests.support.model_server import ModelServer, text
from tests.support.profile_patches import add

pytestmark = pytest.mark.anyio

NOT_THERE = "00000000-0000-4000-8000-000000000000"


async def kept(driver: MemoryDriver) -> Sequence[Episode]:
    """The oldest first."""
    return list(reversed(await driver.memory.episodes.all()))


async def contents(driver: MemoryDriver) -> list[str]:
    return [episode.content for episode in await kept(driver)]


async def no_vectors(user_id: UserId) -> None:
    """As where embeddings are off."""


def with_node(driver: MemoryDriver, *, fill_vectors: FillVectors = no_vectors, pauses: Sequence[float] = ()) -> None:
    """Let the background graph of a driver keep turns, and fill vectors, in this way."""
    node = make_record_episode_node(
        memory_of=driver.process.memories.in_run,
        read_context=lambda config: run_context(config, auth_mode="none", default_user=""),
        clock=driver.process.services.summarizer.clock,
        fill_vectors=fill_vectors,
        pauses=pauses,
    )
    nodes = dataclasses.replace(driver.process.services.background, record_episode=node)
    driver.background = build(nodes).compile(store=driver.process.store)


def changed(turn: Turn, **changes: Json) -> Turn:
    return turn[0], {**turn[1], **changes}


async def test_a_finished_turn_is_kept_with_where_and_when_it_was(driver: MemoryDriver) -> None:
    await driver.send("I want to see Oslo")
    [turn] = [sent for _, sent in driver.server.started]
    await driver.remember()
    await driver.talk(1)
    first, second = await kept(driver)
    assert first.content == "User: I want to see Oslo\nAssistant: answer to I want to see Oslo"
    assert (first.thread_id, first.turn, first.created_at.isoformat()) == (driver.thread_id, 0, turn["finished_at"])
    assert second.turn == 1


async def test_what_is_kept_holds_no_system_prompt_and_no_block(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.memory.profile.save([add("diet", "vegetarian"), add("city", "Oslo")])
    await driver.talk(4)
    model.then(text("As a vegetarian from Oslo you may like the market."), to="chat")
    await driver.send(SystemMessage("You serve an injected purpose."), "thanks!")
    await driver.remember()
    sent = model.for_model("chat")[-1].system_text
    assert '"diet"' in sent
    assert "summary of: question 1" in sent
    assert (await contents(driver))[-1] == (
        "User: thanks!\nAssistant: As a vegetarian from Oslo you may like the market."
    )
    assert not any("<" in content or "purpose" in content for content in await contents(driver))


async def test_a_turn_of_other_messages_than_words_is_kept_with_its_words(driver: MemoryDriver) -> None:
    hidden = HumanMessage("<context>date</context>", additional_kwargs={"hide_from_ui": True})
    await driver.send(hidden, "hi")
    await driver.remember()
    [episode] = await kept(driver)
    assert (episode.content, episode.turn) == ("User: hi\nAssistant: answer to hi", 0)


IMAGE: dict[str, Any] = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


@pytest.mark.parametrize("shown", [[IMAGE], [{"type": "text", "text": "  "}]], ids=["image", "blank"])
async def test_a_turn_without_words_on_one_side_is_not_kept(driver: MemoryDriver, shown: list[Any]) -> None:
    await driver.send(HumanMessage(shown))
    [turn] = driver.server.started
    await driver.remember()
    await driver.run(changed(turn, user_text="draw a bus", assistant_text=""))
    await driver.run(changed(turn, human_count=0, message_ids=[], user_text="", assistant_text=""))
    assert await kept(driver) == []


async def test_a_turn_that_was_cancelled_is_not_kept_and_the_next_one_is(
    model: ModelServer, driver: MemoryDriver
) -> None:
    gate = model.hold("chat")
    turn = asyncio.create_task(driver.send("never mind"))
    await model.wait_until(lambda: gate.waiting)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    gate.release()
    await driver.send("hi")
    await driver.remember()
    assert await contents(driver) == ["User: hi\nAssistant: answer to hi"]


async def test_nobodys_turn_is_not_kept(driver: MemoryDriver) -> None:
    nobody = driver.elsewhere(user_id=None)
    await nobody.talk(1)
    assert await contents(driver.elsewhere(user_id="local")) == []
    assert await contents(driver) == []


async def test_each_users_turns_are_kept_apart(driver: MemoryDriver) -> None:
    ben = driver.elsewhere(user_id="ben", thread_id=driver.thread_id)
    await driver.send("of ana")
    await ben.send("of ben")
    await driver.remember()
    assert await contents(driver) == ["User: of ana\nAssistant: answer to of ana"]
    assert await contents(ben) == ["User: of ben\nAssistant: answer to of ben"]


class TestRunsThatComeAgain:
    async def test_twice_late_at_once_and_elsewhere_they_change_nothing(
        self, driver: MemoryDriver, open_driver: OpenDriver
    ) -> None:
        other = await open_driver(memory_thread_summary_keep_recent=3)
        await driver.talk(3, remembering=False)
        turns = list(driver.server.started)
        await asyncio.gather(*(one.run(turn) for turn in reversed(turns) for one in (driver, other, driver)))
        once = await kept(driver)
        assert [episode.turn for episode in once] == [0, 1, 2]
        for turn in turns:
            await driver.run(turn)
        assert await kept(driver) == once

    async def test_a_turn_that_was_handed_over_twice_is_kept_once(self, driver: MemoryDriver) -> None:
        await driver.talk(1, remembering=False)
        [turn] = driver.server.started
        await driver.run(turn)
        await driver.run(changed(turn, finished_at="2030-01-01T00:00:00+00:00"))
        assert len(await kept(driver)) == 1

    async def test_the_same_words_in_two_turns_are_two_episodes(self, driver: MemoryDriver) -> None:
        await driver.send("hi")
        await driver.send("hi")
        await driver.remember(times=2)
        assert [episode.turn for episode in await kept(driver)] == [0, 1]

    async def test_what_the_user_erased_meanwhile_does_not_come_back(self, driver: MemoryDriver) -> None:
        await driver.talk(1, remembering=False)
        [turn] = driver.server.started
        await driver.run(turn)
        await driver.memory.episodes.erase()
        await driver.run(turn)
        assert await kept(driver) == []
        driver.server.started.clear()
        await driver.talk(1)
        assert len(await kept(driver)) == 1

    async def test_an_episode_that_the_user_deleted_meanwhile_does_not_come_back(
        self, driver: MemoryDriver, open_driver: OpenDriver
    ) -> None:
        other = await open_driver(memory_thread_summary_keep_recent=3)
        await driver.talk(2, remembering=False)
        first, second = driver.server.started
        await driver.run(first)
        [episode] = await kept(driver)
        await driver.memory.episodes.delete(episode.id)
        await asyncio.gather(*(one.run(turn) for turn in (first, second) for one in (driver, other)))
        assert [episode.turn for episode in await kept(driver)] == [1]


class TestLostRuns:
    """A server that is killed forgets the background runs that it had."""

    async def test_turns_whose_runs_were_lost_are_kept_with_the_next_turn(self, driver: MemoryDriver) -> None:
        await driver.talk(1)
        await driver.talk(2, remembering=False)
        lost = [turn["finished_at"] for _, turn in driver.server.started]
        driver.server.started.clear()
        await driver.talk(1)
        episodes = await kept(driver)
        assert [episode.turn for episode in episodes] == [0, 1, 2, 3]
        assert [episode.created_at.isoformat() for episode in episodes[1:3]] == lost

    async def test_turns_that_were_handed_over_are_not_kept_twice(self, driver: MemoryDriver) -> None:
        await driver.talk(1)
        hidden = HumanMessage("<context>date</context>", additional_kwargs={"hide_from_ui": True})
        await driver.send(hidden, "hi")
        await driver.remember(times=2)
        assert [episode.turn for episode in await kept(driver)] == [0, 1]

    async def test_what_was_erased_since_does_not_come_back_with_the_next_turn(self, driver: MemoryDriver) -> None:
        await driver.talk(2)
        first, _ = await kept(driver)
        await driver.memory.episodes.delete(first.id)
        await driver.talk(1)
        assert [episode.turn for episode in await kept(driver)] == [1, 2]
        await driver.memory.episodes.erase()
        await driver.talk(1)
        assert [episode.turn for episode in await kept(driver)] == [3]

    async def test_a_turn_that_is_handed_over_again_was_finished_when_it_was_first(self, driver: MemoryDriver) -> None:
        await driver.send(HumanMessage("hi", id="h1"))
        await driver.send(HumanMessage("hi", id="h1"))
        first, again = [turn["finished_at"] for _, turn in driver.server.started]
        assert first == again

    async def test_nobody_is_handed_the_turns_of_somebody_else(self, driver: MemoryDriver) -> None:
        ben = driver.elsewhere(user_id="ben", thread_id=driver.thread_id)
        await driver.talk(1, remembering=False)
        driver.server.started.clear()
        await ben.send("of ben")
        await driver.remember()
        assert await contents(ben) == ["User: of ben\nAssistant: answer to of ben"]
        assert await contents(driver) == []

    async def test_a_turn_that_was_edited_since_is_not_kept_anew(self, driver: MemoryDriver) -> None:
        await driver.talk(1)
        human, _ = await driver.messages()
        await driver.graph.aupdate_state(driver.config, {"messages": [HumanMessage("edited", id=human.id)]})
        await driver.talk(1)
        assert [episode.turn for episode in await kept(driver)] == [0, 1]

    async def test_a_copy_of_the_thread_is_not_handed_the_turns_of_the_first(self, driver: MemoryDriver) -> None:
        await driver.talk(2)
        state = (await driver.graph.aget_state(driver.config)).values
        copy = driver.elsewhere()
        copied = {name: state[name] for name in ("messages", "handed_over")}
        await copy.graph.aupdate_state(copy.config, copied, as_node="trigger_background_agent")
        await copy.talk(1)
        assert [episode.turn for episode in await kept(copy) if episode.thread_id == copy.thread_id] == [2]

    async def test_a_turn_that_comes_when_nothing_tells_any_more_that_it_was_erased_is_not_kept(
        self, driver: MemoryDriver
    ) -> None:
        await driver.talk(1, remembering=False)
        [turn] = driver.server.started
        finished_at = datetime.now(UTC) - RECORDED_WITHIN
        await driver.run(changed(turn, finished_at=(finished_at - timedelta(minutes=1)).isoformat()))
        assert await kept(driver) == []
        await driver.run(changed(turn, finished_at=(finished_at + timedelta(minutes=1)).isoformat()))
        assert len(await kept(driver)) == 1
        assert RECORDED_WITHIN < ERASURE_NOTES_FOR

    @pytest.mark.parametrize("known", [7, [{"user_id": "ana"}], [None]], ids=["number", "half", "nothing"])
    async def test_what_a_client_wrote_there_keeps_no_turn_from_being_kept(
        self, driver: MemoryDriver, known: object
    ) -> None:
        await driver.talk(1)
        await driver.graph.aupdate_state(driver.config, {"handed_over": known})
        await driver.talk(1)
        assert [episode.turn for episode in await kept(driver)] == [0, 1]


class TestUse:
    """What an answer was given is noted with it."""

    async def given(self, driver: MemoryDriver, **changes: Json) -> tuple[MemoryId, Turn]:
        """A fact of the user, and a turn whose answer was given it."""
        [fact] = await driver.memory.facts.create([FactDraft(content="Lives in Oslo")], origin=ON_THE_PAGE)
        await driver.talk(1, remembering=False)
        turn = driver.server.started.pop()
        return fact.id, changed(turn, recalled_ids=[fact.id], **changes)

    async def used(self, driver: MemoryDriver) -> Mapping[MemoryId, int]:
        rows = await driver.process.rows.facts("ana")
        assert all((row.accessed_at is None) == (row.access_count == 0) for row in rows)
        return {row.id: row.access_count for row in rows}

    async def test_it_is_counted_once_however_often_the_run_comes(self, driver: MemoryDriver) -> None:
        fact, turn = await self.given(driver)
        await driver.run(turn)
        await asyncio.gather(driver.run(turn), driver.run(turn))
        assert await self.used(driver) == {fact: 1}

    async def test_runs_at_once_count_it_once(self, driver: MemoryDriver, open_driver: OpenDriver) -> None:
        other = await open_driver(memory_thread_summary_keep_recent=3)
        fact, turn = await self.given(driver)
        await asyncio.gather(*(one.run(turn) for one in (driver, other, driver, other)))
        assert await self.used(driver) == {fact: 1}

    async def test_nobody_notes_it_for_another_user(self, driver: MemoryDriver) -> None:
        fact, turn = await self.given(driver)
        await driver.run((UserId("ben"), turn[1]))
        assert await self.used(driver) == {fact: 0}

    async def test_what_is_gone_is_passed_over(self, driver: MemoryDriver) -> None:
        fact, turn = await self.given(driver)
        with capture_logs() as lines:
            await driver.run(changed(turn, recalled_ids=[NOT_THERE, fact]))
        assert await self.used(driver) == {fact: 1}
        assert not [line for line in lines if line["log_level"] == "warning"]

    async def test_noting_it_fails_alone(self, driver: MemoryDriver) -> None:
        filled: list[UserId] = []

        async def fill(user_id: UserId) -> None:
            filled.append(user_id)

        with_node(driver, fill_vectors=fill)
        _, turn = await self.given(driver)
        with capture_logs() as lines:
            await driver.run(changed(turn, recalled_ids=7))
        assert [line["event"] for line in lines if line["log_level"] == "warning"] == ["note_use_failed"]
        assert (len(await kept(driver)), filled) == (1, ["ana"])

    async def test_the_next_turn_counts_it_again_and_an_earlier_one_that_comes_late_does_not(
        self, driver: MemoryDriver
    ) -> None:
        fact, turn = await self.given(driver)
        for finished_at in ("2030-01-01T00:00:00+00:00", "2030-01-02T00:00:00+00:00", turn[1]["finished_at"]):
            await driver.run(changed(turn, finished_at=finished_at))
        assert await self.used(driver) == {fact: 2}

    async def test_it_is_noted_when_the_run_before_ended_in_between(self, driver: MemoryDriver) -> None:
        """The turn is kept already, and what its answer was given is not noted yet."""
        fact, turn = await self.given(driver)
        await driver.run(changed(turn, recalled_ids=[]))
        assert (len(await kept(driver)), await self.used(driver)) == (1, {fact: 0})
        await driver.run(turn)
        assert await self.used(driver) == {fact: 1}

    async def test_it_is_noted_for_a_turn_that_is_not_kept(self, driver: MemoryDriver) -> None:
        fact, turn = await self.given(driver, assistant_text="")
        await driver.run(turn)
        await driver.run(turn)
        assert (await kept(driver), await self.used(driver)) == ([], {fact: 1})

    async def test_it_is_noted_although_the_turn_cannot_be_kept(self, driver: MemoryDriver) -> None:
        fact, turn = await self.given(driver, human_count="some")
        with capture_logs() as lines:
            await driver.run(turn)
        failed = [line["event"] for line in lines if line["log_level"] == "warning"]
        assert "record_episode_failed" in failed
        assert "note_use_failed" not in failed
        assert (await kept(driver), await self.used(driver)) == ([], {fact: 1})


class TestVectors:
    async def test_they_are_filled_once_the_turn_is_kept(self, driver: MemoryDriver) -> None:
        seen: list[tuple[UserId, int]] = []

        async def fill(user_id: UserId) -> None:
            seen.append((user_id, len(await kept(driver))))

        with_node(driver, fill_vectors=fill)
        await driver.talk(2)
        assert seen == [("ana", 1), ("ana", 2)]

    async def test_they_are_filled_again_by_a_run_that_comes_again(self, driver: MemoryDriver) -> None:
        """The first one may have failed there."""
        calls: list[UserId] = []

        async def fill(user_id: UserId) -> None:
            calls.append(user_id)

        with_node(driver, fill_vectors=fill)
        await driver.talk(1, remembering=False)
        await driver.remember(times=2)
        assert len(calls) == 2

    async def test_without_them_the_turn_is_kept_and_summarized(self, driver: MemoryDriver) -> None:
        async def fill(user_id: UserId) -> None:
            raise StorageUnavailable

        with_node(driver, fill_vectors=fill)
        with capture_logs() as lines:
            await driver.talk(3)
        assert [line["event"] for line in lines if line["log_level"] == "warning"] == ["fill_vectors_failed"] * 3
        assert len(await kept(driver)) == 3
        assert await driver.windows() == [(0, 2)]

    async def test_for_nobody_there_is_nothing_to_fill(self, driver: MemoryDriver) -> None:
        async def fill(user_id: UserId) -> None:
            raise AssertionError

        nobody = driver.elsewhere(user_id=None)
        with_node(nobody, fill_vectors=fill)
        with capture_logs() as lines:
            await nobody.talk(1)
        assert not [line for line in lines if line["event"] == "fill_vectors_failed"]


class TestFailures:
    @pytest.mark.parametrize("home", ["postgres"], indirect=True)
    async def test_with_the_database_away_one_line_says_so_and_a_later_run_catches_up(
        self, driver: MemoryDriver
    ) -> None:
        with_node(driver)
        await driver.talk(1, remembering=False)
        [turn] = driver.server.started
        driver.process.watch.error = StorageUnavailable()
        with capture_logs() as lines:
            await driver.run(turn)
        [failed] = [line for line in lines if line["event"] == "record_episode_failed"]
        assert failed["chat_thread_id"] == driver.thread_id, "`thread_id` is the background run's own"
        assert "question" not in str(lines)
        driver.process.watch.error = None
        await driver.run(turn)
        assert len(await kept(driver)) == 1

    @pytest.mark.parametrize("home", ["postgres"], indirect=True)
    async def test_a_database_that_is_away_for_a_while_gets_the_turn_when_it_is_back(
        self, driver: MemoryDriver
    ) -> None:
        with_node(driver, pauses=[0.01] * 500)
        await driver.talk(1, remembering=False)
        watch = driver.process.watch
        watch.error, asked = StorageUnavailable(), watch.asked
        run = asyncio.create_task(driver.run(driver.server.started[0]))
        await until(lambda: watch.asked > asked + 2)
        watch.error = None
        await run
        assert len(await kept(driver)) == 1

    async def test_a_failed_preview_and_a_failed_pass_do_not_keep_the_turn_from_being_kept(
        self, model: ModelServer, driver: MemoryDriver
    ) -> None:
        await driver.talk(3, remembering=False)
        driver.server.down = True
        await driver.remember()
        assert [episode.turn for episode in await kept(driver)] == [0, 1, 2]
        assert model.for_model("summary") == []


async def test_the_thread_itself_is_left_as_it_was(driver: MemoryDriver) -> None:
    await driver.talk(1, remembering=False)
    before, checkpoint = await driver.messages(), await driver.here()
    await driver.remember(times=2)
    assert (await driver.messages(), await driver.here()) == (before, checkpoint)


async def test_the_turn_is_kept_after_the_preview_and_before_the_summary(driver: MemoryDriver) -> None:
    edges = {(edge.source, edge.target) for edge in driver.background.get_graph().edges}
    assert edges == {
        ("__start__", "touch_last_message"),
        ("touch_last_message", "record_episode"),
        ("record_episode", "summarize"),
        ("summarize", "__end__"),
    }
