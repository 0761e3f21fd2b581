"""What a prompt shows of a thread's summaries: the newest passes in full, and of the others where they were."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from backend.llm.messages import estimate_tokens
from backend.memory.redaction import guard_text
from backend.memory.summaries.record import SummaryRow, entries_text
from backend.memory.summaries.transcript import label

MAX_EARLIER_TOKENS: Final = 4_000
"""The most that the passes shown take together, estimated, see docs/decisions/0019-summaries-have-a-budget.md."""
KEPT_EARLIER_TOKENS: Final = 3_000
"""So much is left when passes go, so that the next ones are added to the same beginning."""


@dataclass(frozen=True, slots=True)
class EarlierConversation:
    """The text of the block, empty for none, and how many passes stand in it."""

    text: str
    passes: int


def earlier_conversation(rows: Sequence[SummaryRow]) -> EarlierConversation:
    """The passes in the given order with a blank line between them, unable to close the block they stand in.

    Over `MAX_EARLIER_TOKENS` the oldest are left out, and the first line says which turns they covered.
    """
    texts = [entries_text(row.summary.entries) for row in rows]
    first = first_shown([estimate_tokens(text) for text in texts])
    shown = [text for text in texts[first:] if text]
    lead = [_left_out(rows[:first])] if first else []
    return EarlierConversation(guard_text("\n\n".join([*lead, *shown])), len(rows) - first)


def first_shown(tokens: Sequence[int], *, budget: int = MAX_EARLIER_TOKENS, kept: int = KEPT_EARLIER_TOKENS) -> int:
    """The first pass shown of passes of so many tokens each, in order; the newest is always shown.

    It stays while the passes from it on fit into `budget`. When they do not, it moves on until they fit into `kept`: a
    provider's cache loses the block then, and not with each pass.
    """
    ends, first = [0, *accumulate(tokens)], 0
    for newest in range(len(tokens)):
        if ends[newest + 1] - ends[first] > budget:
            fitting = (n for n in range(first, newest) if ends[newest + 1] - ends[n] <= kept)
            first = next(fitting, newest)
    return first


def _left_out(rows: Sequence[SummaryRow]) -> str:
    first, last = label(rows[0].start_message_index), label(rows[-1].end_message_index)
    return (
        f"The summaries of {first} to {last} are left out here to keep this short. Those turns can still be read, by"
        " their labels, with `lookup_thread_messages`."
    )
