"""What of a user's memory goes into the prompt of a turn: read once, degraded in one place, accounted for."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import BaseMessage

from backend.ids import ThreadId
from backend.llm.messages import estimate_tokens, human_ids
from backend.memory.redaction import guard_json
from backend.memory.summaries.earlier import earlier_conversation
from backend.memory.summaries.transcript import digests_of
from backend.memory.summaries.window import Coverage, coverage
from backend.memory.user_memory import UserMemory
from backend.observability.best_effort import best_effort
from backend.observability.receipts import BlockReceipt

OFF: Final = BlockReceipt("off")
UNAVAILABLE: Final = BlockReceipt("unavailable")
EMPTY: Final = BlockReceipt("empty")


@dataclass(frozen=True, slots=True)
class RecalledProfile:
    """The `<memory>` block, empty for none."""

    block: str
    receipt: BlockReceipt


@dataclass(frozen=True, slots=True)
class RecalledThread:
    """The `<earlier_conversation>` block, empty for none, and the last turn that summaries cover."""

    block: str
    covered_end: int
    """0-based, -1 for none."""
    receipt: BlockReceipt


@dataclass(frozen=True, slots=True)
class Recalled:
    profile: RecalledProfile
    thread: RecalledThread


NOTHING: Final = Recalled(RecalledProfile("", OFF), RecalledThread("", -1, OFF))


async def recall(memory: UserMemory | None, thread_id: ThreadId | None, messages: Sequence[BaseMessage]) -> Recalled:
    """The blocks for a call; what cannot be read is left out and said so in the receipt."""
    if memory is None:
        return NOTHING
    profile, thread = await asyncio.gather(recall_profile(memory), recall_thread(memory, thread_id, messages))
    return Recalled(profile, thread)


async def recall_profile(memory: UserMemory) -> RecalledProfile:
    async with best_effort("recall_profile", user_id=memory.user_id):
        document = (await memory.profile.view()).memory
        if not document:
            return RecalledProfile("", EMPTY)
        block = guard_json(document)
        return RecalledProfile(block, BlockReceipt("used", items=len(document), tokens=estimate_tokens(block)))
    return RecalledProfile("", UNAVAILABLE)


async def recall_thread(
    memory: UserMemory, thread_id: ThreadId | None, messages: Sequence[BaseMessage]
) -> RecalledThread:
    if thread_id is None:
        return RecalledThread("", -1, OFF)
    async with best_effort("recall_thread", user_id=memory.user_id, thread_id=thread_id):
        covered = await branch_coverage(memory, thread_id, messages)
        earlier = earlier_conversation(covered.rows)
        reason = "used" if earlier.text else "empty"
        receipt = BlockReceipt(reason, items=earlier.passes, tokens=estimate_tokens(earlier.text))
        return RecalledThread(earlier.text, covered.end, receipt)
    return RecalledThread("", -1, UNAVAILABLE)


async def branch_coverage(memory: UserMemory, thread_id: ThreadId, messages: Sequence[BaseMessage]) -> Coverage:
    """The summaries that count in the branch with these messages, and how far they reach."""
    known = await memory.summaries.of(thread_id)
    if not known.rows and not known.fenced:
        return Coverage((), -1)
    digest_of = digests_of(messages, known=known.digests)
    return coverage(known.rows, human_ids(messages), fenced=known.fenced, digest_of=digest_of)
