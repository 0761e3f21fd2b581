"""Passes of summarization as a service takes them, without a model and without messages."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from backend.ids import ThreadId
from backend.memory.summaries.record import SummaryEntries, SummaryEntry, SummaryRow
from backend.memory.summaries.service import Pass, Summaries
from backend.memory.summaries.window import Window

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def ids(count: int, prefix: str = "h") -> list[str]:
    """The ids of the human messages of a branch."""
    return [f"{prefix}{turn}" for turn in range(count)]


def a_pass(start: int, end: int, branch: Sequence[str], *, text: str = "") -> Pass:
    """What a pass made of the turns `start` to `end` (0-based, both included) of a branch with these human ids."""
    labels = [f"#{turn + 1}" for turn in range(start, end + 1)]
    said = text or f"what was said in {labels[0]} to {labels[-1]}"
    return Pass(
        window=Window(start, end),
        human_ids=list(branch),
        entries=SummaryEntries(entries=[SummaryEntry(question=said, answer="noted", refs=labels)]),
        tokens_before=100,
        tokens_after=10,
        digest_of=lambda window: f"digest of {'/'.join(branch[window.start : window.end + 1])}",
    )


async def commit(summaries: Summaries, thread_id: ThreadId, done: Pass, *, at: datetime = NOW) -> SummaryRow | None:
    """Commit as a background run does that has claimed the thread."""
    claim = await summaries.claim(thread_id)
    assert claim is not None
    try:
        return await summaries.commit(thread_id, done, claim=claim, at=at)
    finally:
        await summaries.release(thread_id, claim)


async def fill(summaries: Summaries, thread_id: ThreadId, passes: int, *, each: int = 2, prefix: str = "h") -> None:
    """So many passes of `each` turns, one after the other."""
    branch = ids(passes * each, prefix)
    for number in range(passes):
        start = number * each
        assert await commit(summaries, thread_id, a_pass(start, start + each - 1, branch[: start + each]))


def a_row(**values: Any) -> dict[str, Any]:
    """A stored row, to be put by hand."""
    return {
        "thread_id": "t-1",
        "sequence": 1,
        "start_message_index": 0,
        "end_message_index": 1,
        "message_count": 2,
        "message_ids": ["h0", "h1"],
        "summary": {"entries": [{"question": "q", "answer": "a", "refs": ["#1"]}]},
        "trigger_reason": "turn_based",
        "token_count_before": 1,
        "token_count_after": 1,
        "created_at": "2026-03-01T12:00:00+00:00",
        **values,
    }
