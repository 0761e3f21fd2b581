"""Once a day, by one process of all, episodes that are too old or too many go."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from structlog.testing import capture_logs

from backend.bootstrap import assemble
from backend.errors import StorageUnavailable
from backend.ids import ThreadId
from backend.memory.retention import Retention, RetentionLimits, day_of
from backend.settings import Settings
from backend.storage.database import Database
from backend.storage.memory_rows import Kind, MemoryRows, NewMemory
from backend.storage.retention_rows import OldestKept, RetentionRows
from tests.support.conditions import eventually, until
from tests.support.postgres import make_database
from tests.support.threads import RecordedServer

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
PLENTY = RetentionLimits(days=1000, per_user=1000, total=1000)
NOTHING = {"too_old": 0, "beyond_newest_of_user": 0, "beyond_newest_of_all": 0, "erasure_notes": 0, "vectors": 0}


@dataclass
class Clock:
    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


class RowsThatFail(RetentionRows):
    """Pruning raises each of these in turn, then works."""

    def __init__(self, database: Database, *errors: BaseException) -> None:
        super().__init__(database)
        self._errors = list(errors)

    async def prune(self, oldest: OldestKept, *, scope: str | None = None, limit: int) -> int:
        if self._errors:
            raise self._errors.pop(0)
        return await super().prune(oldest, scope=scope, limit=limit)


class RowsThatHang(RetentionRows):
    """Pruning never ends by itself."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.pruning = asyncio.Event()

    async def prune(self, oldest: OldestKept, *, scope: str | None = None, limit: int) -> int:
        self.pruning.set()
        await asyncio.Event().wait()
        return 0


@dataclass
class CountedRows(RetentionRows):
    """What each step of pruning was asked for."""

    database: Database
    steps: list[tuple[str | None, int]] = field(default_factory=list[tuple[str | None, int]])

    def __post_init__(self) -> None:
        super().__init__(self.database)

    async def prune(self, oldest: OldestKept, *, scope: str | None = None, limit: int) -> int:
        self.steps.append((scope, limit))
        return await super().prune(oldest, scope=scope, limit=limit)


def retention(database: Database, limits: RetentionLimits = PLENTY, **fields: Any) -> Retention:
    given: dict[str, Any] = {"rows": RetentionRows(database), "limits": limits, "clock": Clock(), **fields}
    return Retention(**given)


async def fill(database: Database, scope: str, *days_ago: float, kind: Kind = "episode") -> None:
    rows = MemoryRows(database)
    for number, days in enumerate(days_ago):
        content = f"secret {days} {number}"
        row = NewMemory(kind=kind, content=content, content_hash=content.encode())
        await rows.save(scope, added=[row], at=NOW - days * DAY)


async def left(database: Database, *scopes: str) -> Mapping[str, Sequence[float]]:
    """How many days ago the episodes that scopes still have were, the newest first."""
    rows = MemoryRows(database)
    found = {scope: await rows.episodes(scope, limit=1000) for scope in scopes}
    return {scope: [(NOW - row.created_at) / DAY for row in kept] for scope, kept in found.items()}


class TestWhatGoes:
    async def test_episodes_that_are_too_old(self, database: Database) -> None:
        await fill(database, "ana", 1, 90, 90.01, 200)
        await fill(database, "ben", 91)
        done = await retention(database, replace(PLENTY, days=90)).run_if_due()
        assert done == {**NOTHING, "too_old": 3}
        assert await left(database, "ana", "ben") == {"ana": [1, 90], "ben": []}

    async def test_episodes_beyond_the_newest_of_their_user(self, database: Database) -> None:
        await fill(database, "ana", 1, 2, 3, 4, 5)
        await fill(database, "ben", 6, 7)
        done = await retention(database, replace(PLENTY, per_user=2)).run_if_due()
        assert done == {**NOTHING, "beyond_newest_of_user": 3}
        assert await left(database, "ana", "ben") == {"ana": [1, 2], "ben": [6, 7]}

    async def test_episodes_beyond_the_newest_of_all_users_together(self, database: Database) -> None:
        await fill(database, "ana", 1, 4)
        await fill(database, "ben", 2, 3)
        done = await retention(database, replace(PLENTY, total=3)).run_if_due()
        assert done == {**NOTHING, "beyond_newest_of_all": 1}
        assert await left(database, "ana", "ben") == {"ana": [1], "ben": [2, 3]}

    async def test_nobody_makes_room_for_another_who_has_too_many(self, database: Database) -> None:
        await fill(database, "heavy", *(number / 100 for number in range(20)))
        await fill(database, "ana", 5, 6)
        await retention(database, replace(PLENTY, per_user=3, total=5)).run_if_due()
        assert {scope: len(kept) for scope, kept in (await left(database, "heavy", "ana")).items()} == {
            "heavy": 3,
            "ana": 2,
        }

    async def test_facts_stay_whatever_their_age_and_number(self, database: Database) -> None:
        await fill(database, "ana", 1, 500, 900, kind="fact")
        await fill(database, "ana", 500)
        await retention(database, RetentionLimits(days=1, per_user=1, total=1)).run_if_due()
        assert len(await MemoryRows(database).facts("ana")) == 3
        assert await left(database, "ana") == {"ana": []}

    async def test_what_is_within_all_limits_stays(self, database: Database) -> None:
        await fill(database, "ana", 1, 2, 3)
        await retention(database, RetentionLimits(days=3, per_user=3, total=3)).run_if_due()
        assert await left(database, "ana") == {"ana": [1, 2, 3]}

    async def test_notes_of_erasures_that_nobody_needs_any_more(self, database: Database) -> None:
        rows = MemoryRows(database)
        await rows.erase("ana", "episode", at=NOW - 1.01 * DAY)
        await rows.erase_thread("ben", "episode", ThreadId("t-1"), at=NOW - 0.99 * DAY)
        done = await retention(database).run_if_due()
        assert done is not None
        assert done["erasure_notes"] == 1
        late = NewMemory(kind="episode", content="said before", content_hash=b"1", thread_id="t-1")
        assert not await rows.record("ben", late, at=NOW - DAY)

    async def test_tombstones_of_episodes_that_nobody_needs_any_more(self, database: Database) -> None:
        rows = MemoryRows(database)
        for days in (1.01, 0.99):
            late = NewMemory(kind="episode", content=f"{days}", content_hash=f"{days}".encode())
            await rows.record("ana", late, at=NOW - 2 * DAY)
            [row] = await rows.episodes("ana", limit=1)
            await rows.forget("ana", row.id, at=NOW - days * DAY)
        done = await retention(database).run_if_due()
        assert done is not None
        assert done["erasure_notes"] == 1
        assert not await rows.record("ana", late, at=NOW - 2 * DAY)

    async def test_from_an_empty_database_nothing(self, database: Database) -> None:
        done = await retention(database).run_if_due()
        assert done is not None
        assert set(done.values()) == {0}


class TestSteps:
    async def test_no_statement_deletes_more_than_a_step(self, database: Database) -> None:
        await fill(database, "ana", *range(1, 6))
        await fill(database, "ben", *range(11, 16))
        rows = CountedRows(database)
        done = await retention(
            database, RetentionLimits(days=10, per_user=1, total=1), rows=rows, step_rows=2
        ).run_if_due()
        assert done is not None
        assert (done["too_old"], done["beyond_newest_of_user"]) == (5, 4)
        assert rows.steps == [(None, 2)] * 3 + [("ana", 2)] * 3 + [(None, 2)]

    @pytest.mark.parametrize("step_scopes", [1, 2, 3, 5, 100])
    async def test_every_user_is_looked_at(self, database: Database, step_scopes: int) -> None:
        scopes = ("u1", "u10", "u_1", "uX1", "%")
        for scope in scopes:
            await fill(database, scope, 1, 2)
        await retention(database, replace(PLENTY, per_user=1), step_scopes=step_scopes).run_if_due()
        assert await left(database, *scopes) == {scope: [1] for scope in scopes}


class TestOnceADay:
    async def test_a_second_run_of_the_day_does_nothing(self, database: Database) -> None:
        one = retention(database, replace(PLENTY, days=90))
        assert await one.run_if_due() is not None
        await fill(database, "ana", 200)
        assert await one.run_if_due() is None
        assert await left(database, "ana") == {"ana": [200]}

    async def test_the_next_day_it_is_done_again(self, database: Database) -> None:
        clock = Clock(NOW.replace(hour=23, minute=59))
        one = retention(database, replace(PLENTY, days=90), clock=clock)
        assert await one.run_if_due() is not None
        await fill(database, "ana", 200)
        clock.now += timedelta(minutes=1)
        assert await one.run_if_due() is not None
        assert await left(database, "ana") == {"ana": []}

    async def test_of_two_processes_at_once_one_does_it(self, database: Database, database_url: str) -> None:
        await fill(database, "ana", 1, 2, 3)
        other = make_database(database_url)
        async with other.running():
            each = [retention(one, replace(PLENTY, per_user=1)) for one in (database, other, database, other)]
            done = [result for result in await asyncio.gather(*(one.run_if_due() for one in each)) if result]
        assert [result["beyond_newest_of_user"] for result in done] == [2]

    @pytest.mark.parametrize("error", [asyncio.CancelledError(), StorageUnavailable()], ids=["died", "database away"])
    async def test_a_run_that_ended_in_the_middle_does_not_keep_the_next_days_from_it(
        self, database: Database, error: BaseException
    ) -> None:
        await fill(database, "ana", 200)
        clock, limits = Clock(), replace(PLENTY, days=90)
        with pytest.raises(type(error)):
            await retention(database, limits, rows=RowsThatFail(database, error), clock=clock).run_if_due()
        clock.now += DAY
        assert await retention(database, limits, clock=clock).run_if_due() is not None
        assert await left(database, "ana") == {"ana": []}

    def test_days_are_those_of_utc(self) -> None:
        tokyo = timezone(timedelta(hours=9))
        assert day_of(datetime(2026, 3, 1, 8, 59, tzinfo=tokyo)) == datetime(2026, 2, 28, tzinfo=UTC)
        assert day_of(datetime(2026, 3, 1, 9, tzinfo=tokyo)) == datetime(2026, 3, 1, tzinfo=UTC)


class TestRunning:
    """The task that a server has for it."""

    async def test_it_is_tried_soon_after_the_start_and_again(self, database: Database) -> None:
        await fill(database, "ana", 200)
        clock = Clock()
        one = retention(database, replace(PLENTY, days=90), clock=clock, first_after_seconds=0, every_seconds=0.01)
        async with one.running():
            await eventually(lambda: self.is_empty(database))
            await fill(database, "ana", 300)
            clock.now += DAY
            await eventually(lambda: self.is_empty(database))

    async def test_it_goes_on_after_a_failure_which_is_one_line(self, database: Database) -> None:
        await fill(database, "ana", 200)
        clock = Clock()
        one = retention(
            database,
            replace(PLENTY, days=90),
            clock=clock,
            rows=RowsThatFail(database, StorageUnavailable(), RuntimeError("what nobody thought of")),
            first_after_seconds=0,
            every_seconds=0.01,
        )
        with capture_logs() as lines:
            async with one.running():
                for failures in (1, 2):
                    await until(lambda: len(self.failed(lines)) == failures)  # noqa: B023
                    clock.now += DAY
                await eventually(lambda: self.is_empty(database))
        assert [line["code"] for line in self.failed(lines)] == ["storage_unavailable", "RuntimeError"]

    async def test_what_was_deleted_is_one_line_without_a_word_of_it(self, database: Database) -> None:
        await fill(database, "ana", 1, 2, 200)
        one = retention(database, RetentionLimits(days=90, per_user=1, total=1), first_after_seconds=0)
        with capture_logs() as lines:
            async with one.running():
                await until(lambda: lines)
        [line] = lines
        assert 0 <= line.pop("seconds") < 10
        counts = {**NOTHING, "too_old": 1, "beyond_newest_of_user": 1}
        assert line == {"event": "retention", "log_level": "info", **counts}

    async def test_a_day_on_which_it_is_done_already_is_not_worth_a_line(self, database: Database) -> None:
        await retention(database).run_if_due()
        rows = RetentionRows(database)
        clock = Clock()
        one = retention(database, rows=rows, clock=clock, first_after_seconds=0, every_seconds=0.001)
        with capture_logs() as lines:
            async with one.running():
                clock.now += DAY
                await until(lambda: lines)
        assert len(lines) == 1

    async def test_it_ends_with_the_block_in_the_middle_of_its_work_too(self, database: Database) -> None:
        rows = RowsThatHang(database)
        with capture_logs() as lines:
            async with retention(database, rows=rows, first_after_seconds=0).running():
                await rows.pruning.wait()
                assert self.tasks() == 1
        assert (self.tasks(), lines) == (0, [])

    async def test_it_ends_with_the_block_before_its_first_try(self, database: Database) -> None:
        async with retention(database).running():
            assert self.tasks() == 1
        assert self.tasks() == 0

    def tasks(self) -> int:
        return sum(task.get_name() == "retention" for task in asyncio.all_tasks())

    async def is_empty(self, database: Database) -> bool:
        return await left(database, "ana") == {"ana": []}

    def failed(self, lines: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        return [line for line in lines if line["event"] == "retention_failed"]


async def test_a_server_does_it_with_the_limits_of_its_settings(database: Database, database_url: str) -> None:
    await fill(database, "ana", 1, 2, 3, 9)
    values: dict[str, Any] = {
        "database_url": database_url,
        "memory_episodes_max_days": 8,
        "memory_episodes_max": 2,
        "memory_episodes_max_total": 100,
    }
    settings = Settings(**values)
    services = assemble(settings, database=Database(settings), server=RecordedServer(), clock=Clock())
    assert services.retention.limits == RetentionLimits(days=8, per_user=2, total=100)
    services = replace(services, retention=replace(services.retention, first_after_seconds=0))

    async def is_done() -> bool:
        return await left(database, "ana") == {"ana": [1, 2]}

    async with services.running():
        await eventually(is_done)
