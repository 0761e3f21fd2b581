"""Fences: which turns stay uncompressed after their summaries were removed for good."""

from collections.abc import Iterable, Sequence

from backend.memory.summaries.record import SummaryRow


def fence_of(rows: Iterable[SummaryRow], fenced: Sequence[str]) -> list[str]:
    """The ids of the human messages that the rows, of every branch, and an earlier fence cover, each once."""
    covered = [message_id for row in rows for message_id in row.message_ids if message_id]
    return list(dict.fromkeys([*fenced, *covered]))
