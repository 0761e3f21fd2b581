"""`record_episode`: keeps the finished turn as it was said, and notes which memories its answer was given (S0)."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from backend.accounts.run_context import ReadContext
from backend.background.state import FinishedTurn, NothingNew
from backend.ids import MemoryId, ThreadId, UserId
from backend.memory.episodes import FinishedWords
from backend.memory.user_memory import MemoryOf
from backend.observability.best_effort import best_effort

FillVectors = Callable[[UserId], Awaitable[object]]
"""Gives what is new of a user's memory its vectors; may be called twice, late, or beside itself."""


class RecordEpisodeNode(Protocol):
    async def __call__(self, state: FinishedTurn, *, config: RunnableConfig, store: BaseStore | None) -> NothingNew: ...


def make_record_episode_node(
    *, memory_of: MemoryOf, read_context: ReadContext, fill_vectors: FillVectors | None = None
) -> RecordEpisodeNode:
    """Three attempts, none of which keeps the others from happening; what fails is a log line.

    Without `fill_vectors` memories are found by their words alone.
    """

    async def record_episode(state: FinishedTurn, *, config: RunnableConfig, store: BaseStore | None) -> NothingNew:
        memory = memory_of(read_context(config).user_id, store)
        if memory is not None:
            async with best_effort("record_episode", chat_thread_id=state["thread_id"]):
                await memory.episodes.record(finished_words(state))
            async with best_effort("note_use", chat_thread_id=state["thread_id"]):
                await memory.episodes.touch(_recalled(state), at=_finished_at(state))
            if fill_vectors is not None:
                async with best_effort("fill_vectors", chat_thread_id=state["thread_id"]):
                    await fill_vectors(memory.user_id)
        return {}

    return record_episode


def finished_words(turn: FinishedTurn) -> FinishedWords:
    """The turn as an episode is made of it; turns are counted from 0 there."""
    return FinishedWords(
        thread_id=ThreadId(turn["thread_id"]),
        turn=turn["human_count"] - 1,
        message_ids=turn["message_ids"],
        user_text=turn["user_text"],
        assistant_text=turn["assistant_text"],
        finished_at=_finished_at(turn),
    )


def _recalled(turn: FinishedTurn) -> Sequence[MemoryId]:
    return [MemoryId(one) for one in turn.get("recalled_ids", ())]


def _finished_at(turn: FinishedTurn) -> datetime:
    return datetime.fromisoformat(turn["finished_at"])
