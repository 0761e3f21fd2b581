"""The thread summaries of a user as stored and shown, over both stores."""

import dataclasses
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from backend.errors import StorageUnavailable
from backend.ids import ThreadId, UserId
from backend.memory.scope import PAGE, threads_namespace
from backend.memory.summaries.service import Summaries
from backend.memory.summaries.window import Window
from tests.support.conditions import eventually
from tests.support.memory_homes import Home, Process, put_by_hand, warmed
from tests.support.passes import a_pass, a_row, commit, fill, ids

pytestmark = pytest.mark.anyio

ANA, BEN = UserId("ana"), UserId("ben")
T1, T10 = ThreadId("t-1"), ThreadId("t-10")
PREFIXES = [ThreadId(text) for text in ("t", "t-1", "t-10", "t-1:1", "t-1:", ":", "t_1", "t%")]


@pytest.fixture
def summaries(process: Process) -> Summaries:
    return process.memory_of(ANA).summaries


@pytest.fixture
def tokyo() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


async def sequences(summaries: Summaries, thread_id: ThreadId = T1) -> list[int]:
    return [row.sequence for row in (await summaries.stored(thread_id)).rows]


async def keys(process: Process, user_id: UserId = ANA) -> list[str]:
    return sorted(item.key for item in await process.store.asearch(threads_namespace(user_id), limit=2_000))


def another_answer(window: Window) -> str:
    return f"another answer in {window}"


class TestCommit:
    async def test_a_pass_becomes_the_thread_s_next_row(self, process: Process, summaries: Summaries) -> None:
        done = a_pass(0, 1, ids(3), text="ship on Friday")
        row = await commit(summaries, T1, done)
        assert row is not None
        assert (await process.store.asearch(threads_namespace(ANA)))[0].value == {
            "thread_id": "t-1",
            "sequence": 1,
            "start_message_index": 0,
            "end_message_index": 1,
            "message_count": 2,
            "message_ids": ["h0", "h1"],
            "summary": {"entries": [{"question": "ship on Friday", "answer": "noted", "refs": ["#1", "#2"]}]},
            "trigger_reason": "turn_based",
            "token_count_before": 100,
            "token_count_after": 10,
            "created_at": "2026-03-01T12:00:00Z",
            "excerpt_digest": "digest of h0/h1",
        }
        assert await keys(process) == ["t-1:1"]
        assert (await summaries.stored(T1)).rows == [row]

    async def test_more_than_ten_passes_are_read_whole_and_in_the_order_of_their_numbers(
        self, summaries: Summaries
    ) -> None:
        await fill(summaries, T1, 12)
        rows = (await summaries.of(T1)).rows
        assert [row.sequence for row in rows] == list(range(1, 13))
        assert [row.start_message_index for row in rows] == list(range(0, 24, 2))
        assert [row.sequence for row in await summaries.all()] == list(range(1, 13))

    async def test_threads_whose_ids_begin_alike_have_rows_of_their_own(
        self, process: Process, summaries: Summaries
    ) -> None:
        for number, thread_id in enumerate(PREFIXES, start=1):
            await fill(summaries, thread_id, number, prefix=f"{number}-")
        for number, thread_id in enumerate(PREFIXES, start=1):
            rows = (await summaries.stored(thread_id)).rows
            assert [row.sequence for row in rows] == list(range(1, number + 1))
            assert {row.thread_id for row in rows} == {thread_id}
        for number, thread_id in enumerate(PREFIXES, start=1):
            assert await summaries.delete(thread_id, rebuild=True) == number
            assert len(await keys(process)) == sum(range(number + 1, len(PREFIXES) + 1))

    async def test_a_window_that_is_covered_meanwhile_is_not_written_again(self, summaries: Summaries) -> None:
        assert await commit(summaries, T1, a_pass(0, 1, ids(2)))
        assert await commit(summaries, T1, a_pass(0, 1, ids(2))) is None
        assert await commit(summaries, T1, a_pass(0, 3, ids(4))) is None
        assert await sequences(summaries) == [1]

    async def test_a_window_that_would_leave_a_gap_is_not_written(self, summaries: Summaries) -> None:
        assert await commit(summaries, T1, a_pass(2, 3, ids(4))) is None
        assert await sequences(summaries) == []

    async def test_a_row_of_another_branch_does_not_stand_in_the_way(self, summaries: Summaries) -> None:
        await commit(summaries, T1, a_pass(0, 1, ids(2)))
        assert await commit(summaries, T1, a_pass(0, 1, ids(2, "other")))
        assert await sequences(summaries) == [1, 2]

    async def test_a_row_of_a_regenerated_answer_does_not_stand_in_the_way(self, summaries: Summaries) -> None:
        done = a_pass(0, 1, ids(2))
        await commit(summaries, T1, done)
        again = dataclasses.replace(a_pass(0, 1, ids(2)), digest_of=another_answer)
        assert await commit(summaries, T1, again)
        assert await sequences(summaries) == [1, 2]

    async def test_stamps_are_stored_in_utc_whatever_the_clock_says(
        self, process: Process, summaries: Summaries
    ) -> None:
        await commit(summaries, T1, a_pass(0, 1, ids(2)), at=datetime.fromisoformat("2026-03-01T21:00:00+09:00"))
        assert (await process.store.asearch(threads_namespace(ANA)))[0].value["created_at"] == "2026-03-01T12:00:00Z"


class TestReading:
    async def test_damaged_rows_are_passed_over_and_the_others_returned_everywhere(
        self, process: Process, summaries: Summaries
    ) -> None:
        """CASES 16."""
        namespace = threads_namespace(ANA)
        without_sequence = a_row()
        del without_sequence["sequence"]
        by_hand = {
            "t-1:1": a_row(),
            "t-1:2": a_row(sequence=2, start_message_index=2, end_message_index=3, message_ids=["h2", "h3"]),
            "t-1:3": {"thread_id": "t-1", "entries": "oops"},
            "t-1:4": without_sequence,
            "t-1:5": a_row(sequence=5, summary=None),
            "t-1:9": a_row(sequence=10**30),
            "t-1:10": a_row(sequence=11, end_message_index=10**30),
            "t-1:11": a_row(sequence=12, created_at="0001-01-01T00:00:00+14:00"),
            "t-1:12": {},
        }
        for key, value in by_hand.items():
            await put_by_hand(process.store, namespace, key, value)
        assert [row.sequence for row in (await summaries.of(T1)).rows] == [1, 2]
        assert [row.sequence for row in await summaries.all()] == [1, 2]
        row = await commit(summaries, T1, a_pass(4, 5, ids(6)))
        assert row is not None
        assert row.sequence > 2
        for key, value in by_hand.items():
            item = await process.store.aget(namespace, key)
            assert item is not None
            assert item.value == value

    async def test_stamps_of_every_kind_are_read_as_utc_and_in_order(
        self, process: Process, summaries: Summaries, tokyo: None
    ) -> None:
        """CASES 17."""
        stamps = [
            "2026-03-01T12:00:00",
            "2026-03-01T12:00:01Z",
            "2026-03-01T12:00:02+00:00",
            "2026-03-01T04:00:03-08:00",
        ]
        for number, stamp in reversed(list(enumerate(stamps, start=1))):
            await put_by_hand(
                process.store, threads_namespace(ANA), f"t-1:{number}", a_row(sequence=number, created_at=stamp)
            )
        rows = (await summaries.of(T1)).rows
        assert [row.created_at for row in rows] == [datetime(2026, 3, 1, 12, 0, s, tzinfo=UTC) for s in range(4)]
        assert all(row.created_at.utcoffset() == UTC.utcoffset(None) for row in rows)

    async def test_a_thread_without_rows_is_empty(self, summaries: Summaries) -> None:
        record = await summaries.of(T1)
        assert (list(record.rows), list(record.fenced)) == ([], [])
        assert list(await summaries.all()) == []

    async def test_every_row_of_more_than_a_page_is_found(self, process: Process, summaries: Summaries) -> None:
        for number in range(1, PAGE + 22):
            await put_by_hand(process.store, threads_namespace(ANA), f"t-1:{number}", a_row(sequence=number))
        assert await sequences(summaries) == list(range(1, PAGE + 22))
        assert len(await summaries.all()) == PAGE + 21


class TestCache:
    async def test_a_second_read_asks_the_database_nothing(self, process: Process, summaries: Summaries) -> None:
        await fill(summaries, T1, 2)
        await warmed(lambda: summaries.of(T1), process.watch)
        process.watch.error = StorageUnavailable()
        assert [row.sequence for row in (await summaries.of(T1)).rows] == [1, 2]

    async def test_a_thread_without_rows_is_remembered_too(self, process: Process, summaries: Summaries) -> None:
        await warmed(lambda: summaries.of(T1), process.watch)
        process.watch.error = StorageUnavailable()
        assert (await summaries.of(T1)).rows == []

    async def test_each_change_is_seen_at_once_where_it_was_made(self, summaries: Summaries) -> None:
        async def seen() -> tuple[int, int]:
            record = await summaries.of(T1)
            return len(record.rows), len(record.fenced)

        assert await seen() == (0, 0)
        await commit(summaries, T1, a_pass(0, 1, ids(2)))
        assert await seen() == (1, 0)
        await summaries.delete(T1, rebuild=False)
        assert await seen() == (0, 2)
        await summaries.purge(T1)
        assert await seen() == (0, 0)

    async def test_what_one_process_writes_and_removes_is_soon_seen_in_another(self, home: Home) -> None:
        async with home.process() as one, home.process() as other:
            writer, reader = one.memory_of(ANA).summaries, other.memory_of(ANA).summaries

            async def sees(rows: int) -> bool:
                return len((await reader.of(T1)).rows) == rows

            assert await sees(0)
            await commit(writer, T1, a_pass(0, 1, ids(2)))
            await eventually(lambda: sees(1))
            await writer.purge(T1)
            await eventually(lambda: sees(0))

    async def test_a_failed_read_is_told_and_not_kept(self, process: Process, summaries: Summaries) -> None:
        await commit(summaries, T1, a_pass(0, 1, ids(2)))
        process.watch.error = StorageUnavailable()
        with pytest.raises(StorageUnavailable):
            await summaries.of(T1)
        process.watch.error = None
        assert len((await summaries.of(T1)).rows) == 1
