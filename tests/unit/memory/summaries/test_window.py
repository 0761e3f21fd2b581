"""Which turns a pass compresses, and which summaries count in a branch (CASES 10, 11)."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ChatMessage, HumanMessage, ToolMessage

from backend.memory.summaries.record import SummaryEntries, SummaryRow
from backend.memory.summaries.window import Window, complete_turns, coverage, covered_end, next_window

IDS = [f"h{turn}" for turn in range(12)]


def row(
    start: int, end: int, *, sequence: int = 1, ids: Sequence[str] | None = None, digest: str | None = None
) -> SummaryRow:
    return SummaryRow(
        thread_id="t",
        sequence=sequence,
        start_message_index=start,
        end_message_index=end,
        message_count=end - start + 1,
        message_ids=list(IDS[start : end + 1] if ids is None else ids),
        summary=SummaryEntries(entries=[]),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        excerpt_digest=digest,
    )


@pytest.mark.parametrize(
    ("human_count", "keep_recent", "covered", "window"),
    [
        pytest.param(0, 3, -1, None, id="no turns"),
        pytest.param(2, 3, -1, None, id="below K"),
        pytest.param(3, 3, -1, Window(0, 2), id="fresh, turn 3"),
        pytest.param(4, 3, -1, Window(0, 2), id="four uncompressed"),
        pytest.param(7, 3, -1, Window(0, 5), id="seven uncompressed"),
        pytest.param(10, 3, -1, Window(0, 8), id="ten uncompressed"),
        pytest.param(5, 3, 2, None, id="quiet until turn 6"),
        pytest.param(6, 3, 2, Window(3, 5), id="fresh, turn 6"),
        pytest.param(9, 3, 5, Window(6, 8), id="fresh, turn 9"),
        pytest.param(11, 10, 0, Window(1, 10), id="K of ten"),
        pytest.param(9, 3, 8, None, id="all covered"),
        pytest.param(4, 3, 8, None, id="covered beyond the end"),
        pytest.param(9, 1, 5, Window(6, 8), id="K of one"),
        pytest.param(9, 0, -1, None, id="K of zero switches it off"),
        pytest.param(9, -1, -1, None, id="negative K"),
    ],
)
def test_the_next_window_is_the_largest_multiple_behind_what_is_covered(
    human_count: int, keep_recent: int, covered: int, window: Window | None
) -> None:
    assert next_window(human_count=human_count, keep_recent=keep_recent, covered_end=covered) == window


@given(st.integers(0, 400), st.integers(-1, 40))
def test_a_growing_thread_is_compressed_once_without_gap_or_overlap(turns: int, keep_recent: int) -> None:
    covered: list[int] = []
    for human_count in range(1, turns + 1):
        end = covered[-1] if covered else -1
        if window := next_window(human_count=human_count, keep_recent=keep_recent, covered_end=end):
            assert len(window.turns) == keep_recent
            covered += window.turns
    assert covered == list(range(turns // keep_recent * keep_recent if keep_recent > 0 else 0))


@pytest.mark.parametrize(
    ("rows", "human_ids", "end", "counting"),
    [
        pytest.param([], IDS, -1, [], id="no rows"),
        pytest.param([row(0, 2), row(3, 5, sequence=2)], IDS, 5, [1, 2], id="in order"),
        pytest.param([row(3, 5, sequence=2), row(0, 2)], IDS, 5, [1, 2], id="given in any order"),
        pytest.param([row(3, 5, sequence=2)], IDS, -1, [], id="gap at the start"),
        pytest.param([row(0, 2), row(6, 8, sequence=3)], IDS, 2, [1], id="gap in the middle"),
        pytest.param([row(0, 2)], ["h0", "edited", "h2"], -1, [], id="edited message"),
        pytest.param([row(0, 2), row(3, 5, sequence=2)], [*IDS[:4], "x", "h5"], 2, [1], id="edited later"),
        pytest.param([row(0, 2)], IDS[:2], -1, [], id="rolled back into the window"),
        pytest.param([row(0, 2)], ["h1", "h0", "h2"], -1, [], id="other order"),
        pytest.param([row(0, 2)], IDS[1:], -1, [], id="a message before it was deleted"),
        pytest.param([row(0, 2)], [None, "h1", "h2"], -1, [], id="a message without id"),
        pytest.param([row(0, 2, ids=["x0", "x1", "x2"]), row(0, 2, sequence=2)], IDS, 2, [2], id="other branch beside"),
        pytest.param([row(0, 2, ids=[])], IDS, -1, [], id="row without ids"),
        pytest.param([row(0, 2, ids=["h0", "h1"])], IDS, -1, [], id="too few ids"),
        pytest.param([row(0, 1, ids=["h0", "h1", "h2"])], IDS, -1, [], id="too many ids"),
        pytest.param([row(0, 5, ids=IDS[:3])], IDS[:3], -1, [], id="too few ids of a thread that was rolled back"),
        pytest.param([row(2, 0, ids=["h0"])], IDS, -1, [], id="backwards"),
        pytest.param([row(0, 2), row(0, 5, sequence=2)], IDS, 5, [2], id="the longer one of two"),
        pytest.param([row(0, 2), row(0, 2, sequence=2)], IDS, 2, [2], id="the later one of two"),
        pytest.param([row(0, 2), row(2, 4, sequence=2)], IDS, 4, [1, 2], id="overlap is no gap"),
        pytest.param(
            [row(0, 9, sequence=10), row(10, 11, sequence=9)], IDS, 11, [10, 9], id="turns order, not numbers"
        ),
    ],
)
def test_rows_count_while_they_are_of_this_branch_and_leave_no_gap(
    rows: list[SummaryRow], human_ids: list[str | None], end: int, counting: list[int]
) -> None:
    assert covered_end(rows, human_ids) == end
    assert [row.sequence for row in coverage(rows, human_ids).rows] == counting


def test_rows_of_an_abandoned_branch_do_not_block_new_ones() -> None:
    edited = ["h0", "new", *IDS[2:]]
    end = covered_end([row(0, 2), row(3, 5, sequence=2)], edited)
    assert next_window(human_count=9, keep_recent=3, covered_end=end) == Window(0, 8)


def test_removing_all_rows_makes_the_same_window_due_again() -> None:
    assert next_window(human_count=9, keep_recent=3, covered_end=covered_end([], IDS)) == Window(0, 8)


def test_a_regenerated_answer_under_the_same_human_ids_is_noticed_by_its_digest() -> None:
    rows = [row(0, 2, digest="d0"), row(3, 5, sequence=2, digest="old")]
    digests = {Window(0, 2): "d0", Window(3, 5): "new"}
    assert coverage(rows, IDS, digest_of=digests.__getitem__).end == 2
    assert coverage(rows, IDS).end == 5
    assert coverage([row(0, 2)], IDS, digest_of=lambda _: "any").end == 2


@pytest.mark.parametrize(
    ("fenced", "rows", "end"),
    [
        pytest.param(IDS[:3], [], 2, id="fenced turns need no row"),
        pytest.param(IDS[:3], [row(3, 5)], 5, id="rows go on behind the fence"),
        pytest.param(["h0", "other"], [], 0, id="the fence of another branch ends where the branches part"),
        pytest.param(["other"], [], -1, id="a fence of another branch"),
        pytest.param(["other", *IDS[:3]], [], 2, id="fences of several branches"),
        pytest.param(IDS[1:3], [], -1, id="a fence that does not reach down to the first turn"),
        pytest.param(IDS, [], 11, id="everything fenced"),
    ],
)
def test_a_fence_stands_for_summaries_that_were_removed_for_good(
    fenced: list[str], rows: list[SummaryRow], end: int
) -> None:
    assert coverage(rows, IDS, fenced=fenced).end == end


def called(text: str = "") -> AIMessage:
    return AIMessage(text, tool_calls=[{"name": "f", "args": {}, "id": "c1"}])


RESULT = ToolMessage("r", tool_call_id="c1")
TWO_TURNS: list[BaseMessage] = [HumanMessage("H0"), AIMessage("A0"), HumanMessage("H1"), AIMessage("A1")]


@pytest.mark.parametrize(
    ("last_turn", "complete"),
    [
        pytest.param([], 2, id="no third turn"),
        pytest.param([HumanMessage("H2")], 2, id="no answer"),
        pytest.param([HumanMessage("H2"), AIMessage("A2")], 3, id="answered"),
        pytest.param([HumanMessage("H2"), AIMessageChunk(content="A2")], 3, id="answered by a chunk"),
        pytest.param([HumanMessage("H2"), ChatMessage(content="A2", role="assistant")], 3, id="answered by an alias"),
        pytest.param([HumanMessage("H2"), AIMessage("")], 2, id="empty answer"),
        pytest.param([HumanMessage("H2"), called(), RESULT, AIMessage("A2")], 3, id="answered after a tool"),
        pytest.param([HumanMessage("H2"), called(), RESULT], 2, id="cut off after the result"),
        pytest.param([HumanMessage("H2"), called("let me look"), RESULT], 2, id="words before the result only"),
        pytest.param([HumanMessage("H2"), called("let me look")], 2, id="cut off at the call"),
        pytest.param([HumanMessage("H2"), AIMessage([{"type": "image", "url": "x"}])], 3, id="answered by a picture"),
        pytest.param(
            [HumanMessage("H2"), HumanMessage("c", additional_kwargs={"hide_from_ui": True}), AIMessage("A2")],
            3,
            id="hidden context in between",
        ),
    ],
)
def test_the_last_turn_is_complete_once_it_is_answered(last_turn: list[BaseMessage], complete: int) -> None:
    assert complete_turns([*TWO_TURNS, *last_turn]) == complete


def test_a_cancelled_turn_in_the_middle_does_not_hold_up_the_others() -> None:
    assert complete_turns([HumanMessage("H0"), HumanMessage("H1"), called(), HumanMessage("H2"), AIMessage("A2")]) == 3


def test_a_conversation_without_turns_has_none_complete() -> None:
    assert complete_turns([AIMessage("hello")]) == 0
