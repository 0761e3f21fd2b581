"""Removing thread summaries, and what becomes of a pass that is under way meanwhile, over both stores."""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Iterable

import pytest
from langgraph.store.base import BaseStore, Op, Result

from backend.ids import ThreadId, UserId
from backend.memory.scope import PAGE, threads_namespace
from backend.memory.summaries.service import Summaries
from tests.support.memory_homes import Home, HomeInPostgres, Process, put_by_hand
from tests.support.passes import NOW, a_pass, a_row, commit, fill, ids

pytestmark = pytest.mark.anyio

ANA, BEN = UserId("ana"), UserId("ben")
T1, T10 = ThreadId("t-1"), ThreadId("t-10")
PREFIXES = [ThreadId(text) for text in ("t", "t-1", "t-10", "t-1:1", "t-1:", ":", "t_1", "t%")]


@pytest.fixture
def summaries(process: Process) -> Summaries:
    return process.memory_of(ANA).summaries


async def sequences(summaries: Summaries, thread_id: ThreadId = T1) -> list[int]:
    return [row.sequence for row in (await summaries.stored(thread_id)).rows]


async def keys(process: Process, user_id: UserId = ANA) -> list[str]:
    return sorted(item.key for item in await process.store.asearch(threads_namespace(user_id), limit=2_000))


class ShiftingStore(BaseStore):
    """Another store, in which something happens after the first full page of a listing."""

    def __init__(self, store: BaseStore, *, after_page: Callable[[], Awaitable[None]]) -> None:
        self._store = store
        self._after_page: Callable[[], Awaitable[None]] | None = after_page

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        asked = list(ops)
        results = await self._store.abatch(asked)
        if self._after_page is not None and isinstance(results[0], list) and len(results[0]) == PAGE:
            happens, self._after_page = self._after_page, None
            await happens()
        return results

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        raise NotImplementedError


class TestClaim:
    async def test_nothing_is_written_without_the_claim(self, summaries: Summaries) -> None:
        claim = await summaries.claim(T1)
        assert claim is not None
        await summaries.release(T1, claim)
        assert await summaries.commit(T1, a_pass(0, 1, ids(2)), claim=claim, at=NOW) is None
        assert await sequences(summaries) == []

    @pytest.mark.parametrize("taken_by", ["delete", "delete for good", "purge", "erase"])
    async def test_a_removal_takes_the_claim_of_the_pass_under_way(self, summaries: Summaries, taken_by: str) -> None:
        claim = await summaries.claim(T1)
        assert claim is not None
        removals = {
            "delete": lambda: summaries.delete(T1, rebuild=True),
            "delete for good": lambda: summaries.delete(T1, rebuild=False),
            "purge": lambda: summaries.purge(T1),
            "erase": summaries.erase,
        }
        await removals[taken_by]()
        assert await summaries.commit(T1, a_pass(0, 1, ids(2)), claim=claim, at=NOW) is None
        assert await sequences(summaries) == []
        assert await commit(summaries, T1, a_pass(0, 1, ids(2))), "the next run has a claim of its own"

    async def test_two_commits_at_once_write_one_row(self, home: Home) -> None:
        async with home.process() as one, home.process() as other:
            both = [process.memory_of(ANA).summaries for process in (one, other)]
            claim = await both[0].claim(T1)
            assert claim is not None
            rows = await asyncio.gather(
                *(summaries.commit(T1, a_pass(0, 1, ids(2)), claim=claim, at=NOW) for summaries in both * 2)
            )
            assert sum(row is not None for row in rows) == 1
            assert await sequences(both[0]) == [1]


class TestRemoval:
    async def test_deleting_counts_the_rows_and_makes_the_earliest_window_due_again(self, summaries: Summaries) -> None:
        await fill(summaries, T1, 3)
        assert await summaries.delete(T1, rebuild=True) == 3
        assert await sequences(summaries) == []
        assert await summaries.delete(T1, rebuild=True) == 0
        assert await commit(summaries, T1, a_pass(0, 1, ids(2)))

    async def test_a_fence_remembers_which_turns_were_covered_and_nothing_of_what_was_said(
        self, process: Process, summaries: Summaries
    ) -> None:
        await fill(summaries, T1, 2)
        assert await summaries.delete(T1, rebuild=False) == 2
        record = await summaries.stored(T1)
        assert (list(record.rows), list(record.fenced)) == ([], ids(4))
        assert await commit(summaries, T1, a_pass(0, 1, ids(6))) is None
        assert await commit(summaries, T1, a_pass(4, 5, ids(6)))
        assert await keys(process) == ["t-1:1"]

    async def test_a_fence_grows_with_what_is_removed_later(self, summaries: Summaries) -> None:
        await fill(summaries, T1, 2)
        await summaries.delete(T1, rebuild=False)
        await commit(summaries, T1, a_pass(4, 5, ids(6)))
        await summaries.delete(T1, rebuild=False)
        assert list((await summaries.stored(T1)).fenced) == ids(6)

    async def test_a_plain_delete_leaves_an_earlier_fence_where_it_is(self, summaries: Summaries) -> None:
        await fill(summaries, T1, 2)
        await summaries.delete(T1, rebuild=False)
        await commit(summaries, T1, a_pass(4, 5, ids(6)))
        await summaries.delete(T1, rebuild=True)
        assert list((await summaries.stored(T1)).fenced) == ids(4)

    async def test_a_purge_leaves_nothing_not_even_a_fence(self, process: Process, summaries: Summaries) -> None:
        await fill(summaries, T1, 2)
        await summaries.delete(T1, rebuild=False)
        await fill(summaries, T10, 1)
        await summaries.purge(T1)
        assert list((await summaries.stored(T1)).fenced) == []
        assert await keys(process) == ["t-10:1"]
        assert list(await process.ledger.threads_of("ana")) == [T10]
        assert await commit(summaries, T1, a_pass(0, 1, ids(2))), "a new thread of the same id works"

    async def test_erasing_purges_every_thread_of_this_user_only(self, process: Process, summaries: Summaries) -> None:
        theirs = process.memory_of(BEN).summaries
        await fill(summaries, T1, 2)
        await fill(summaries, T10, 11)
        await fill(theirs, T1, 1)
        await summaries.delete(T1, rebuild=False)
        assert await summaries.erase() == 11
        assert await keys(process) == []
        assert list(await process.ledger.threads_of("ana")) == []
        assert await keys(process, BEN) == ["t-1:1"]

    async def test_rows_that_cannot_be_read_go_too(self, process: Process, summaries: Summaries) -> None:
        namespace = threads_namespace(ANA)
        await put_by_hand(process.store, namespace, "t-1:7", {"entries": "oops"})
        await put_by_hand(process.store, namespace, "t-1:8", {"thread_id": "t-1", "sequence": "eight"})
        await put_by_hand(process.store, namespace, "t-2:1", {})
        assert await summaries.delete(T1, rebuild=True) == 2
        assert await summaries.erase() == 1
        assert await keys(process) == []

    async def test_rows_that_others_remove_meanwhile_do_not_hide_any_of_the_thread(
        self, process: Process, summaries: Summaries
    ) -> None:
        """They shift the pages: what stood on the second is on the first by the time the second is asked for."""
        namespace = threads_namespace(ANA)
        for start in (1, PAGE + 1):
            for number in range(start, start + PAGE):
                await put_by_hand(process.store, namespace, f"t-2:{number}", a_row(thread_id="t-2", sequence=number))
            if start == 1:
                await put_by_hand(process.store, namespace, "t-1:1", a_row())

        async def remove_the_others() -> None:
            for number in range(1, 2 * PAGE + 1):
                await process.store.adelete(namespace, f"t-2:{number}")

        shifting = dataclasses.replace(summaries, store=ShiftingStore(process.store, after_page=remove_the_others))
        assert await shifting.purge(T1) == 1
        assert await keys(process) == []


async def test_rows_that_are_no_objects_are_passed_over_and_removed(database_url: str) -> None:
    async with HomeInPostgres(database_url).process() as process:
        summaries, namespace = process.memory_of(ANA).summaries, threads_namespace(ANA)
        await fill(summaries, T1, 1)
        for number, value in enumerate((["no", "object"], "text", 7, None), start=2):
            await put_by_hand(process.store, namespace, f"t-1:{number}", value)
        assert await sequences(summaries) == [1]
        assert [row.sequence for row in await summaries.all()] == [1]
        assert await commit(summaries, T1, a_pass(2, 3, ids(4)))
        assert await summaries.delete(T1, rebuild=True) == 6
        assert await keys(process) == []
