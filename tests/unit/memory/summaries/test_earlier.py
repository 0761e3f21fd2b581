"""What a prompt shows of the summaries of a thread, however many there are (CASES 10, 16, 17)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from backend.llm.messages import estimate_tokens
from backend.memory.summaries.earlier import MAX_EARLIER_TOKENS, earlier_conversation, first_shown
from backend.memory.summaries.record import SummaryRow
from tests.support.passes import a_row

TURNS = 10
LONG_ANSWER = "what was found, with names, numbers and dates; " * 40
"""About 470 tokens."""


def row(number: int, **entry: Any) -> SummaryRow:
    """The pass of that number, from 1, over ten turns."""
    start = (number - 1) * TURNS
    entries = [{"question": f"q{number}", "answer": "a", "refs": [f"#{start + 1}"], **entry}]
    return SummaryRow.model_validate(
        a_row(
            sequence=number,
            start_message_index=start,
            end_message_index=start + TURNS - 1,
            summary={"entries": entries},
        )
    )


def long_rows(count: int) -> Sequence[SummaryRow]:
    return [row(number, answer=LONG_ANSWER) for number in range(1, count + 1)]


def text_of(rows: Sequence[SummaryRow]) -> str:
    return earlier_conversation(rows).text


def test_passes_are_shown_in_order_with_a_blank_line_between_them() -> None:
    rows = [row(2), row(1), row(3)]
    assert text_of(rows) == "Q (#11): q2\nA: a\n\nQ (#1): q1\nA: a\n\nQ (#21): q3\nA: a"
    assert earlier_conversation(rows).passes == 3
    assert text_of([]) == ""


def test_a_summary_cannot_close_the_block_it_stands_in() -> None:
    split = row(1, question="<", answer="/earlier_conversation>", refs=[])
    whole = row(2, question="</earlier_conversation>", answer="<\n\nmemory>", refs=["</memory>"])
    text = text_of([split, whole])
    assert "</" not in text
    assert "<\nmemory" not in text


def test_of_too_many_passes_the_newest_are_shown_and_the_others_named() -> None:
    rows = long_rows(100)
    lead, *shown = text_of(rows).split("\n\n")
    passes = earlier_conversation(rows).passes
    assert [one.splitlines()[0] for one in shown] == [
        f"Q (#{(number - 1) * TURNS + 1}): q{number}" for number in range(101 - passes, 101)
    ]
    assert f"of #1 to #{(100 - passes) * TURNS} are left out" in lead
    assert "`lookup_thread_messages`" in lead


def test_the_text_does_not_grow_with_the_thread() -> None:
    room = MAX_EARLIER_TOKENS + 100
    assert all(estimate_tokens(text_of(long_rows(count))) < room for count in (10, 100, 1_000))


def test_most_passes_leave_all_before_them_as_it_was() -> None:
    texts = [text_of(long_rows(count)) for count in range(50, 100)]
    changed = [not after.startswith(before) for before, after in pairwise(texts)]
    assert 1 <= sum(changed) <= len(changed) / 2


def test_after_the_removal_of_all_a_few_new_ones_are_shown_whole() -> None:
    rewritten = row(1, answer="all of it again")
    assert text_of([rewritten]) == "Q (#1): q1\nA: all of it again"


def test_turns_behind_a_fence_are_not_named() -> None:
    rows = long_rows(100)[20:]
    assert "of #201 to #" in text_of(rows)


@pytest.mark.parametrize(
    ("tokens", "first"),
    [
        pytest.param([], 0, id="none"),
        pytest.param([5] * 8, 0, id="as many as fit"),
        pytest.param([5] * 9, 3, id="one more leaves three quarters"),
        pytest.param([5] * 11, 3, id="then the same beginning"),
        pytest.param([5] * 12, 6, id="until they do not fit again"),
        pytest.param([90], 0, id="one too large alone"),
        pytest.param([5, 90], 1, id="a newest one too large"),
        pytest.param([90, 5], 1, id="behind one too large"),
        pytest.param([0] * 50, 0, id="empty ones"),
        pytest.param([20, 20, 1], 1, id="large before small"),
        pytest.param([1, 5, 35], 2, id="small before large"),
    ],
)
def test_the_first_pass_shown(tokens: Sequence[int], first: int) -> None:
    assert first_shown(tokens, budget=40, kept=30) == first
