"""The table `memories` and its double: every scope for itself, all or nothing, nothing recorded behind an erasure."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import uuid4

import pytest

from backend.errors import Duplicate, StaleVersion, StorageUnavailable
from backend.ids import MemoryId, ThreadId
from backend.storage.database import Database
from backend.storage.locks import lock_key
from backend.storage.memory_rows import QUERIES, Change, MemoryRow, MemoryRows, NewMemory, Place
from backend.storage.pool import SESSION, Connection
from tests.support.conditions import eventually
from tests.support.memory_doubles import RowsInMemory
from tests.support.postgres import make_database

pytestmark = pytest.mark.anyio

SCOPE = "ana"
SCOPES = ("u1", "u10", "u=5F1", "u_1", "uX1", "%", "_", "u", "*")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
THREAD, OTHER = ThreadId("t1"), ThreadId("t10")
NOBODYS = MemoryId(str(uuid4()))
NO_IDS = tuple(MemoryId(text) for text in ("", "x", "%", "a\0b", "\ud83d", "1" * 10_000, str(uuid4()).upper()))

Rows = MemoryRows | RowsInMemory


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


def fact(content: str, **named: Any) -> NewMemory:
    return NewMemory(kind="fact", content=content, content_hash=digest(content), **named)


def episode(content: str, **named: Any) -> NewMemory:
    values: dict[str, Any] = {"thread_id": THREAD, "turn": 0, "message_ids": ("m1", "m2"), **named}
    return NewMemory(kind="episode", content=content, content_hash=digest(content), **values)


def changed(row: MemoryRow, to: NewMemory) -> Change:
    return Change(row.id, row.version, to)


def place(row: MemoryRow) -> Place:
    return Place(row.created_at, row.id)


def contents(rows: Sequence[MemoryRow]) -> list[str]:
    return [row.content for row in rows]


@pytest.fixture(params=["memory", "postgres"])
def rows(request: pytest.FixtureRequest) -> Rows:
    if request.param == "memory":
        return RowsInMemory()
    return MemoryRows(request.getfixturevalue("database"))


async def test_a_row_is_kept_as_it_was_given(rows: Rows) -> None:
    given = fact(
        "Lives in 東京 \U0001f600 '\"\\ %s {}",
        key="home.city",
        categories=("home", "ort"),
        importance=0.3,
        said_by="assistant",
        thread_id=THREAD,
        turn=7,
        message_ids=("a", "b,{}\"'"),
    )
    [saved] = await rows.save(SCOPE, added=[given], at=NOON)
    assert await rows.facts(SCOPE) == [saved]
    assert saved == MemoryRow(
        id=saved.id,
        scope=SCOPE,
        kind="fact",
        key="home.city",
        categories=("home", "ort"),
        content=given.content,
        importance=0.3,
        said_by="assistant",
        thread_id=THREAD,
        turn=7,
        message_ids=("a", "b,{}\"'"),
        version=1,
        status="active",
        created_at=NOON,
        updated_at=NOON,
        accessed_at=None,
        access_count=0,
    )
    assert saved.updated_at.utcoffset() == timedelta(0)


async def test_facts_come_with_the_one_that_changed_last_first(rows: Rows) -> None:
    [tea] = await rows.save(SCOPE, added=[fact("tea")], at=at(0))
    await rows.save(SCOPE, added=[fact("coffee")], at=at(1))
    [water] = await rows.save(SCOPE, changed=[changed(tea, fact("water"))], at=at(2))
    assert contents(await rows.facts(SCOPE)) == ["water", "coffee"]
    assert (water.id, water.version, water.created_at, water.updated_at) == (tea.id, 2, at(0), at(2))


async def test_saving_gives_the_changed_ones_first_and_then_the_new_ones_in_order(rows: Rows) -> None:
    [first] = await rows.save(SCOPE, added=[fact("first")], at=at(0))
    saved = await rows.save(SCOPE, added=[fact("b"), fact("a")], changed=[changed(first, fact("c"))], at=at(1))
    assert contents(saved) == ["c", "b", "a"]


class TestAllOrNothing:
    @pytest.mark.parametrize(
        "taken",
        [
            pytest.param(fact("b", key="taken"), id="key"),
            pytest.param(fact("taken"), id="text"),
        ],
    )
    async def test_what_is_there_already_lets_nothing_be_saved(self, rows: Rows, taken: NewMemory) -> None:
        [known, _] = await rows.save(SCOPE, added=[fact("with a key", key="taken"), fact("taken")], at=at(0))
        before = await rows.facts(SCOPE)
        with pytest.raises(Duplicate):
            await rows.save(
                SCOPE, added=[fact("new"), taken], changed=[changed(known, fact("other", key="taken"))], at=at(1)
            )
        assert await rows.facts(SCOPE) == before

    async def test_a_version_that_is_not_there_lets_nothing_be_saved(self, rows: Rows) -> None:
        [one, other] = await rows.save(SCOPE, added=[fact("one"), fact("other")], at=at(0))
        before = await rows.facts(SCOPE)
        changes = [changed(one, fact("two")), Change(other.id, 7, fact("three"))]
        with pytest.raises(StaleVersion):
            await rows.save(SCOPE, added=[fact("new")], changed=changes, at=at(1))
        assert await rows.facts(SCOPE) == before

    async def test_the_row_of_another_scope_is_not_there(self, rows: Rows) -> None:
        [bens] = await rows.save("ben", added=[fact("bens")], at=at(0))
        with pytest.raises(StaleVersion):
            await rows.save(SCOPE, changed=[changed(bens, fact("anas"))], at=at(1))
        assert contents(await rows.facts("ben")) == ["bens"]

    async def test_an_episode_is_never_changed(self, rows: Rows) -> None:
        await rows.record(SCOPE, episode("said"), at=at(0))
        [said] = await rows.episodes(SCOPE, limit=1)
        with pytest.raises(StaleVersion):
            await rows.save(SCOPE, changed=[changed(said, fact("not said"))], at=at(1))
        assert contents(await rows.episodes(SCOPE, limit=2)) == ["said"]

    async def test_a_fact_becomes_what_it_was_again(self, rows: Rows) -> None:
        [row] = await rows.save(SCOPE, added=[fact("tea")], at=at(0))
        [row] = await rows.save(SCOPE, changed=[changed(row, fact("tea", importance=1.0))], at=at(1))
        assert (row.version, row.importance) == (2, 1.0)


async def test_with_a_key_the_text_and_with_the_text_the_key_may_be_that_of_another(rows: Rows) -> None:
    await rows.save(SCOPE, added=[fact("same", key="a"), fact("same", key="b"), fact("same")], at=NOON)
    assert len(await rows.facts(SCOPE)) == 3


async def test_facts_and_episodes_do_not_see_each_other(rows: Rows) -> None:
    [kept] = await rows.save(SCOPE, added=[fact("same")], at=NOON)
    assert await rows.record(SCOPE, episode("same"), at=NOON)
    [said] = await rows.episodes(SCOPE, limit=5)
    assert contents(await rows.facts(SCOPE)) == ["same"]
    assert not await rows.forget(SCOPE, kept.id, at=at(1))
    assert not await rows.remove(SCOPE, "fact", said.id)
    assert (await rows.count(SCOPE, "fact"), await rows.count(SCOPE, "episode")) == (1, 1)
    assert await rows.erase(SCOPE, "fact", at=NOON) == 1
    assert await rows.episodes(SCOPE, limit=5) == [said]


async def test_a_row_is_removed_in_the_version_that_is_named_or_in_any(rows: Rows) -> None:
    [one, other] = await rows.save(SCOPE, added=[fact("one"), fact("other")], at=NOON)
    assert not await rows.remove(SCOPE, "fact", one.id, version=2)
    assert await rows.remove(SCOPE, "fact", one.id, version=1)
    assert not await rows.remove(SCOPE, "fact", one.id, version=1)
    assert await rows.remove(SCOPE, "fact", other.id)
    assert await rows.facts(SCOPE) == []


@pytest.mark.parametrize("no_id", [NOBODYS, *NO_IDS], ids=range(1 + len(NO_IDS)))
async def test_what_is_no_id_is_not_there(rows: Rows, no_id: MemoryId) -> None:
    [kept] = await rows.save(SCOPE, added=[fact("kept")], at=NOON)
    assert not await rows.remove(SCOPE, "fact", no_id)
    assert not await rows.forget(SCOPE, no_id, at=at(1))
    await rows.touch(SCOPE, [no_id, kept.id], at=at(1))
    assert await rows.known(SCOPE, [no_id, kept.id]) == {kept.id}
    assert (await rows.facts(SCOPE))[0].access_count == 1


async def test_use_is_counted_and_changes_nothing_else(rows: Rows) -> None:
    [kept] = await rows.save(SCOPE, added=[fact("kept")], at=NOON)
    await rows.touch(SCOPE, [kept.id], at=at(1))
    await rows.touch(SCOPE, [kept.id], at=at(2))
    assert await rows.facts(SCOPE) == [replace(kept, accessed_at=at(2), access_count=2)]


async def test_use_is_counted_once_for_each_time_and_not_for_an_earlier_one(rows: Rows) -> None:
    [kept] = await rows.save(SCOPE, added=[fact("kept")], at=NOON)
    await asyncio.gather(*(rows.touch(SCOPE, [kept.id], at=at(2)) for _ in range(4)))
    await rows.touch(SCOPE, [kept.id], at=at(1))
    assert await rows.facts(SCOPE) == [replace(kept, accessed_at=at(2), access_count=1)]


class TestEpisodes:
    async def test_the_same_one_is_recorded_once(self, rows: Rows) -> None:
        assert await rows.record(SCOPE, episode("said"), at=at(0))
        assert not await rows.record(SCOPE, episode("said"), at=at(1))
        [said] = await rows.episodes(SCOPE, limit=5)
        assert (said.created_at, said.thread_id, said.turn, said.message_ids) == (at(0), THREAD, 0, ("m1", "m2"))

    async def test_many_at_once_are_one(self, rows: Rows) -> None:
        recorded = await asyncio.gather(*(rows.record(SCOPE, episode("said"), at=NOON) for _ in range(10)))
        assert sorted(recorded) == [False] * 9 + [True]

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
    async def test_pages_over_equal_times_miss_nothing_and_repeat_nothing(self, rows: Rows, size: int) -> None:
        for number in range(12):
            await rows.record(SCOPE, episode(f"{number}"), at=at(number // 6))
        found: list[MemoryRow] = []
        while page := await rows.episodes(SCOPE, limit=size, after=place(found[-1]) if found else None):
            found += page
        assert len({row.id for row in found}) == len(found) == 12
        assert [row.created_at for row in found] == [at(1)] * 6 + [at(0)] * 6
        assert found == await rows.episodes(SCOPE, limit=100)

    async def test_a_moment_is_kept_to_the_microsecond(self, rows: Rows) -> None:
        for number in range(3):
            await rows.record(SCOPE, episode(f"{number}"), at=NOON + timedelta(microseconds=number))
        [newest] = await rows.episodes(SCOPE, limit=1)
        assert contents(await rows.episodes(SCOPE, limit=5, after=place(newest))) == ["1", "0"]

    async def test_pages_go_on_behind_the_place_of_one_that_is_gone(self, rows: Rows) -> None:
        for number in range(3):
            await rows.record(SCOPE, episode(f"{number}"), at=NOON)
        [first, second, third] = await rows.episodes(SCOPE, limit=3)
        for gone in (first, second):
            assert await rows.forget(SCOPE, gone.id, at=at(1))
        assert await rows.episodes(SCOPE, limit=5, after=place(first)) == [third]
        assert await rows.episodes(SCOPE, limit=5, after=place(second)) == [third]
        assert await rows.episodes(SCOPE, limit=5, after=place(third)) == []


async def forget(rows: Rows, said: str = "said", *, finished: int = 0, forgotten: int = 1, scope: str = SCOPE) -> None:
    """Record a turn and forget it."""
    assert await rows.record(scope, episode(said), at=at(finished))
    [newest] = await rows.episodes(scope, limit=1)
    assert await rows.forget(scope, newest.id, at=at(forgotten))


class TestForgetting:
    async def test_what_was_forgotten_is_not_recorded_again_and_the_rest_is(self, rows: Rows) -> None:
        await rows.record(SCOPE, episode("other"), at=at(0))
        await forget(rows, finished=1)
        for finished in (0, 1, 9):
            assert not await rows.record(SCOPE, episode("said"), at=at(finished))
        assert await rows.record("ben", episode("said"), at=at(0))
        assert await rows.record(SCOPE, episode("never said"), at=at(0))
        assert sorted(contents(await rows.episodes(SCOPE, limit=5))) == ["never said", "other"]

    async def test_it_is_forgotten_once(self, rows: Rows) -> None:
        await rows.record(SCOPE, episode("said"), at=NOON)
        [said] = await rows.episodes(SCOPE, limit=1)
        assert not await rows.forget("ben", said.id, at=at(1))
        done = await asyncio.gather(*(rows.forget(SCOPE, said.id, at=at(1)) for _ in range(4)))
        assert sorted(done) == [False, False, False, True]

    async def test_a_fact_of_the_same_text_may_come_again(self, rows: Rows) -> None:
        await forget(rows)
        [kept] = await rows.save(SCOPE, added=[fact("said")], at=at(2))
        assert await rows.remove(SCOPE, "fact", kept.id)
        assert await rows.save(SCOPE, added=[fact("said")], at=at(3))

    @pytest.mark.parametrize(
        ("finished", "forgotten", "erased", "comes_again"),
        [(0, 1, 2, True), (0, 2, 2, True), (0, 3, 2, False), (3, 1, 2, False), (2, 1, 2, True)],
    )
    async def test_an_erasure_of_all_stands_for_what_was_forgotten_before(
        self, rows: Rows, *, finished: int, forgotten: int, erased: int, comes_again: bool
    ) -> None:
        await forget(rows, finished=finished, forgotten=forgotten)
        await rows.erase(SCOPE, "fact", at=at(erased))
        assert not await rows.record(SCOPE, episode("said"), at=at(9))
        await rows.erase(SCOPE, "episode", at=at(erased))
        assert not await rows.record(SCOPE, episode("said"), at=at(min(finished, erased)))
        assert await rows.record(SCOPE, episode("said"), at=at(9)) == comes_again

    async def test_others_and_erasures_of_threads_leave_it(self, rows: Rows) -> None:
        await forget(rows)
        await rows.erase("ben", "episode", at=at(5))
        await rows.erase_thread(SCOPE, "episode", THREAD, at=at(5))
        assert not await rows.record(SCOPE, episode("said"), at=at(6))

    async def test_what_was_stored_again_otherwise_is_forgotten_again(self, rows: Rows) -> None:
        await forget(rows, forgotten=5)
        await rows.save(SCOPE, added=[episode("said")], at=at(0))
        [said] = await rows.episodes(SCOPE, limit=1)
        assert await rows.forget(SCOPE, said.id, at=at(3))
        await rows.erase(SCOPE, "episode", at=at(4))
        assert not await rows.record(SCOPE, episode("said"), at=at(9)), "the later of the two times holds"


class TestErasing:
    async def test_what_was_finished_before_is_not_recorded_and_what_comes_later_is(self, rows: Rows) -> None:
        await rows.record(SCOPE, episode("a"), at=at(0))
        assert await rows.erase(SCOPE, "episode", at=at(5)) == 1
        assert not await rows.record(SCOPE, episode("a"), at=at(0))
        assert not await rows.record(SCOPE, episode("b"), at=at(5))
        assert await rows.record(SCOPE, episode("c"), at=at(6))
        assert contents(await rows.episodes(SCOPE, limit=5)) == ["c"]

    async def test_of_a_thread_only_that_thread_is_closed(self, rows: Rows) -> None:
        await rows.record(SCOPE, episode("a"), at=at(0))
        await rows.record(SCOPE, episode("b", thread_id=OTHER), at=at(0))
        assert await rows.erase_thread(SCOPE, "episode", THREAD, at=at(5)) == 1
        assert not await rows.record(SCOPE, episode("late"), at=at(4))
        assert await rows.record(SCOPE, episode("late", thread_id=OTHER), at=at(4))
        assert await rows.record(SCOPE, episode("later"), at=at(6))
        assert sorted(contents(await rows.episodes(SCOPE, limit=5))) == ["b", "late", "later"]

    async def test_erasing_facts_does_not_keep_turns_from_being_recorded(self, rows: Rows) -> None:
        await rows.save(SCOPE, added=[fact("a", thread_id=THREAD), fact("b")], at=at(0))
        assert await rows.erase_thread(SCOPE, "fact", THREAD, at=at(5)) == 1
        assert await rows.erase(SCOPE, "fact", at=at(5)) == 1
        assert await rows.record(SCOPE, episode("a"), at=at(4))

    async def test_an_erasure_by_a_clock_that_is_behind_does_not_open_what_was_closed(self, rows: Rows) -> None:
        await rows.erase(SCOPE, "episode", at=at(5))
        await rows.erase_thread(SCOPE, "episode", THREAD, at=at(9))
        await rows.erase(SCOPE, "episode", at=at(3))
        await rows.erase_thread(SCOPE, "episode", THREAD, at=at(4))
        assert not await rows.record(SCOPE, episode("a", thread_id=OTHER), at=at(5))
        assert not await rows.record(SCOPE, episode("a"), at=at(9))
        assert await rows.record(SCOPE, episode("a"), at=at(10))


async def test_nothing_of_what_was_said_is_in_a_tombstone(database: Database) -> None:
    rows = MemoryRows(database)
    await forget(rows)
    await forget(rows, finished=3, said="from a clock ahead")
    async with database.connection() as connection:
        found = await (await connection.execute("SELECT * FROM forgotten_episodes ORDER BY forgotten_at")).fetchall()
    assert found == [
        {"scope": SCOPE, "content_hash": digest("said"), "forgotten_at": at(1)},
        {"scope": SCOPE, "content_hash": digest("from a clock ahead"), "forgotten_at": at(3)},
    ]


async def test_no_thread_of_an_erased_scope_is_named_any_more(database: Database) -> None:
    rows = MemoryRows(database)
    await rows.erase_thread(SCOPE, "episode", THREAD, at=at(1))
    await rows.erase_thread("ben", "episode", THREAD, at=at(1))
    await rows.erase(SCOPE, "episode", at=at(2))
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT scope, thread_id FROM memory_erasures ORDER BY scope")
        kept = [tuple(row.values()) for row in await cursor.fetchall()]
    assert kept == [("ana", ""), ("ben", THREAD)]


async def settle(rows: Rows, scope: str) -> None:
    await rows.save(scope, added=[fact("same", key="k", thread_id=THREAD), fact("same", thread_id=THREAD)], at=NOON)
    await rows.record(scope, episode("same"), at=NOON)


async def everything(rows: Rows, scope: str) -> tuple[object, ...]:
    return (
        await rows.facts(scope),
        await rows.episodes(scope, limit=100),
        await rows.count(scope, "fact"),
        await rows.count(scope, "episode"),
    )


async def test_every_scope_is_for_itself(rows: Rows) -> None:
    for scope in SCOPES:
        await settle(rows, scope)
    for scope in SCOPES:
        others = {other: await everything(rows, other) for other in SCOPES if other != scope}
        own, said = await rows.facts(scope), await rows.episodes(scope, limit=9)
        assert (len(own), len(said)) == (2, 1)
        for other in others:
            assert await rows.known(other, [own[0].id, said[0].id]) == frozenset()
            assert not await rows.remove(other, "fact", own[0].id)
            assert not await rows.remove(other, "episode", said[0].id)
            assert not await rows.forget(other, said[0].id, at=NOON)
            await rows.touch(other, [own[0].id, said[0].id], at=NOON)
        assert (await rows.facts(scope), await rows.episodes(scope, limit=9)) == (own, said)
        assert await rows.forget(scope, said[0].id, at=at(1))
        await rows.erase_thread(scope, "fact", THREAD, at=at(1))
        await rows.erase(scope, "fact", at=at(1))
        await rows.erase(scope, "episode", at=at(1))
        assert {other: await everything(rows, other) for other in others} == others
        await settle(rows, scope)
        assert contents(await rows.facts(scope)) == ["same", "same"]
        assert await rows.episodes(scope, limit=9) == []
        assert await rows.record(scope, episode("same"), at=at(2))


@asynccontextmanager
async def under_way(database: Database, lock: str, query: str, **values: Any) -> AsyncGenerator[Connection]:
    """Another process's recording or erasure, whose statement is done and whose transaction is still open."""
    async with database.connection() as connection, connection.transaction():
        await connection.execute(SESSION[lock], {"key": lock_key("recording", SCOPE)})
        await connection.execute(QUERIES[query], {"scope": SCOPE, **values})
        yield connection


async def waiting(database: Database) -> bool:
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        )
        row = await cursor.fetchone()
        return row is not None and row["count"] == 1


async def test_a_turn_recorded_while_it_is_erased_is_not_there_afterwards(database: Database) -> None:
    rows = MemoryRows(database)
    values = {"kind": "episode", "content": "said", "content_hash": digest("said"), "thread_id": THREAD}
    rest = {"key": None, "categories": [], "importance": 0.3, "said_by": "user", "turn": 0, "message_ids": ["m"]}
    for erase in (rows.erase(SCOPE, "episode", at=at(1)), rows.erase_thread(SCOPE, "episode", THREAD, at=at(3))):
        async with under_way(database, "share_lock", "record", **values, **rest, at=at(2)):
            erasing = asyncio.create_task(erase)
            await eventually(lambda: waiting(database))
        assert await erasing == 1
        assert await rows.episodes(SCOPE, limit=5) == []


async def test_a_turn_is_not_recorded_while_an_erasure_of_it_is_under_way(database: Database) -> None:
    rows = MemoryRows(database)
    for query in ("erase", "erase_thread"):
        async with under_way(database, "lock", query, kind="episode", thread_id=THREAD, at=at(5)):
            recording = asyncio.create_task(rows.record(SCOPE, episode("said"), at=at(4)))
            await eventually(lambda: waiting(database))
        assert not await recording
    assert await rows.episodes(SCOPE, limit=5) == []


async def test_a_turn_is_not_recorded_again_while_it_is_being_forgotten(database: Database) -> None:
    rows = MemoryRows(database)
    await rows.record(SCOPE, episode("said"), at=NOON)
    [said] = await rows.episodes(SCOPE, limit=1)
    async with under_way(database, "lock", "forget", id=said.id, at=at(1)):
        recording = asyncio.create_task(rows.record(SCOPE, episode("said"), at=NOON))
        await eventually(lambda: waiting(database))
    assert not await recording
    assert await rows.episodes(SCOPE, limit=5) == []


async def test_a_turn_is_not_forgotten_while_a_repeated_run_of_it_is_under_way(database: Database) -> None:
    rows = MemoryRows(database)
    await rows.record(SCOPE, episode("said"), at=NOON)
    [said] = await rows.episodes(SCOPE, limit=1)
    async with under_way(database, "share_lock", "count", kind="episode"):
        forgetting = asyncio.create_task(rows.forget(SCOPE, said.id, at=at(1)))
        await eventually(lambda: waiting(database))
        assert await rows.episodes(SCOPE, limit=5) == [said]
    assert await forgetting


async def test_turns_are_recorded_beside_each_other_and_beside_a_writer_of_the_scope(database: Database) -> None:
    rows = MemoryRows(database)
    async with (
        under_way(database, "share_lock", "count", kind="episode"),
        database.connection() as connection,
        connection.transaction(),
    ):
        await connection.execute(SESSION["lock"], {"key": lock_key("scope", SCOPE)})
        async with asyncio.timeout(2):
            assert await rows.record(SCOPE, episode("said"), at=NOON)


async def test_when_the_database_is_away_every_method_says_so() -> None:
    rows = MemoryRows(make_database("postgresql://127.0.0.1:9/nowhere", timeout_seconds=0.2))
    for call in (
        rows.facts(SCOPE),
        rows.episodes(SCOPE, limit=1),
        rows.save(SCOPE, added=[fact("a")], at=NOON),
        rows.record(SCOPE, episode("a"), at=NOON),
        rows.remove(SCOPE, "fact", NOBODYS),
        rows.forget(SCOPE, NOBODYS, at=NOON),
        rows.erase(SCOPE, "fact", at=NOON),
        rows.erase_thread(SCOPE, "fact", THREAD, at=NOON),
        rows.touch(SCOPE, [NOBODYS], at=NOON),
        rows.known(SCOPE, [NOBODYS]),
        rows.count(SCOPE, "fact"),
    ):
        with pytest.raises(StorageUnavailable):
            await call
