"""One writer at a time, and nothing cached outlives a write: `PostgresWrites` and its double."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from backend.errors import StorageUnavailable
from backend.ids import ThreadId, UserId
from backend.memory.exclusive import ExclusiveWrites, PostgresWrites
from tests.support.memory_doubles import WritesInMemory
from tests.support.postgres import make_database

pytestmark = pytest.mark.anyio

ANA, BEN, T1, T2 = UserId("ana"), UserId("ben"), ThreadId("t1"), ThreadId("t2")
NEVER = 0.2
"""Seconds after which something that must not happen counts as not happening."""


class Dropped:
    def __init__(self) -> None:
        self.users: list[UserId] = []

    def __call__(self, user_id: UserId) -> None:
        self.users.append(user_id)


@pytest.fixture
def dropped() -> Dropped:
    return Dropped()


@pytest.fixture(params=["memory", "postgres", "two processes on postgres"])
async def writers(request: pytest.FixtureRequest, dropped: Dropped) -> AsyncGenerator[tuple[ExclusiveWrites, ...]]:
    """Two writers' ways in: of one process, or of two."""
    if request.param == "memory":
        writes = WritesInMemory(dropped)
        yield writes, writes
        return
    async with AsyncExitStack() as stack:
        opened: list[ExclusiveWrites] = []
        for _ in range(2 if "two" in request.param else 1):
            database = make_database(request.getfixturevalue("database_url"))
            await stack.enter_async_context(database.running())
            opened.append(PostgresWrites(database=database, writers=2, drop=dropped))
        yield opened[0], opened[-1]


@asynccontextmanager
async def in_block(
    writes: ExclusiveWrites, user_id: UserId = ANA, thread_id: ThreadId | None = None
) -> AsyncGenerator[asyncio.Event]:
    """A writer in another task that stays in its block until the event is set or the test is done."""
    entered, leave = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        async with writes.of(user_id, thread_id):
            entered.set()
            await leave.wait()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(write())
        await entered.wait()
        try:
            yield leave
        finally:
            leave.set()


async def test_the_second_writer_of_a_user_waits_for_the_first(writers: tuple[ExclusiveWrites, ...]) -> None:
    first, second = writers
    async with in_block(first) as leave:
        waiting = asyncio.create_task(second.of(ANA).__aenter__())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(waiting), NEVER)
        leave.set()
        await asyncio.wait_for(waiting, 2)


async def test_what_is_read_changed_and_written_back_is_never_lost(writers: tuple[ExclusiveWrites, ...]) -> None:
    count = 0

    async def count_up(writes: ExclusiveWrites) -> None:
        nonlocal count
        async with writes.of(ANA):
            read = count
            await asyncio.sleep(0)
            count = read + 1

    await asyncio.gather(*(count_up(writes) for writes in writers for _ in range(10)))
    assert count == 20


@pytest.mark.parametrize(
    ("user_id", "thread_id"),
    [
        pytest.param(BEN, None, id="another user"),
        pytest.param(ANA, T1, id="a thread of the user"),
        pytest.param(BEN, T1, id="a thread of another user"),
    ],
)
async def test_others_do_not_wait(
    writers: tuple[ExclusiveWrites, ...], user_id: UserId, thread_id: ThreadId | None
) -> None:
    first, second = writers
    async with in_block(first, ANA), asyncio.timeout(2), second.of(user_id, thread_id):
        pass


async def test_two_threads_of_a_user_do_not_wait_for_each_other(writers: tuple[ExclusiveWrites, ...]) -> None:
    first, second = writers
    async with in_block(first, ANA, T1), asyncio.timeout(2), second.of(ANA, T2):
        pass


async def test_who_waits_for_a_user_holds_up_nobody_else(writers: tuple[ExclusiveWrites, ...]) -> None:
    """With two places for writers, three that wait for one user must not take the second."""
    first, second = writers
    async with in_block(first):
        waiting = [asyncio.create_task(first.of(ANA).__aenter__()) for _ in range(3)]
        await asyncio.sleep(NEVER)
        async with asyncio.timeout(2):
            async with first.of(BEN):
                pass
            async with second.of(ANA, T1):
                pass
        for one in waiting:
            one.cancel()
        await asyncio.wait(waiting)


async def test_what_is_cached_of_the_user_is_dropped_before_the_writer_goes_on(
    writers: tuple[ExclusiveWrites, ...], dropped: Dropped
) -> None:
    async with writers[0].of(ANA, T1):
        assert dropped.users == []
    assert dropped.users == [ANA]


async def test_an_error_in_the_block_passes_drops_and_lets_the_next_one_in(
    writers: tuple[ExclusiveWrites, ...], dropped: Dropped
) -> None:
    with pytest.raises(ZeroDivisionError):
        async with writers[0].of(ANA):
            raise ZeroDivisionError
    assert dropped.users == [ANA]
    async with asyncio.timeout(2), writers[1].of(ANA):
        pass


async def test_a_writer_that_is_cancelled_lets_the_next_one_in(writers: tuple[ExclusiveWrites, ...]) -> None:
    first, second = writers
    entered = asyncio.Event()

    async def write() -> None:
        async with first.of(ANA):
            entered.set()
            await asyncio.Event().wait()

    writing = asyncio.create_task(write())
    await entered.wait()
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    async with asyncio.timeout(2), second.of(ANA):
        pass


@pytest.mark.parametrize("writers", ["memory", "two processes on postgres"], indirect=True)
async def test_who_waits_in_vain_is_told_that_storage_is_busy(writers: tuple[ExclusiveWrites, ...]) -> None:
    first, second = writers
    async with in_block(first):
        with pytest.raises(StorageUnavailable):
            async with second.of(ANA):
                pass


async def test_many_writers_leave_their_holders_the_connections_they_need(database_url: str, dropped: Dropped) -> None:
    """Each holds one connection and takes another inside; with a pool of four, eight at once would starve."""
    database = make_database(database_url, pool_size=4, timeout_seconds=2.0)
    async with database.running():
        writes = PostgresWrites(database=database, writers=2, drop=dropped)

        async def write(user_id: UserId) -> None:
            async with writes.of(user_id), database.connection() as connection:
                await connection.execute("SELECT pg_sleep(0.02)")

        await asyncio.gather(*(write(UserId(f"user-{number}")) for number in range(24)))
    assert len(dropped.users) == 24
