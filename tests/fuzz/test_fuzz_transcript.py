"""Any history becomes a transcript of one JSON object a human turn, bounded, which nothing said in it can break."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from backend.llm.messages import estimate_tokens, human_ids, human_positions
from backend.memory.summaries.record import SummaryEntries, SummaryRow
from backend.memory.summaries.transcript import excerpt, excerpt_digest, label, transcript
from backend.memory.summaries.window import Window, complete_turns, coverage, next_window
from tests.fuzz.budget import TIME, examples
from tests.fuzz.growth import growth
from tests.fuzz.hostile import nested, texts, values
from tests.fuzz.message_lists import hostile_lists
from tests.support.passes import NOW

pytestmark = [TIME, pytest.mark.filterwarnings("ignore:Generating overly large repr")]

ROOM = 10**8
ROLES = {"human", "ai", "tool"}
KEYS = {"role", "name", "content", "tool_calls"}
windows = st.tuples(st.integers(0, 5), st.integers(0, 8)).map(lambda drawn: Window(drawn[0], sum(drawn)))


def read(text: str) -> list[dict[str, Any]]:
    """The lines; whatever ends a line anywhere must not stand inside of one."""
    assert len(text.splitlines()) == len(text.split("\n")) or not text
    text.encode("utf-8")
    return [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]


def turns_in(history: Sequence[BaseMessage], window: Window) -> list[int]:
    return list(range(window.start, min(window.end + 1, len(human_positions(history)))))


@examples(250)
@given(hostile_lists, windows)
def test_every_human_turn_is_one_object_on_one_line(history: list[BaseMessage], window: Window) -> None:
    before = repr(history)
    text = transcript(history, window, max_tokens=ROOM)
    assert repr(history) == before
    assert not {"<", ">"} & set(text)
    lines = read(text)
    assert [line["id"] for line in lines] == [label(turn) for turn in turns_in(history, window)]
    assert all(set(line) == {"id", "messages"} for line in lines)
    said = [message for line in lines for message in line["messages"]]
    assert all(message["role"] in ROLES and set(message) <= KEYS for message in said)
    assert [len(line["messages"]) for line in lines] == [len(turn) for turn in excerpt(history, window)]


@examples(250)
@given(hostile_lists, windows, st.integers(10, 1_500))
def test_the_cap_holds_and_what_is_left_out_is_counted(
    history: list[BaseMessage], window: Window, max_tokens: int
) -> None:
    text = transcript(history, window, max_tokens=max_tokens)
    assert estimate_tokens(text) <= max_tokens
    lines = read(text)
    left_out = sum(line.get("turns_left_out", 0) for line in lines)
    shown = [line["id"] for line in lines if "id" in line]
    wanted = [label(turn) for turn in turns_in(history, window)]
    assert left_out + len(shown) == len(wanted)
    assert [one for one in wanted if one in shown] == shown


@examples(150)
@given(st.dictionaries(texts, values, max_size=3), texts)
def test_any_arguments_are_shown_within_their_limit(args: dict[str, Any], name: str) -> None:
    asked = AIMessage("", tool_calls=[{"name": name, "args": args, "id": "c0", "type": "tool_call"}])
    [line] = read(transcript([HumanMessage("H0"), asked], Window(0, 0)))
    [call] = line["messages"][1]["tool_calls"]
    assert set(call) == {"name", "args"}


@examples(200)
@given(hostile_lists, windows)
def test_a_digest_is_the_same_each_time_and_reads_what_a_turn_says(history: list[BaseMessage], window: Window) -> None:
    digest = excerpt_digest(history, window)
    assert excerpt_digest(list(history), window) == digest
    if turns_in(history, window):
        position = human_positions(history)[window.start]
        edited = [*history]
        edited[position] = HumanMessage("something that nobody said before", id=history[position].id)
        assert excerpt_digest(edited, window) != digest


@examples(150)
@given(hostile_lists)
def test_only_whole_turns_are_ever_compressed(history: list[BaseMessage]) -> None:
    count = len(human_positions(history))
    complete = complete_turns(history)
    assert max(0, count - 1) <= complete <= count
    assert len(human_ids(history)) == count


@examples(200)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=30), st.integers(1, 6))
def test_passes_of_a_growing_thread_cover_every_turn_once(steps: list[int], keep_recent: int) -> None:
    rows: list[SummaryRow] = []
    count, covered = 0, -1
    for step in steps:
        count += step
        window = next_window(human_count=count, keep_recent=keep_recent, covered_end=covered)
        if window is None:
            assert count - covered - 1 < keep_recent
            continue
        assert len(window.turns) % keep_recent == 0
        rows.append(a_row(window, sequence=len(rows) + 1))
        covered = coverage(rows, ids(count)).end
        assert covered == window.end < count
    turns = [turn for row in rows for turn in range(row.start_message_index, row.end_message_index + 1)]
    assert turns == list(range(covered + 1))


@examples(200)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5), st.booleans()), max_size=14),
    st.integers(0, 15),
    st.integers(0, 4),
)
def test_what_counts_in_a_branch_has_no_gap_and_only_its_own_rows(
    made: list[tuple[int, int, bool]], count: int, fenced: int
) -> None:
    rows = [
        a_row(Window(start, start + more), sequence=number, prefix="h" if own else "other")
        for number, (start, more, own) in enumerate(made, start=1)
    ]
    found = coverage(rows, ids(count), fenced=ids(fenced))
    reached = min(fenced, count) - 1
    for row in found.rows:
        assert row.start_message_index <= reached + 1 <= row.end_message_index < count
        assert row.message_ids[0].startswith("h")
        reached = row.end_message_index
    assert found.end == reached
    assert not any(own and start <= reached + 1 <= start + more < count for start, more, own in made)


def ids(count: int, prefix: str = "h") -> list[str]:
    return [f"{prefix}{number}" for number in range(count)]


def a_row(window: Window, *, sequence: int, prefix: str = "h") -> SummaryRow:
    return SummaryRow(
        thread_id="t",
        sequence=sequence,
        start_message_index=window.start,
        end_message_index=window.end,
        message_count=len(window.turns),
        message_ids=[f"{prefix}{turn}" for turn in window.turns],
        summary=SummaryEntries(entries=[]),
        created_at=NOW,
    )


@pytest.mark.parametrize("in_objects", [True, False])
def test_arguments_as_deep_as_a_checkpoint_can_hold_are_read_and_shown(in_objects: bool) -> None:
    args = {"deep": nested(240, in_objects=in_objects)}
    asked = AIMessage("", tool_calls=[{"name": "look", "args": args, "id": "c0", "type": "tool_call"}])
    thread: list[BaseMessage] = [HumanMessage("H0"), asked]
    assert len(excerpt_digest(thread, Window(0, 0))) == 64
    assert len(read(transcript(thread, Window(0, 0)))) == 1


def a_thread(turns: int) -> list[BaseMessage]:
    return [HumanMessage("a question", id="h"), AIMessage("an answer")] * turns


def test_four_times_the_history_is_about_four_times_the_work() -> None:
    def written(history: list[BaseMessage]) -> str:
        return transcript(history, Window(0, len(history)), max_tokens=ROOM)

    def digested(history: list[BaseMessage]) -> str:
        return excerpt_digest(history, Window(0, len(history)))

    for work in (written, digested, complete_turns):
        assert growth(work, a_thread(100), a_thread(400)) < 5


def test_four_times_the_passes_are_about_four_times_the_work() -> None:
    def covered(count: int) -> int:
        rows = [a_row(Window(number, number), sequence=number + 1) for number in range(count)]
        return coverage(rows, ids(count)).end

    assert growth(covered, 100, 400) < 5
