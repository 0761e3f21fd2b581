"""Receipts: what memory did for one answer, without a word of what is remembered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from backend.ids import Json, MemoryId

Reason = Literal["used", "off", "unavailable", "empty"]
"""off: nobody speaks, or no store is there; unavailable: reading failed; empty: there is nothing yet."""


@dataclass(frozen=True, slots=True)
class BlockReceipt:
    """One block of the prompt: whether it was there and why not, how many items it has, and its rough size."""

    reason: Reason
    items: int = 0
    """Keys of the profile, facts of the block, passes of the thread."""
    tokens: int = 0
    """Estimated; counted by no provider."""

    def as_json(self) -> dict[str, Json]:
        return {"used": self.reason == "used", "reason": self.reason, "items": self.items, "tokens": self.tokens}


@dataclass(frozen=True, slots=True)
class RecalledReceipt:
    """What a search found for the turn; the ids lead to the items, and tell nothing of them."""

    reason: Reason
    ids: Sequence[MemoryId] = ()
    tokens: int = 0

    def as_json(self) -> dict[str, Json]:
        block = BlockReceipt(self.reason, items=len(self.ids), tokens=self.tokens)
        return {**block.as_json(), "ids": list(self.ids)}


@dataclass(frozen=True, slots=True)
class Receipt:
    """Travels as `response_metadata.memory` of the answer and as a custom stream event `{"memory": ...}`."""

    profile: BlockReceipt
    facts: BlockReceipt
    recalled: RecalledReceipt
    earlier_conversation: BlockReceipt
    covered_end: int | None
    """The last human turn, 0-based, that summaries cover; -1 for none, None where that is not known."""
    cut: int
    """The human turn, 0-based, from which messages were sent."""
    messages_sent: int
    messages_left_out: int

    def as_json(self) -> dict[str, Json]:
        return {
            "profile": self.profile.as_json(),
            "facts": self.facts.as_json(),
            "recalled": self.recalled.as_json(),
            "earlier_conversation": self.earlier_conversation.as_json(),
            "covered_end": self.covered_end,
            "cut": self.cut,
            "messages_sent": self.messages_sent,
            "messages_left_out": self.messages_left_out,
        }
