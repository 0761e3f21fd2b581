"""What is deleted by age and by number, in small steps that nobody has to wait for."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from backend.storage.database import Database
from backend.storage.memory_rows import Kind, MemoryRows, NewMemory
from backend.storage.notifications import Listener
from backend.storage.retention_rows import OldestKept, RetentionRows
from tests.support.conditions import until
from tests.support.postgres import make_database

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MIDNIGHT = NOON.replace(hour=0)
DAY = timedelta(days=1)
EVERYTHING = OldestKept(NOON + 1000 * DAY)


def minutes(count: float) -> datetime:
    return NOON + timedelta(minutes=count)


def turn(content: str) -> NewMemory:
    return NewMemory(kind="episode", content=content, content_hash=content.encode())


async def fill(database: Database, scope: str, *moments: datetime, kind: Kind = "episode") -> None:
    """A row of that moment each, which says when it is from."""
    rows = MemoryRows(database)
    for number, at in enumerate(moments):
        content = f"{at.isoformat()} {number}"
        await rows.save(scope, added=[NewMemory(kind=kind, content=content, content_hash=content.encode())], at=at)


async def left(database: Database, scope: str) -> list[datetime]:
    """When the episodes that a scope still has are from, the oldest first."""
    return [row.created_at for row in await MemoryRows(database).episodes(scope, limit=1000)][::-1]


@asynccontextmanager
async def locked(database: Database, scope: str, at: datetime) -> AsyncGenerator[None]:
    """Somebody is changing the rows of that moment."""
    async with database.connection() as connection, connection.transaction():
        await connection.execute(
            "SELECT FROM memories WHERE scope = %(scope)s AND created_at = %(at)s FOR UPDATE",
            {"scope": scope, "at": at},
        )
        yield


class TestClaim:
    async def test_the_first_one_has_it_and_the_second_finds_it_done(self, database: Database) -> None:
        rows = RetentionRows(database)
        assert await rows.claim("tidying", at=NOON, since=MIDNIGHT)
        assert not await rows.claim("tidying", at=NOON + DAY / 4, since=MIDNIGHT)

    async def test_of_many_at_once_in_two_processes_one_has_it(self, database: Database, database_url: str) -> None:
        other = make_database(database_url)
        async with other.running():
            for day in range(3):
                at = NOON + day * DAY
                claims = await asyncio.gather(
                    *(RetentionRows(one).claim("tidying", at=at, since=at - DAY / 2) for one in [database, other] * 8)
                )
                assert sum(claims) == 1

    async def test_it_is_free_again_after_the_day_and_not_before(self, database: Database) -> None:
        rows = RetentionRows(database)
        await rows.claim("tidying", at=MIDNIGHT, since=MIDNIGHT)
        assert not await rows.claim("tidying", at=MIDNIGHT, since=MIDNIGHT)
        assert await rows.claim("tidying", at=MIDNIGHT + DAY, since=MIDNIGHT + DAY)

    async def test_a_process_whose_clock_is_behind_leaves_it(self, database: Database) -> None:
        rows = RetentionRows(database)
        await rows.claim("tidying", at=MIDNIGHT + DAY, since=MIDNIGHT + DAY)
        assert not await rows.claim("tidying", at=MIDNIGHT + DAY - timedelta(seconds=1), since=MIDNIGHT)

    async def test_what_has_another_name_is_another_thing(self, database: Database) -> None:
        rows = RetentionRows(database)
        assert await rows.claim("tidying", at=NOON, since=MIDNIGHT)
        assert await rows.claim("merging", at=NOON, since=MIDNIGHT)


class TestPruning:
    async def test_what_is_older_goes_in_all_scopes_and_what_is_of_that_moment_stays(self, database: Database) -> None:
        await fill(database, "ana", minutes(-1), NOON, minutes(1))
        await fill(database, "ben", minutes(-2))
        assert await RetentionRows(database).prune(OldestKept(NOON), limit=10) == 2
        assert (await left(database, "ana"), await left(database, "ben")) == ([NOON, minutes(1)], [])

    async def test_facts_are_never_deleted(self, database: Database) -> None:
        await fill(database, "ana", minutes(-1), kind="fact")
        rows = RetentionRows(database)
        assert await rows.prune(EVERYTHING, limit=10) == 0
        assert await rows.prune(EVERYTHING, scope="ana", limit=10) == 0
        assert len(await MemoryRows(database).facts("ana")) == 1

    async def test_of_one_scope_the_others_are_left_alone(self, database: Database) -> None:
        scopes = ("u1", "u10", "u_1", "uX1", "%")
        for scope in scopes:
            await fill(database, scope, NOON)
        assert await RetentionRows(database).prune(EVERYTHING, scope="u_1", limit=10) == 1
        assert [len(await left(database, scope)) for scope in scopes] == [1, 1, 0, 1, 1]

    @pytest.mark.parametrize("scope", [None, "ana"])
    async def test_a_step_takes_the_oldest_and_no_more_than_it_may(self, database: Database, scope: str | None) -> None:
        await fill(database, "ana", *(minutes(number) for number in (3, 1, 4, 0, 2)))
        rows = RetentionRows(database)
        assert await rows.prune(EVERYTHING, scope=scope, limit=2) == 2
        assert await left(database, "ana") == [minutes(2), minutes(3), minutes(4)]
        assert [await rows.prune(EVERYTHING, scope=scope, limit=2) for _ in range(3)] == [2, 1, 0]

    @pytest.mark.parametrize("scope", [None, "ana"])
    async def test_a_row_that_somebody_is_changing_is_not_waited_for(
        self, database: Database, scope: str | None
    ) -> None:
        await fill(database, "ana", minutes(0), minutes(1), minutes(2))
        rows = RetentionRows(database)
        async with locked(database, "ana", minutes(1)):
            assert await asyncio.wait_for(rows.prune(EVERYTHING, scope=scope, limit=10), 5) == 2
        assert await left(database, "ana") == [minutes(1)]
        assert await rows.prune(EVERYTHING, scope=scope, limit=10) == 1

    async def test_two_at_once_delete_each_row_once(self, database: Database) -> None:
        await fill(database, "ana", *(minutes(number) for number in range(40)))
        rows = RetentionRows(database)
        counts = await asyncio.gather(*(rows.prune(EVERYTHING, limit=10) for _ in range(4)))
        assert sum(counts) + len(await left(database, "ana")) == 40

    async def test_nobody_is_told(self, database: Database) -> None:
        """Nothing that is cached depends on episodes."""
        await fill(database, "ana", NOON)
        heard: list[str | None] = []
        listener = Listener(database, heard.append)
        listener.start()
        await until(lambda: heard)
        await RetentionRows(database).prune(EVERYTHING, limit=10)
        async with database.connection() as connection:
            await connection.execute("SELECT pg_notify('memory_changed', 'the next')")
        await until(lambda: len(heard) > 1)
        await listener.stop()
        assert heard == [None, "the next"]


class TestScopes:
    async def looked_at(
        self, database: Database, *, keep: int, after: str = "", limit: int = 10
    ) -> Sequence[tuple[str, datetime | None]]:
        found = await RetentionRows(database).scopes(keep=keep, after=after, limit=limit)
        return [(one.scope, one.oldest.created_at if one.oldest else None) for one in found]

    async def test_each_has_the_oldest_of_what_it_keeps(self, database: Database) -> None:
        await fill(database, "ana", minutes(1), minutes(2), minutes(3))
        await fill(database, "ben", minutes(4))
        await fill(database, "cid", minutes(5), minutes(6))
        assert await self.looked_at(database, keep=2) == [("ana", minutes(2)), ("ben", None), ("cid", minutes(5))]
        assert await self.looked_at(database, keep=1) == [
            ("ana", minutes(3)), ("ben", minutes(4)), ("cid", minutes(6)),
        ]  # fmt: skip

    async def test_facts_do_not_count(self, database: Database) -> None:
        await fill(database, "ana", minutes(1), minutes(2), kind="fact")
        await fill(database, "ana", minutes(3))
        assert await self.looked_at(database, keep=2) == [("ana", None)]

    async def test_they_come_in_pages(self, database: Database) -> None:
        for scope in ("u1", "u10", "%", "東京", "u_1"):
            await fill(database, scope, NOON)
        seen: list[str] = []
        while page := await self.looked_at(database, keep=1, after=seen[-1] if seen else "", limit=2):
            seen += [scope for scope, _ in page]
        assert sorted(seen) == sorted(("u1", "u10", "%", "東京", "u_1"))

    async def test_nobody_has_anything_at_first(self, database: Database) -> None:
        assert await self.looked_at(database, keep=1) == []

    async def test_of_several_in_one_moment_as_many_go_as_are_too_many(self, database: Database) -> None:
        await fill(database, "ana", *[NOON] * 5)
        rows = RetentionRows(database)
        [kept] = await rows.scopes(keep=3, after="", limit=10)
        assert kept.oldest is not None
        assert await rows.prune(kept.oldest, scope="ana", limit=10) == 2


class TestOldestKept:
    @pytest.mark.parametrize("step", [1, 2, 3, 20_000])
    async def test_it_is_counted_over_all_scopes_from_the_newest_on(self, database: Database, step: int) -> None:
        rows = RetentionRows(database, step_places=step)
        await fill(database, "ana", minutes(0), minutes(2), minutes(4))
        await fill(database, "ben", minutes(1), minutes(3), minutes(3))
        await fill(database, "ben", minutes(9), kind="fact")
        oldest = [await rows.oldest_kept(keep=keep) for keep in range(1, 8)]
        moments = [one.created_at if one else None for one in oldest]
        assert moments == [minutes(4), minutes(3), minutes(3), minutes(2), minutes(1), minutes(0), None]

    async def test_of_several_in_one_moment_as_many_stay_as_may(self, database: Database) -> None:
        rows = RetentionRows(database)
        await fill(database, "ana", *[NOON] * 5)
        oldest = await rows.oldest_kept(keep=2)
        assert oldest is not None
        assert await rows.prune(oldest, limit=10) == 3


class TestErasures:
    async def test_old_notes_go_and_newer_ones_still_hold(self, database: Database) -> None:
        memories, rows = MemoryRows(database), RetentionRows(database)
        for number in range(5):
            await memories.erase(f"u{number}", "episode", at=minutes(number))
        assert [await rows.drop_erasures(minutes(3), limit=2) for _ in range(3)] == [2, 1, 0]
        assert await memories.record("u2", turn("said before"), at=NOON)
        assert not await memories.record("u3", turn("said before"), at=NOON)

    async def forget(self, database: Database, content: str, at: datetime) -> None:
        """A turn that was recorded, then deleted at that time."""
        memories = MemoryRows(database)
        assert await memories.record("ana", turn(content), at=MIDNIGHT)
        [row] = await memories.episodes("ana", limit=1)
        assert await memories.forget("ana", row.id, at=at)

    async def test_old_tombstones_of_episodes_go_and_newer_ones_still_hold(self, database: Database) -> None:
        for number in range(5):
            await self.forget(database, f"{number}", minutes(number))
        rows = RetentionRows(database)
        assert [await rows.drop_erasures(minutes(3), limit=2) for _ in range(3)] == [2, 1, 0]
        again = [await MemoryRows(database).record("ana", turn(f"{number}"), at=MIDNIGHT) for number in range(5)]
        assert again == [True, True, True, False, False]

    async def test_notes_and_tombstones_together_are_no_more_than_a_step(self, database: Database) -> None:
        for number in range(3):
            await self.forget(database, f"{number}", NOON)
            await MemoryRows(database).erase(f"u{number}", "episode", at=NOON)
        rows = RetentionRows(database)
        assert [await rows.drop_erasures(minutes(1), limit=4) for _ in range(3)] == [4, 2, 0]
        assert await MemoryRows(database).record("ana", turn("0"), at=MIDNIGHT)

    async def test_a_tombstone_that_somebody_is_writing_is_not_waited_for(self, database: Database) -> None:
        rows = RetentionRows(database)
        await self.forget(database, "said", NOON)
        async with database.connection() as connection, connection.transaction():
            await connection.execute("UPDATE forgotten_episodes SET forgotten_at = forgotten_at")
            assert await asyncio.wait_for(rows.drop_erasures(minutes(1), limit=10), 5) == 0

    async def test_a_note_that_somebody_is_writing_is_not_waited_for(self, database: Database) -> None:
        rows = RetentionRows(database)
        await MemoryRows(database).erase("ana", "episode", at=NOON)
        async with database.connection() as connection, connection.transaction():
            await connection.execute("UPDATE memory_erasures SET erased_at = erased_at")
            assert await asyncio.wait_for(rows.drop_erasures(minutes(1), limit=10), 5) == 0
