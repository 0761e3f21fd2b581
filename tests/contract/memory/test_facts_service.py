"""The facts of a user, over both kinds of rows and from two processes (CASES 32)."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from backend.errors import Duplicate, InvalidInput, LimitReached, NotFound, StaleVersion, StorageUnavailable
from backend.ids import MemoryId, ThreadId
from backend.memory.facts.record import ON_THE_PAGE, Fact, FactChanges, FactDraft, Origin
from backend.memory.facts.service import Facts
from tests.support.conditions import eventually
from tests.support.memory_homes import Home, HomeInPostgres, Process, warmed

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
GITHUB_TOKEN = "ghp_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"
FROM_A_CHAT = Origin(said_by="assistant", thread_id="t1", turn=4, message_ids=("m1", "m2"))


class Clock:
    """A minute later each time it is read."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


def facts_of(process: Process, user_id: str = "ana") -> Facts:
    return process.memory_of(user_id).facts


def draft(content: str = "Likes coffee", **named: Any) -> FactDraft:
    return FactDraft.model_validate({"content": content, **named})


def changes(**named: Any) -> FactChanges:
    return FactChanges.model_validate(named)


async def create(facts: Facts, *contents: str, **named: Any) -> Sequence[Fact]:
    return await facts.create([draft(content, **named) for content in contents], origin=ON_THE_PAGE)


async def contents(facts: Facts) -> list[str]:
    return sorted(fact.content for fact in await facts.stored())


class TestCreating:
    async def test_a_fact_is_kept_with_what_it_came_with(self, home: Home) -> None:
        async with home.process(clock=Clock()) as process:
            given = draft("Likes 東京", key="city", categories=["home", "ort"], importance=0.9)
            [made] = await facts_of(process).create([given], origin=FROM_A_CHAT)
            assert made == Fact(
                id=made.id,
                content="Likes 東京",
                categories=("home", "ort"),
                key="city",
                importance=0.9,
                version=1,
                said_by="assistant",
                thread_id="t1",
                created_at=NOON + timedelta(minutes=1),
                updated_at=NOON + timedelta(minutes=1),
            )
            assert await facts_of(process).all() == await facts_of(process).stored() == (made,)
            [row] = await process.rows.facts("ana")
            assert (row.turn, list(row.message_ids), row.status) == (4, ["m1", "m2"], "active")

    async def test_up_to_five_are_kept_and_given_back_in_order(self, process: Process) -> None:
        facts = facts_of(process)
        made = await create(facts, "e", "d", "c", "b", "a")
        assert [fact.content for fact in made] == ["e", "d", "c", "b", "a"]
        assert await contents(facts) == ["a", "b", "c", "d", "e"]

    @pytest.mark.parametrize("count", [0, 6])
    async def test_none_and_six_are_refused(self, process: Process, count: int) -> None:
        with pytest.raises(InvalidInput):
            await create(facts_of(process), *map(str, range(count)))
        assert await contents(facts_of(process)) == []

    @pytest.mark.parametrize(
        ("bad", "error"),
        [
            pytest.param("LIKES  Coffee", Duplicate, id="a duplicate"),
            pytest.param("C", Duplicate, id="the same as another of the call"),
            pytest.param(GITHUB_TOKEN, InvalidInput, id="a secret"),
            pytest.param("x" * 101, LimitReached, id="too long for all together"),
        ],
    )
    async def test_one_that_cannot_be_kept_keeps_all_from_being_kept(
        self, home: Home, bad: str, error: type[Exception]
    ) -> None:
        async with home.process(memory_facts_max_chars=100) as process:
            facts = facts_of(process)
            await create(facts, "likes coffee")
            with pytest.raises(error):
                await create(facts, "a", "b", "c", bad)
            assert await contents(facts) == ["likes coffee"]

    @pytest.mark.parametrize("again", ["likes coffee", "LIKES \n COFFEE ", "Ｌｉｋｅｓ coffee"])
    @pytest.mark.parametrize("key", [None, "drink"])
    async def test_what_is_said_already_is_a_duplicate_whose_id_is_told(
        self, process: Process, again: str, key: str | None
    ) -> None:
        facts = facts_of(process)
        [known] = await create(facts, "Likes coffee", key=key)
        with pytest.raises(Duplicate, match=f"{known.id} in version 1"):
            await create(facts, again)
        with pytest.raises(Duplicate, match=known.id):
            await create(facts, again, key="another")
        assert await facts.stored() == (known,)

    async def test_composed_and_decomposed_characters_are_the_same(self, process: Process) -> None:
        facts = facts_of(process)
        [known] = await create(facts, "Likes café", key="cr\u00e8me")
        with pytest.raises(Duplicate):
            await create(facts, "Likes cafe\u0301")
        assert await create(facts, "Likes cafe\u0301", key="cre\u0300me") == [known]

    async def test_what_no_database_takes_is_taken_out(self, process: Process) -> None:
        origin = Origin(said_by="assistant", message_ids=("a\0b", "\ud83d"))
        given = draft("a\0b \ud83d", key="k\0\udc00", categories=["c\0"])
        [made] = await facts_of(process).create([given], origin=origin)
        assert (made.content, made.key, made.categories) == ("ab \ufffd", "k\ufffd", ("c",))
        assert [list(row.message_ids) for row in await process.rows.facts("ana")] == [["ab", "\ufffd"]]


class TestKeys:
    async def test_the_latest_under_a_key_counts(self, home: Home) -> None:
        async with home.process(clock=Clock()) as process:
            facts = facts_of(process)
            [first] = await create(facts, "likes coffee", key="drink")
            [latest] = await facts.create([draft("no longer drinks coffee", key="drink")], origin=FROM_A_CHAT)
            assert await facts.stored() == (latest,)
            assert (latest.id, latest.content, latest.version) == (first.id, "no longer drinks coffee", 2)
            assert (latest.created_at, latest.said_by, latest.thread_id) == (first.created_at, "assistant", "t1")
            assert latest.updated_at > first.updated_at

    @pytest.mark.parametrize("again", ["likes coffee", "Likes  COFFEE"])
    async def test_the_same_twice_under_a_key_changes_nothing(self, home: Home, again: str) -> None:
        async with home.process(clock=Clock()) as process:
            facts = facts_of(process)
            [known] = await create(facts, "likes coffee", key="drink", importance=0.3)
            assert await facts.create([draft(again, key="drink", importance=0.3)], origin=FROM_A_CHAT) == [known]
            assert await facts.stored() == (known,)

    async def test_what_is_left_out_stays_as_it_is_kept(self, process: Process) -> None:
        facts = facts_of(process)
        [known] = await create(facts, "likes coffee", key="drink", categories=["taste"], importance=0.9)
        assert await create(facts, "likes coffee", key="drink") == [known]
        [changed] = await create(facts, "likes tea", key="drink")
        assert (changed.categories, changed.importance, changed.version) == (("taste",), 0.9, 2)
        [changed] = await create(facts, "likes tea", key="drink", categories=[], importance=0.1)
        assert (changed.categories, changed.importance, changed.version) == ((), 0.1, 3)

    async def test_known_new_and_unchanged_ones_come_back_in_order(self, process: Process) -> None:
        facts = facts_of(process)
        await facts.create([draft("a", key="a"), draft("b", key="b")], origin=ON_THE_PAGE)
        drafts = [draft("new"), draft("b", key="b"), draft("a2", key="a"), draft("c", key="c")]
        made = await facts.create(drafts, origin=ON_THE_PAGE)
        assert [(fact.content, fact.version) for fact in made] == [("new", 1), ("b", 1), ("a2", 2), ("c", 1)]
        assert await contents(facts) == ["a2", "b", "c", "new"]

    async def test_a_key_twice_in_one_call_is_refused(self, process: Process) -> None:
        with pytest.raises(Duplicate, match="this call"):
            await create(facts_of(process), "a", "b", key="k")
        assert await contents(facts_of(process)) == []

    async def test_what_a_key_gave_up_in_the_same_call_may_be_said_anew(self, process: Process) -> None:
        facts = facts_of(process)
        await create(facts, "likes coffee", key="drink")
        await facts.create([draft("likes tea", key="drink"), draft("likes coffee")], origin=ON_THE_PAGE)
        assert await contents(facts) == ["likes coffee", "likes tea"]


class TestChanging:
    async def test_what_is_named_changes_and_the_rest_stays(self, home: Home) -> None:
        async with home.process(clock=Clock()) as process:
            facts = facts_of(process)
            [made] = await create(facts, "likes coffee", key="drink", categories=["taste"], importance=0.9)
            changed = await facts.change(made.id, changes(content="likes tea"), version=1, origin=FROM_A_CHAT)
            assert (changed.content, changed.key, changed.categories) == ("likes tea", "drink", ("taste",))
            assert (changed.importance, changed.version, changed.created_at) == (0.9, 2, made.created_at)
            changed = await facts.change(
                made.id, changes(key="hot", categories=[], importance=0.0), version=2, origin=ON_THE_PAGE
            )
            assert (changed.content, changed.key, changed.categories) == ("likes tea", "hot", ())
            assert (changed.importance, changed.version) == (0.0, 3)
            assert await facts.all() == (changed,)

    async def test_a_change_to_what_it_is_changes_nothing(self, home: Home) -> None:
        async with home.process(clock=Clock()) as process:
            facts = facts_of(process)
            [made] = await create(facts, "likes coffee", key="drink", importance=0.123456789)
            same = changes(content="likes coffee", key="drink", importance=0.123456789)
            assert (await facts.change(made.id, same, version=1, origin=FROM_A_CHAT)).version == 1
            assert (await facts.change(made.id, changes(), version=1, origin=FROM_A_CHAT)).version == 1

    async def test_its_own_spelling_can_be_corrected(self, process: Process) -> None:
        facts = facts_of(process)
        [made] = await create(facts, "likes oslo")
        changed = await facts.change(made.id, changes(content="likes Oslo"), version=1, origin=ON_THE_PAGE)
        assert (changed.content, changed.version) == ("likes Oslo", 2)

    async def test_a_stale_version_changes_and_deletes_nothing(self, process: Process) -> None:
        facts = facts_of(process)
        [made] = await create(facts, "likes coffee")
        now = await facts.change(made.id, changes(content="likes tea"), version=1, origin=ON_THE_PAGE)
        for version in (0, 1, 3):
            with pytest.raises(StaleVersion, match="version 2"):
                await facts.change(made.id, changes(content="x"), version=version, origin=ON_THE_PAGE)
            with pytest.raises(StaleVersion):
                await facts.delete(made.id, version=version)
        assert await facts.stored() == (now,)
        await facts.delete(made.id, version=2)
        assert await facts.stored() == ()

    async def test_the_text_or_key_of_another_is_refused(self, process: Process) -> None:
        facts = facts_of(process)
        [tea] = await create(facts, "likes tea", key="tea")
        [coffee] = await create(facts, "likes coffee", key="coffee")
        with pytest.raises(Duplicate, match=tea.id):
            await facts.change(coffee.id, changes(content="LIKES TEA"), version=1, origin=ON_THE_PAGE)
        with pytest.raises(Duplicate, match=tea.id):
            await facts.change(coffee.id, changes(key="tea"), version=1, origin=ON_THE_PAGE)
        assert {fact.version for fact in await facts.stored()} == {1}

    @pytest.mark.parametrize(
        "nobodys", ["00000000-0000-4000-8000-000000000000", "", "x", "a\0b", "\ud83d", "1" * 10_000]
    )
    async def test_what_is_not_there_is_not_found(self, process: Process, nobodys: str) -> None:
        facts = facts_of(process)
        [made] = await create(facts, "likes coffee")
        with pytest.raises(NotFound):
            await facts.change(MemoryId(nobodys), changes(content="x"), version=1, origin=ON_THE_PAGE)
        with pytest.raises(NotFound):
            await facts.delete(MemoryId(nobodys))
        assert await facts.stored() == (made,)

    async def test_what_is_anothers_is_not_found_and_stays(self, process: Process) -> None:
        [bens] = await create(facts_of(process, "ben"), "likes coffee")
        anas = facts_of(process)
        with pytest.raises(NotFound) as unlike:
            await anas.change(bens.id, changes(content="x"), version=1, origin=ON_THE_PAGE)
        with pytest.raises(NotFound) as missing:
            await anas.change(MemoryId(str(uuid4())), changes(content="x"), version=1, origin=ON_THE_PAGE)
        assert unlike.value.message == missing.value.message
        with pytest.raises(NotFound):
            await anas.delete(bens.id, version=1)
        assert await facts_of(process, "ben").stored() == (bens,)

    async def test_after_a_deletion_it_can_be_said_again(self, process: Process) -> None:
        facts = facts_of(process)
        [made] = await create(facts, "likes coffee", key="drink")
        await facts.delete(made.id)
        [again] = await create(facts, "likes coffee", key="drink")
        assert (again.version, again.id != made.id) == (1, True)


class TestLimits:
    async def test_there_is_room_for_so_many(self, home: Home) -> None:
        async with home.process(memory_facts_max=3) as process:
            facts = facts_of(process)
            await create(facts, "a", "b")
            with pytest.raises(LimitReached, match="3 facts"):
                await create(facts, "c", "d")
            [full] = await create(facts, "c", key="c")
            with pytest.raises(LimitReached):
                await create(facts, "d")
            await create(facts, "d", key="c")
            await facts.change(full.id, changes(content="e"), version=2, origin=ON_THE_PAGE)
            await create(facts_of(process, "ben"), "a")
            assert await contents(facts) == ["a", "b", "e"]

    async def test_there_is_room_for_so_many_characters(self, home: Home) -> None:
        async with home.process(memory_facts_max_chars=100) as process:
            facts = facts_of(process)
            [long] = await create(facts, "東" * 99)
            with pytest.raises(LimitReached, match="100 characters"):
                await create(facts, "ab")
            with pytest.raises(LimitReached):
                await facts.change(long.id, changes(content="東" * 101), version=1, origin=ON_THE_PAGE)
            await create(facts, "a", key="a")
            with pytest.raises(LimitReached):
                await create(facts, "ab", key="a")
            assert await contents(facts) == ["a", "東" * 99]

    async def test_an_excess_may_be_made_smaller(self, home: Home) -> None:
        async with home.process() as before, home.process(memory_facts_max=2, memory_facts_max_chars=100) as after:
            [first] = await create(facts_of(before), "a" * 150, key="first")
            await create(facts_of(before), "b" * 50, "c" * 50)
            facts = facts_of(after)
            shorter = await facts.change(first.id, changes(content="a" * 140), version=1, origin=ON_THE_PAGE)
            await create(facts, "a" * 130, key="first")
            await facts.change(first.id, changes(importance=1), version=3, origin=ON_THE_PAGE)
            with pytest.raises(LimitReached):
                await facts.change(first.id, changes(content="a" * 131), version=4, origin=ON_THE_PAGE)
            with pytest.raises(LimitReached):
                await create(facts, "d")
            await facts.delete(shorter.id)
            assert await contents(facts) == ["b" * 50, "c" * 50]

    async def test_a_text_that_grows_when_its_secret_is_replaced_must_still_fit(self, process: Process) -> None:
        with pytest.raises(InvalidInput, match="too long"):
            await create(facts_of(process), "x" * 1_984 + " password=hunt3r")
        assert await contents(facts_of(process)) == []


class TestSecrets:
    @pytest.mark.parametrize("only", [GITHUB_TOKEN, "my password is hunter2", "<memory>\n{}\n</memory>"])
    async def test_what_is_only_a_secret_or_a_block_is_refused(self, process: Process, only: str) -> None:
        facts = facts_of(process)
        [made] = await create(facts, "likes coffee")
        with pytest.raises(InvalidInput):
            await create(facts, only)
        with pytest.raises(InvalidInput):
            await facts.change(made.id, changes(content=only), version=1, origin=ON_THE_PAGE)
        assert await facts.stored() == (made,)

    async def test_a_secret_in_a_fact_is_replaced_wherever_it_stands(self, process: Process) -> None:
        facts = facts_of(process)
        [made] = await create(facts, f"Deploys with {GITHUB_TOKEN}", key=GITHUB_TOKEN, categories=[f"x {GITHUB_TOKEN}"])
        assert made.content == "Deploys with [redacted: github token]"
        changed = await facts.change(
            made.id, changes(content=f"Ships with {GITHUB_TOKEN}"), version=1, origin=ON_THE_PAGE
        )
        assert changed.content == "Ships with [redacted: github token]"
        assert GITHUB_TOKEN not in repr(await process.rows.facts("ana"))

    async def test_two_that_differ_in_their_secret_only_are_the_same(self, process: Process) -> None:
        await create(facts_of(process), f"Deploys with {GITHUB_TOKEN}")
        with pytest.raises(Duplicate):
            await create(facts_of(process), f"Deploys with {GITHUB_TOKEN[:-1]}X")

    async def test_a_quoted_block_is_not_kept(self, process: Process) -> None:
        facts = facts_of(process)
        given = draft("Likes <memory>{}</memory> tea", key="k <facts>a</facts>")
        [made] = await facts.create([given], origin=ON_THE_PAGE)
        assert (made.content, made.key) == ("Likes tea", "k")

    @pytest.mark.parametrize(
        "prose",
        [
            "Keeps passwords in Bitwarden",
            "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
            "Ticket 123e4567-e89b-12d3-a456-426614174000",
            "Asks what the <memory> tag means",
            "100% _cotton_, \\ and 'quotes' \"too\" {{x}} %s",
        ],
    )
    async def test_ordinary_prose_stays(self, process: Process, prose: str) -> None:
        [made] = await create(facts_of(process), prose)
        assert made.content == prose


class TestErasing:
    async def test_all_are_erased_and_counted(self, process: Process) -> None:
        facts = facts_of(process)
        await create(facts, "a", "b")
        await create(facts_of(process, "ben"), "a")
        assert await facts.all()
        assert (await facts.erase(), await facts.erase()) == (2, 0)
        assert await facts.all() == ()
        assert await contents(facts_of(process, "ben")) == ["a"]
        assert [fact.version for fact in await create(facts, "a")] == [1]

    async def test_what_was_said_in_a_thread_is_erased(self, process: Process) -> None:
        facts = facts_of(process)
        await create(facts, "on the page")
        for thread in ("t1", "t10"):
            await facts.create([draft(thread)], origin=Origin(said_by="user", thread_id=thread))
        assert await facts.erase_thread(ThreadId("t1")) == 1
        assert await contents(facts) == ["on the page", "t10"]
        assert len(await facts.all()) == 2


class TestReading:
    async def test_a_warm_read_asks_nothing_and_a_write_is_seen_at_once(self, process: Process) -> None:
        facts = facts_of(process)
        for change in (
            lambda: create(facts, "a", key="a"),
            lambda: create(facts, "b", key="a"),
            facts.erase,
            lambda: create(facts, "c"),
            lambda: facts.erase_thread(ThreadId("t1")),
        ):
            await change()
            assert await facts.all() == await facts.stored()
        await warmed(facts.all, process.watch)
        asked = process.watch.asked
        assert [fact.content for fact in await facts_of(process).all()] == ["c"]
        assert process.watch.asked == asked

    async def test_that_there_is_nothing_is_remembered_too(self, process: Process) -> None:
        await warmed(facts_of(process).all, process.watch)

    async def test_the_one_that_changed_last_comes_first(self, home: Home) -> None:
        async with home.process(clock=Clock()) as process:
            facts = facts_of(process)
            [oldest] = await create(facts, "a")
            await create(facts, "b")
            await create(facts, "c")
            await facts.change(oldest.id, changes(content="d"), version=1, origin=ON_THE_PAGE)
            assert [fact.content for fact in await facts.all()] == ["d", "c", "b"]

    async def test_a_change_in_another_process_is_seen(self, home: Home) -> None:
        async with home.process() as one, home.process() as other:
            here, there = facts_of(one), facts_of(other)
            assert await there.all() == ()
            [made] = await create(here, "likes coffee")

            async def there_says(*wanted: str) -> bool:
                return [fact.content for fact in await there.all()] == list(wanted)

            await eventually(lambda: there_says("likes coffee"), 5)
            await here.change(made.id, changes(content="likes tea"), version=1, origin=ON_THE_PAGE)
            await eventually(lambda: there_says("likes tea"), 5)
            await here.delete(made.id)
            await eventually(there_says, 5)


class TestTwoProcesses:
    async def test_many_at_once_near_the_limit_are_never_one_too_many(self, home: Home) -> None:
        async with AsyncExitStack() as stack:
            opened = [await stack.enter_async_context(home.process(memory_facts_max=7)) for _ in range(2)]
            results = await asyncio.gather(
                *(create(facts_of(opened[number % 2]), f"fact {number}") for number in range(20)),
                return_exceptions=True,
            )
            refused = [result for result in results if isinstance(result, BaseException)]
            assert {type(error) for error in refused} == {LimitReached}
            assert len(refused) == 13
            assert len(await facts_of(opened[0]).stored()) == 7

    async def test_many_at_once_never_have_a_character_too_many(self, home: Home) -> None:
        async with (
            home.process(memory_facts_max_chars=100) as one,
            home.process(memory_facts_max_chars=100) as other,
        ):
            results = await asyncio.gather(
                *(create(facts_of((one, other)[n % 2]), f"{n:020}", f"{n + 100:020}") for n in range(10)),
                return_exceptions=True,
            )
            assert sum(isinstance(result, LimitReached) for result in results) == 8
            assert len(await facts_of(one).stored()) == 4

    async def test_the_same_text_from_both_is_one(self, home: Home) -> None:
        async with home.process() as one, home.process() as other:
            results = await asyncio.gather(
                *(create(facts_of(process), text) for text in ("Likes tea", "likes  TEA") for process in (one, other)),
                return_exceptions=True,
            )
            assert sum(isinstance(result, Duplicate) for result in results) == 3
            assert len(await facts_of(one).stored()) == 1

    async def test_one_key_from_both_is_one_fact_with_the_latest(self, home: Home) -> None:
        async with home.process() as one, home.process() as other:
            made = await asyncio.gather(
                *(create(facts_of((one, other)[n % 2]), f"likes {n}", key="drink") for n in range(8))
            )
            [kept] = await facts_of(one).stored()
            assert sorted(fact.version for [fact] in made) == list(range(1, 9))
            assert kept == max((fact for [fact] in made), key=lambda fact: fact.version)

    async def test_of_changes_to_one_version_one_wins(self, home: Home) -> None:
        async with home.process() as one, home.process() as other:
            [made] = await create(facts_of(one), "likes coffee")
            results = await asyncio.gather(
                *(
                    facts_of((one, other)[n % 2]).change(
                        made.id, changes(content=f"likes {n}"), version=1, origin=ON_THE_PAGE
                    )
                    for n in range(8)
                ),
                return_exceptions=True,
            )
            [won] = [result for result in results if isinstance(result, Fact)]
            assert sum(isinstance(result, StaleVersion) for result in results) == 7
            assert await facts_of(other).stored() == (won,)


async def test_with_the_storage_away_nothing_is_half_written(database_url: str) -> None:
    async with HomeInPostgres(database_url).process() as process:
        facts = facts_of(process)
        [made] = await create(facts, "likes coffee", key="drink")
        process.watch.error = StorageUnavailable()
        process.forget_cached()
        for call in (
            facts.all(),
            facts.stored(),
            create(facts, "a", "b"),
            facts.change(made.id, changes(content="x"), version=1, origin=ON_THE_PAGE),
            facts.delete(made.id),
            facts.erase(),
            facts.erase_thread(ThreadId("t1")),
        ):
            with pytest.raises(StorageUnavailable):
                await call
        process.watch.error = None
        assert await facts.all() == (made,)


async def test_a_statement_that_fails_in_the_middle_leaves_nothing(database_url: str) -> None:
    async with HomeInPostgres(database_url).process() as process:
        facts = facts_of(process)
        await create(facts, "tea", key="drink")
        async with process.services.database.connection() as connection:
            await connection.execute(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                " IF NEW.content = 'third' THEN RAISE EXCEPTION USING ERRCODE = '57P01'; END IF; RETURN NEW; END $$"
            )
            await connection.execute(
                "CREATE TRIGGER refuse BEFORE INSERT ON memories FOR EACH ROW EXECUTE FUNCTION refuse()"
            )
        drafts = [draft("first"), draft("coffee", key="drink"), draft("third")]
        with pytest.raises(StorageUnavailable):
            await facts.create(drafts, origin=ON_THE_PAGE)
        assert await contents(facts) == ["tea"]
