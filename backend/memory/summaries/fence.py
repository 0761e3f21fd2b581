"""Fences: which turns stay uncompressed after their summaries were removed for good."""

from collections.abc import Iterable, Sequence

from backend.memory.summaries.record import SummaryRow


def fence_of(rows: Iterable[SummaryRow], fenced: Sequence[str]) -> list[str]:
    """The ids of the human messages, from turn 0, that the rows and an earlier fence reach without a gap.

    Where rows of several branches disagree the latest pass speaks, because the latest branch is the one that is seen.
    """
    ids = list(fenced)
    for row in sorted(rows, key=lambda row: row.sequence):
        if row.start_message_index <= len(ids):
            ids[row.start_message_index :] = row.message_ids
    return ids
