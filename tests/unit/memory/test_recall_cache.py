import asyncio
import sys
from collections.abc import Iterator

import pytest

from backend.ids import UserId
from backend.memory.recall_cache import RecallCache

pytestmark = pytest.mark.anyio

ANA, BEN = UserId("ana"), UserId("ben")


class Source:
    """Counts its loads and hands out what it holds now; a held load waits for `release`."""

    def __init__(self, value: str = "first") -> None:
        self.value = value
        self.loads = 0
        self.started = asyncio.Event()
        self.release = asyncio.Event()
        self.release.set()

    async def load(self) -> str:
        self.loads += 1
        value = self.value
        self.started.set()
        await self.release.wait()
        return value


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_second_read_asks_nothing() -> None:
    cache, source = RecallCache[str, str](), Source()
    assert [await cache.get(ANA, "", source.load) for _ in range(3)] == ["first"] * 3
    assert source.loads == 1


async def test_age_counts_from_the_load_and_reads_do_not_renew_it() -> None:
    clock, source = Clock(), Source()
    cache = RecallCache[str, str](max_age_seconds=60, timer=clock)
    await cache.get(ANA, "", source.load)
    for second in (20, 40, 59):
        clock.now = second
        await cache.get(ANA, "", source.load)
    assert source.loads == 1
    clock.now = 61
    source.value = "second"
    assert await cache.get(ANA, "", source.load) == "second"


async def test_a_drop_forgets_all_of_one_user_and_nothing_of_another() -> None:
    cache, source = RecallCache[str, str](), Source()
    for user, key in ((ANA, "profile"), (ANA, "thread"), (BEN, "profile")):
        await cache.get(user, key, source.load)
    cache.drop(ANA)
    source.value = "second"
    assert await cache.get(ANA, "profile", source.load) == "second"
    assert await cache.get(ANA, "thread", source.load) == "second"
    assert await cache.get(BEN, "profile", source.load) == "first"


async def test_a_drop_of_everything_forgets_everybody() -> None:
    cache, source = RecallCache[str, str](), Source()
    await cache.get(ANA, "", source.load)
    await cache.get(BEN, "", source.load)
    cache.drop(None)
    await cache.get(ANA, "", source.load)
    await cache.get(BEN, "", source.load)
    assert source.loads == 4


@pytest.mark.parametrize("dropped", [ANA, None])
async def test_a_load_that_began_before_a_write_does_not_fill_the_cache_after_it(dropped: UserId | None) -> None:
    cache, source = RecallCache[str, str](), Source("before the write")
    source.release.clear()
    async with asyncio.TaskGroup() as tasks:
        early = tasks.create_task(cache.get(ANA, "", source.load))
        await source.started.wait()
        cache.drop(dropped)
        source.value = "after the write"
        source.release.set()
    assert early.result() == "before the write"
    assert await cache.get(ANA, "", source.load) == "after the write"


async def test_a_failed_load_is_not_cached() -> None:
    cache, source = RecallCache[str, str](), Source()

    async def fails() -> str:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await cache.get(ANA, "", fails)
    assert await cache.get(ANA, "", source.load) == "first"


async def test_the_number_of_entries_is_bounded() -> None:
    cache, source = RecallCache[str, str](max_entries=2), Source()
    for user in ("a", "b", "c", "a"):
        await cache.get(UserId(user), "", source.load)
    assert source.loads == 4


@pytest.fixture
def restless_threads() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


async def test_event_loops_in_several_threads_leave_it_whole(restless_threads: None) -> None:
    cache = RecallCache[str, str](max_entries=50, max_age_seconds=0.001)

    async def use(seed: int) -> None:
        for number in range(seed, seed + 3_000):
            user_id = UserId(f"user-{number % 80}")
            assert await cache.get(user_id, "key", Source(user_id).load) == user_id
            if number % 7 == 0:
                cache.drop(user_id if number % 49 else None)

    await asyncio.gather(*(asyncio.to_thread(asyncio.run, use(seed)) for seed in range(4)))
