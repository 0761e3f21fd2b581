"""Stored summaries: what reads, in which order, and how an entry is shown (CASES 10, 16, 17)."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend.llm.strict_schema import strict_schema
from backend.memory.summaries.record import (
    SummaryEntries,
    SummaryEntry,
    SummaryRow,
    entries_text,
    next_sequence,
    read_rows,
)
from tests.support.wire_schema import schema_faults


def stored(sequence: int, **changes: Any) -> dict[str, Any]:
    return {
        "thread_id": "t",
        "sequence": sequence,
        "start_message_index": 0,
        "end_message_index": 2,
        "message_count": 3,
        "message_ids": ["a", "b", "c"],
        "summary": {"entries": [{"question": f"q{sequence}", "answer": "a", "refs": ["#1"]}]},
        "trigger_reason": "turn_based",
        "token_count_before": 100,
        "token_count_after": 10,
        "created_at": "2026-01-01T00:00:00Z",
        **changes,
    }


@pytest.fixture
def in_tokyo() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def test_rows_that_do_not_validate_are_skipped_and_the_others_read() -> None:
    without_sequence = {key: value for key, value in stored(4).items() if key != "sequence"}
    rows = read_rows(
        [
            stored(2),
            stored(9, summary={"entries": "oops"}),
            without_sequence,
            stored(7, summary=None),
            stored(5),
            None,
            [],
            "text",
            stored(3, created_at="yesterday"),
            stored(-1),
        ]
    )
    assert [row.sequence for row in rows] == [2, 5]
    assert next_sequence(rows) == 6


def test_rows_are_ordered_by_number_not_by_text() -> None:
    assert [row.sequence for row in read_rows(stored(n) for n in (10, 9, 100, 1))] == [1, 9, 10, 100]


@pytest.mark.parametrize(
    ("rows", "keys", "following"),
    [
        pytest.param([], [], 1, id="first"),
        pytest.param([stored(12)], [], 13, id="after the newest"),
        pytest.param([stored(2)], ["t:2", "t:11", "t:x", "t:"], 12, id="after the key of a row that does not read"),
        pytest.param([], ["a:b:7"], 8, id="thread id with a colon"),
    ],
)
def test_the_next_sequence_is_above_every_one_before(rows: list[Any], keys: list[str], following: int) -> None:
    assert next_sequence(read_rows(rows), keys=keys) == following


@pytest.mark.usefixtures("in_tokyo")
def test_stamps_of_every_kind_are_aware_and_in_order_wherever_the_machine_stands() -> None:
    stamps = ["2026-01-01T12:00:00", "2026-01-01T12:30:00Z", "2026-01-01T13:00:00+00:00", "2026-01-01T05:30:00-08:00"]
    rows = read_rows(stored(4 - n, created_at=stamp) for n, stamp in enumerate(stamps))
    by_time = sorted(rows, key=lambda row: row.created_at)
    assert [row.created_at for row in by_time] == [
        datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(minutes=30 * n) for n in range(4)
    ]
    assert all(row.created_at.utcoffset() == timedelta(0) for row in rows)
    assert [row.created_at for row in read_rows(row.as_json() for row in rows)] == [row.created_at for row in rows]


def test_a_row_reads_back_as_it_was_stored() -> None:
    row = SummaryRow.model_validate({**stored(3), "excerpt_digest": "d"})
    assert read_rows([row.as_json()]) == [row]
    assert row.as_json() == {**stored(3), "excerpt_digest": "d"}


def entries(*pairs: tuple[str, str, list[str]]) -> list[SummaryEntry]:
    return [SummaryEntry(question=question, answer=answer, refs=refs) for question, answer, refs in pairs]


def test_entries_are_shown_with_their_labels() -> None:
    shown = entries_text(entries(("When?", "Friday.\n\nNo, Monday.", ["#2", "#5"]), ("Where?", "東京", [])))
    assert shown == "Q (#2, #5): When?\nA: Friday.\nNo, Monday.\nQ: Where?\nA: 東京"


def test_the_schema_for_the_model_is_accepted_by_strict_providers() -> None:
    assert list(schema_faults(strict_schema(SummaryEntries))) == []
