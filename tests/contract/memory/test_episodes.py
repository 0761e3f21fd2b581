"""The finished turns of a user, over both kinds of rows (CASES 31)."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from backend.errors import InvalidInput, NotFound, StorageUnavailable
from backend.ids import MemoryId, ThreadId
from backend.memory.episodes import ALL_PAGE, MAX_ASSISTANT_CHARS, MAX_USER_CHARS, Episode, Episodes, FinishedWords
from backend.memory.facts.record import ON_THE_PAGE, FactDraft
from backend.memory.redaction import BLOCK_NAMES
from tests.support.memory_homes import Home, HomeInPostgres, Process

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
THREAD, OTHER = ThreadId("t1"), ThreadId("t10")
GITHUB_TOKEN = "ghp_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"


NOBODYS = "00000000-0000-4000-8000-000000000000"
NO_PLACES = (
    "", "x", "a\0b", "\ud83d", NOBODYS, f"-{NOBODYS}", f"1-{NOBODYS}\n", f" 1-{NOBODYS}", f"1-{NOBODYS}x", "1-x",
    f"1-{NOBODYS.replace('-', '')}", f"１-{NOBODYS}", f"1.5-{NOBODYS}", f"{'9' * 18}-{NOBODYS}",
    f"-{'9' * 18}-{NOBODYS}", f"{'9' * 5_000}-{NOBODYS}",
)  # fmt: skip


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def turn(number: int = 0, *, minutes: int | None = None, thread_id: ThreadId = THREAD) -> FinishedWords:
    return FinishedWords(
        thread_id=thread_id,
        turn=number,
        message_ids=[f"{thread_id}/h{number}", f"{thread_id}/a{number}"],
        user_text="Where do I live?",
        assistant_text="In Oslo.",
        finished_at=at(number if minutes is None else minutes),
    )


def said(user_text: str = "Hello", assistant_text: str = "Good day") -> FinishedWords:
    return replace(turn(), user_text=user_text, assistant_text=assistant_text)


def episodes_of(process: Process, user_id: str = "ana") -> Episodes:
    return process.memory_of(user_id).episodes


async def only(episodes: Episodes) -> Episode:
    [episode] = await episodes.all()
    return episode


class TestRecording:
    async def test_both_sides_are_kept_with_where_and_when(self, process: Process) -> None:
        episodes = episodes_of(process)
        assert await episodes.record(turn(3))
        episode = await only(episodes)
        assert episode.content == "User: Where do I live?\nAssistant: In Oslo."
        assert (episode.thread_id, episode.turn, episode.created_at) == (THREAD, 3, at(3))
        assert episode.as_json() == {
            "id": episode.id,
            "content": episode.content,
            "thread_id": "t1",
            "turn": 3,
            "created_at": "2026-05-01T12:03:00+00:00",
        }
        [row] = await process.rows.episodes("ana", limit=5)
        assert (list(row.message_ids), row.version, row.importance) == (["t1/h3", "t1/a3"], 1, 0.3)

    @pytest.mark.parametrize("nothing", ["", " \n\t", "\0", "<memory>\n{}\n</memory>"])
    async def test_with_one_side_silent_nothing_is_kept(self, process: Process, nothing: str) -> None:
        episodes = episodes_of(process)
        assert not await episodes.record(said(user_text=nothing))
        assert not await episodes.record(said(assistant_text=nothing))
        assert await episodes.all() == []

    async def test_the_same_turn_twice_is_one_and_the_same_words_in_another_are_two(self, process: Process) -> None:
        episodes = episodes_of(process)
        assert await episodes.record(turn(0))
        assert not await episodes.record(turn(0))
        assert not await episodes.record(turn(0, minutes=5))
        assert await episodes.record(turn(1))
        assert [episode.turn for episode in await episodes.all()] == [1, 0]

    async def test_a_run_that_happens_twice_at_once_in_two_processes_records_one(self, home: Home) -> None:
        async with home.process() as one, home.process() as other:
            recorded = await asyncio.gather(*(episodes_of((one, other)[n % 2]).record(turn()) for n in range(8)))
            assert sorted(recorded) == [False] * 7 + [True]
            await only(episodes_of(one))

    async def test_a_turn_of_hundreds_of_messages_is_kept(self, process: Process) -> None:
        episodes = episodes_of(process)
        long = replace(turn(), message_ids=[str(uuid4()) for _ in range(700)])
        assert await episodes.record(long)
        assert not await episodes.record(long)
        assert await episodes.record(replace(long, message_ids=[*long.message_ids, "one more"]))
        assert len(await episodes.all()) == 2

    async def test_each_side_is_cut_with_a_marker_after_secrets_are_replaced(self, process: Process) -> None:
        episodes = episodes_of(process)
        user_text = "u" * (MAX_USER_CHARS - 20) + f" {GITHUB_TOKEN} the end"
        assert await episodes.record(said(user_text, "東" * (MAX_ASSISTANT_CHARS + 1)))
        user, assistant = (await only(episodes)).content.split("\nAssistant: ")
        user = user.removeprefix("User: ")
        assert len(user) <= MAX_USER_CHARS
        assert len(assistant) <= MAX_ASSISTANT_CHARS
        assert GITHUB_TOKEN[:8] not in user
        for side in (user, assistant):
            assert "left out" in side[-60:], side[-60:]

    async def test_up_to_the_caps_each_side_stays_whole(self, process: Process) -> None:
        episodes = episodes_of(process)
        assert await episodes.record(said("u" * 4_000, "a" * 8_000))
        assert (await only(episodes)).content == f"User: {'u' * 4_000}\nAssistant: {'a' * 8_000}"

    async def test_credentials_are_replaced_on_both_sides(self, process: Process) -> None:
        episodes = episodes_of(process)
        assert await episodes.record(said(f"use {GITHUB_TOKEN}", "password=hunter2 is set"))
        assert (await only(episodes)).content == (
            "User: use [redacted: github token]\nAssistant: password=[redacted: password] is set"
        )

    @pytest.mark.parametrize("name", BLOCK_NAMES)
    async def test_a_block_that_a_side_quotes_is_not_kept(self, process: Process, name: str) -> None:
        episodes = episodes_of(process)
        block = f'<{name}>\n{{"city":"Oslo"}}\n</{name}>'
        assert await episodes.record(said(f"{block}\nthanks!", f"As I was told:\n{block}\nYou may like tea."))
        assert (await only(episodes)).content == "User: thanks!\nAssistant: As I was told:\nYou may like tea."

    async def test_a_secret_around_a_block_does_not_come_together(self, process: Process) -> None:
        episodes = episodes_of(process)
        assert await episodes.record(said(f"use {GITHUB_TOKEN[:20]}<memory>x</memory>{GITHUB_TOKEN[20:]}", "no"))
        assert GITHUB_TOKEN not in (await only(episodes)).content

    async def test_what_no_database_takes_is_taken_out(self, process: Process) -> None:
        episodes = episodes_of(process)
        words = replace(said("a\0b \ud83d", "\udc00 c"), message_ids=["h\0", "\ud83d"])
        assert await episodes.record(words)
        assert not await episodes.record(words)
        assert (await only(episodes)).content == "User: ab \ufffd\nAssistant: \ufffd c"

    async def test_what_was_cached_for_the_prompt_stays_warm(self, process: Process) -> None:
        memory = process.memory_of("ana")
        await memory.facts.all()
        await memory.episodes.record(turn())
        asked = process.watch.asked
        await memory.facts.all()
        assert process.watch.asked == asked


class TestPaging:
    async def test_pages_follow_each_other_to_the_last(self, process: Process) -> None:
        episodes = episodes_of(process)
        for number in range(5):
            await episodes.record(turn(number))
        first = await episodes.page(limit=2)
        assert [episode.turn for episode in first.episodes] == [4, 3]
        second = await episodes.page(limit=2, after=first.next)
        last = await episodes.page(limit=2, after=second.next)
        assert [episode.turn for page in (second, last) for episode in page.episodes] == [2, 1, 0]
        assert last.next is None
        assert (await episodes.page(limit=5)).next is None

    async def test_there_may_be_none(self, process: Process) -> None:
        page = await episodes_of(process).page(limit=5)
        assert (page.episodes, page.next) == ([], None)

    async def test_pages_of_one_over_equal_times_miss_nothing(self, process: Process) -> None:
        episodes = episodes_of(process)
        for number in range(7):
            await episodes.record(turn(number, minutes=0))
        found: list[int | None] = []
        after: str | None = None
        while True:
            page = await episodes.page(limit=1, after=after)
            found += [episode.turn for episode in page.episodes]
            if page.next is None:
                break
            after = page.next
        assert sorted(turn for turn in found if turn is not None) == list(range(7))

    async def test_pages_stay_where_they_are_while_new_ones_arrive(self, process: Process) -> None:
        episodes = episodes_of(process)
        for number in range(4):
            await episodes.record(turn(number))
        first = await episodes.page(limit=2)
        for number in range(10, 13):
            await episodes.record(turn(number))
        await episodes.delete(first.episodes[0].id)
        second = await episodes.page(limit=2, after=first.next)
        assert [episode.turn for episode in second.episodes] == [1, 0]

    async def test_a_page_goes_on_behind_one_that_was_deleted_meanwhile(self, process: Process) -> None:
        episodes = episodes_of(process)
        for number in range(4):
            await episodes.record(turn(number, minutes=0))
        everything = await episodes.all()
        first = await episodes.page(limit=2)
        for episode in first.episodes:
            await episodes.delete(episode.id)
        assert (await episodes.page(limit=2, after=first.next)).episodes == everything[2:]
        await episodes.erase()
        assert (await episodes.page(limit=2, after=first.next)).episodes == []

    @pytest.mark.parametrize(
        "moment",
        [
            NOON + timedelta(microseconds=1),
            datetime(1, 1, 2, tzinfo=UTC),
            datetime(9999, 12, 30, 23, 59, 59, 999_999, UTC),
        ],
        ids=["now", "first", "last"],
    )
    async def test_a_place_is_named_to_the_microsecond_at_any_time(self, process: Process, moment: datetime) -> None:
        episodes = episodes_of(process)
        for number in range(3):
            await episodes.record(replace(turn(number), finished_at=moment - timedelta(microseconds=number)))
        first = await episodes.page(limit=2)
        assert first.next is not None
        assert re.fullmatch("[a-z0-9-]+", first.next), "safe in a URL"
        assert [episode.turn for episode in (await episodes.page(limit=2, after=first.next)).episodes] == [2]

    async def test_the_place_of_another_user_shows_ones_own(self, process: Process) -> None:
        ana, ben = episodes_of(process), episodes_of(process, "ben")
        for number in range(3):
            await ana.record(turn(number))
            await ben.record(turn(number))
        bens = await ben.page(limit=2)
        seen = (await ana.page(limit=5, after=bens.next)).episodes
        assert {episode.id for episode in seen} <= {episode.id for episode in await ana.all()}

    async def test_all_of_more_than_a_page_are_read(self, process: Process) -> None:
        episodes = episodes_of(process)
        for number in range(ALL_PAGE + 1):
            await episodes.record(turn(number, minutes=0))
        assert len({episode.id for episode in await episodes.all()}) == ALL_PAGE + 1

    @pytest.mark.parametrize("after", NO_PLACES, ids=range(len(NO_PLACES)))
    async def test_what_no_page_gave_is_refused(self, process: Process, after: str) -> None:
        with pytest.raises(InvalidInput, match=r"^after is not what a page gave as next$"):
            await episodes_of(process).page(limit=5, after=after)


class TestDeleting:
    async def test_one_is_deleted_and_the_others_stay(self, process: Process) -> None:
        episodes = episodes_of(process)
        await episodes.record(turn(0))
        await episodes.record(turn(1))
        [newest, oldest] = await episodes.all()
        await episodes.delete(newest.id)
        assert await episodes.all() == [oldest]
        with pytest.raises(NotFound):
            await episodes.delete(newest.id)

    async def test_a_run_of_its_turn_that_comes_again_does_not_bring_it_back(self, home: Home) -> None:
        async with home.process(clock=lambda: at(5)) as here, home.process(clock=lambda: at(5)) as there:
            await episodes_of(here).record(turn(0))
            await episodes_of(here).delete((await only(episodes_of(here))).id)
            assert not await episodes_of(there).record(turn(0))
            assert not await episodes_of(here).record(turn(0, minutes=9))
            assert await episodes_of(there).record(turn(1))
            assert await episodes_of(there, "ben").record(turn(0))
            assert (await only(episodes_of(here))).turn == 1

    async def test_after_an_erasure_of_all_its_time_alone_decides(self, home: Home) -> None:
        async with home.process(clock=lambda: at(5)) as process:
            episodes = episodes_of(process)
            await episodes.record(turn(0))
            await episodes.delete((await only(episodes)).id)
            await episodes.erase()
            assert not await episodes.record(turn(0))
            assert await episodes.record(turn(0, minutes=6))

    @pytest.mark.parametrize("nobodys", ["00000000-0000-4000-8000-000000000000", "", "x", "a\0b", "\ud83d"])
    async def test_what_is_not_there_is_not_found(self, process: Process, nobodys: str) -> None:
        with pytest.raises(NotFound):
            await episodes_of(process).delete(MemoryId(nobodys))

    async def test_what_is_anothers_and_what_is_a_fact_is_not_found_and_stays(self, process: Process) -> None:
        ana, ben = process.memory_of("ana"), process.memory_of("ben")
        await ben.episodes.record(turn())
        bens = await only(ben.episodes)
        [fact] = await ana.facts.create([FactDraft(content="likes tea")], origin=ON_THE_PAGE)
        for memory_id in (bens.id, fact.id):
            with pytest.raises(NotFound):
                await ana.episodes.delete(memory_id)
        assert await only(ben.episodes) == bens
        assert await ana.facts.stored() == (fact,)


class TestErasing:
    async def test_what_was_finished_before_is_not_recorded_afterwards_and_what_comes_later_is(
        self, home: Home
    ) -> None:
        async with home.process(clock=lambda: at(5)) as here, home.process(clock=lambda: at(5)) as there:
            await episodes_of(here).record(turn(0))
            await episodes_of(here, "ben").record(turn(0))
            assert await episodes_of(here).erase() == 1
            for number in (0, 1, 5):
                assert not await episodes_of(there).record(turn(number))
            assert await episodes_of(there, "ben").record(turn(1))
            assert await episodes_of(there).record(turn(6))
            assert (await only(episodes_of(here))).turn == 6
            assert len(await episodes_of(here, "ben").all()) == 2

    async def test_a_thread_is_erased_and_others_go_on(self, home: Home) -> None:
        async with home.process(clock=lambda: at(5)) as process:
            episodes = episodes_of(process)
            await episodes.record(turn(0))
            await episodes.record(turn(0, thread_id=OTHER))
            assert await episodes.erase_thread(THREAD) == 1
            assert not await episodes.record(turn(1))
            assert await episodes.record(turn(1, thread_id=OTHER))
            assert await episodes.record(turn(6))
            kept = [(episode.thread_id, episode.turn) for episode in await episodes.all()]
            assert kept == [(THREAD, 6), (OTHER, 1), (OTHER, 0)]

    async def test_erasing_facts_alone_leaves_turns_to_be_recorded(self, home: Home) -> None:
        async with home.process(clock=lambda: at(5)) as process:
            memory = process.memory_of("ana")
            await memory.facts.erase()
            await memory.facts.erase_thread(THREAD)
            assert await memory.episodes.record(turn(1))

    async def test_an_erased_user_may_come_again(self, home: Home) -> None:
        now = at(5)
        async with home.process(clock=lambda: now) as process:
            await episodes_of(process).record(turn(0))
            await process.services.forgetting.erase_memory(process.memory_of("ana").user_id)
            now = at(9)
            assert await episodes_of(process).record(turn(0, minutes=8))
            await process.memory_of("ana").facts.create([FactDraft(content="likes tea")], origin=ON_THE_PAGE)
            assert (await only(episodes_of(process))).created_at == at(8)


async def test_use_is_noted_once_for_ones_own_and_only_what_is_there_is_known(home: Home) -> None:
    async with home.process() as process:
        ana, ben = process.memory_of("ana"), process.memory_of("ben")
        for memory in (ana, ben):
            await memory.episodes.record(turn())
        [fact] = await ana.facts.create([FactDraft(content="likes tea")], origin=ON_THE_PAGE)
        episode, bens = await only(ana.episodes), await only(ben.episodes)
        ids = [episode.id, fact.id, bens.id, MemoryId(str(uuid4())), MemoryId("x")]
        assert await ana.episodes.known(ids) == {episode.id, fact.id}
        for _ in range(2):
            await ana.episodes.touch(ids, at=at(7))
            await ana.episodes.touch([], at=at(8))
        used = [*await process.rows.facts("ana"), *await process.rows.episodes("ana", limit=5)]
        assert [(row.accessed_at, row.access_count) for row in used] == [(at(7), 1)] * 2
        assert [row.access_count for row in await process.rows.episodes("ben", limit=5)] == [0]
        assert await only(ana.episodes) == episode


async def test_with_the_storage_away_nothing_is_half_written(database_url: str) -> None:
    async with HomeInPostgres(database_url).process() as process:
        episodes = episodes_of(process)
        await episodes.record(turn())
        kept = await only(episodes)
        process.watch.error = StorageUnavailable()
        for call in (
            episodes.record(turn(1)),
            episodes.page(limit=1),
            episodes.all(),
            episodes.delete(kept.id),
            episodes.erase(),
            episodes.erase_thread(THREAD),
            episodes.touch([kept.id], at=NOON),
            episodes.known([kept.id]),
        ):
            with pytest.raises(StorageUnavailable):
                await call
        process.watch.error = None
        assert await only(episodes) == kept
        assert await episodes.record(turn(1))
