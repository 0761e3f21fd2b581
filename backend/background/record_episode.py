"""`record_episode`: keeps the finished turn as it was said, and notes which memories its answer was given (S0).

The turns before it are kept too, where their own runs were lost: keeping one twice changes nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from itertools import repeat
from typing import Final, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from backend.accounts.run_context import ReadContext
from backend.background.state import FinishedTurn, NothingNew, SaidTurn
from backend.errors import StorageUnavailable
from backend.ids import MemoryId, ThreadId, UserId
from backend.memory.episodes import RECORDED_WITHIN, FinishedWords
from backend.memory.user_memory import MemoryOf
from backend.observability.best_effort import best_effort

PAUSES: Final = (0.5, 1.0, 2.0, *repeat(4.0, 18))
"""Seconds between the attempts to keep a turn, a good minute in all: a database that is restarted is back by then.
Short ones, because a run that waits takes the place of another.
"""

FillVectors = Callable[[UserId], Awaitable[object]]
"""Gives what is new of a user's memory its vectors; may be called twice, late, or beside itself."""


class RecordEpisodeNode(Protocol):
    async def __call__(self, state: FinishedTurn, *, config: RunnableConfig, store: BaseStore | None) -> NothingNew: ...


def make_record_episode_node(
    *,
    memory_of: MemoryOf,
    read_context: ReadContext,
    clock: Callable[[], datetime],
    fill_vectors: FillVectors | None = None,
    pauses: Sequence[float] = PAUSES,
) -> RecordEpisodeNode:
    """Three attempts, none of which keeps the others from happening; what fails is a log line.

    A turn that was finished more than `RECORDED_WITHIN` ago is left out: nothing tells any more whether it was erased.
    While the database cannot take a turn, it is tried again after each of `pauses`, in seconds. Without
    `fill_vectors` memories are found by their words alone.
    """

    async def record_episode(state: FinishedTurn, *, config: RunnableConfig, store: BaseStore | None) -> NothingNew:
        memory, thread_id = memory_of(read_context(config).user_id, store), ThreadId(state["thread_id"])
        if memory is None:
            return {}
        async with best_effort("record_episode", chat_thread_id=thread_id):
            for turn in (state, *state.get("earlier", ())):
                if clock() - _finished_at(turn) <= RECORDED_WITHIN:
                    await _persist(partial(memory.episodes.record, finished_words(turn, thread_id)), pauses)
        async with best_effort("note_use", chat_thread_id=thread_id):
            await memory.episodes.touch(_recalled(state), at=_finished_at(state))
        if fill_vectors is not None:
            async with best_effort("fill_vectors", chat_thread_id=thread_id):
                await fill_vectors(memory.user_id)
        return {}

    return record_episode


async def _persist(record: Callable[[], Awaitable[object]], pauses: Sequence[float]) -> None:
    """Raises StorageUnavailable when the last attempt found the database as the first did."""
    for pause in pauses:
        try:
            await record()
        except StorageUnavailable:
            await asyncio.sleep(pause)
        else:
            return
    await record()


def finished_words(turn: SaidTurn, thread_id: ThreadId) -> FinishedWords:
    """The turn as an episode is made of it; turns are counted from 0 there."""
    return FinishedWords(
        thread_id=thread_id,
        turn=turn["human_count"] - 1,
        message_ids=turn["message_ids"],
        user_text=turn["user_text"],
        assistant_text=turn["assistant_text"],
        finished_at=_finished_at(turn),
    )


def _recalled(turn: FinishedTurn) -> Sequence[MemoryId]:
    return [MemoryId(one) for one in turn.get("recalled_ids", ())]


def _finished_at(turn: SaidTurn) -> datetime:
    return datetime.fromisoformat(turn["finished_at"])
