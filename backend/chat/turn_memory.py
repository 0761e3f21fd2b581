"""What memory has for a turn. It is the same for every sub-agent, so it is read while the router chooses one."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_
from typing import Final

from cachetools import TTLCache
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from backend.accounts.run_context import ReadContext, RunContext
from backend.chat.state import ChatState
from backend.chat.trimming import cut_turn
from backend.ids import ThreadId, UserId
from backend.llm.messages import human_positions
from backend.memory.recall import Recalled, recall
from backend.memory.recall_items import RecalledItems, current_turn, recall_items
from backend.memory.sent_memory import sent_memory_in
from backend.memory.user_memory import MemoryOf, UserMemory

MAX_AHEAD: Final = 200
AHEAD_SECONDS: Final = 60.0
"""What no call has taken by then, because its run has failed, is not used any more."""


@dataclass(frozen=True, slots=True)
class RecentTurns:
    """How much of a thread is sent as it is."""

    buffer: int
    """The newest turns, even when summaries cover them."""
    without_summaries: int
    """The newest turns when the summaries cannot be read: the whole thread might be more than a model takes."""


@dataclass(frozen=True, slots=True)
class TurnMemory:
    """What one call is sent of memory, and the turn (0-based) from which it is sent messages."""

    recalled: Recalled
    items: RecalledItems
    cut: int


@dataclass(frozen=True, slots=True)
class _Ahead:
    """What was read, for these messages and in this state of the user's memory."""

    turn: TurnMemory
    messages: Sequence[BaseMessage]
    token: str


_Key = tuple[UserId, ThreadId | None]


class TurnMemories:
    """Reads memory for calls. What cannot be read is left out, and the receipts say so."""

    def __init__(self, *, memory_of: MemoryOf, read_context: ReadContext, recent: RecentTurns) -> None:
        self._memory_of = memory_of
        self._read_context = read_context
        self._recent = recent
        self._ahead: TTLCache[_Key, _Ahead] = TTLCache(MAX_AHEAD, AHEAD_SECONDS, time.monotonic)
        # a server may run graphs in several threads
        self._lock = threading.Lock()

    async def read_ahead(self, state: ChatState, config: RunnableConfig, store: BaseStore | None) -> None:
        """Read for the next call of this run, which finds it if it comes to this process.

        Raises:
            Unauthenticated: as `run_context`.
        """
        context = self._read_context(config)
        memory = self._memory_of(context.user_id, store)
        if memory is not None:
            token = await memory.token()
            read = _Ahead(await self._read(memory, context, state), state["messages"], token)
            with self._lock:
                self._ahead[memory.user_id, context.thread_id] = read

    async def of_call(self, state: ChatState, config: RunnableConfig, store: BaseStore | None) -> TurnMemory:
        """What this call is sent: what was read ahead for the same messages, while the user's memory is as it was then.

        Raises:
            Unauthenticated: as `run_context`.
        """
        context = self._read_context(config)
        memory = self._memory_of(context.user_id, store)
        if memory is not None:
            ahead = self._take(memory.user_id, context.thread_id)
            if ahead and _are_same(ahead.messages, state["messages"]) and ahead.token == await memory.token():
                return ahead.turn
        return await self._read(memory, context, state)

    def _take(self, user_id: UserId, thread_id: ThreadId | None) -> _Ahead | None:
        with self._lock:
            return self._ahead.pop((user_id, thread_id), None)

    async def _read(self, memory: UserMemory | None, context: RunContext, state: ChatState) -> TurnMemory:
        messages = state["messages"]
        recalled = await recall(memory, context.thread_id, messages)
        cut = first_turn_sent(messages, recalled, self._recent)
        items = await recall_items(
            memory,
            sent_memory_in(state.get("sent_memory")),
            current_turn(messages, thread_id=context.thread_id, cut=cut),
        )
        return TurnMemory(recalled, items, cut)


def _are_same(messages: Sequence[BaseMessage], others: Sequence[BaseMessage]) -> bool:
    """Whether they are the very same objects, as they are in all steps of a run that add none."""
    return len(messages) == len(others) and all(map(is_, messages, others))


def first_turn_sent(messages: Sequence[BaseMessage], recalled: Recalled, recent: RecentTurns) -> int:
    """The cut: behind what summaries cover, but never in the newest turns."""
    count = len(human_positions(messages))
    if recalled.thread.receipt.reason == "unavailable":
        return max(0, count - recent.without_summaries)
    return cut_turn(human_count=count, covered_end=recalled.thread.covered_end, buffer_turns=recent.buffer)
