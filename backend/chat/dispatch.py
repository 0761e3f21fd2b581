"""`trigger_background_agent`: hands the finished turn over to the background graph and returns at once."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from backend.accounts.run_context import ReadContext
from backend.chat.state import ChatState, ChatUpdate
from backend.ids import Json, ThreadId, UserId
from backend.llm.messages import human_positions, role_of, shorten, text_of
from backend.memory.recall import recall_thread
from backend.memory.user_memory import MemoryOf, UserMemory
from backend.observability.best_effort import best_effort

MAX_USER_CHARS: Final = 4_000
MAX_ASSISTANT_CHARS: Final = 8_000


class BackgroundRuns(Protocol):
    """What the dispatch needs of the server."""

    async def start_background_run(self, turn: Mapping[str, Json], *, user_id: UserId | None) -> None: ...


class TriggerNode(Protocol):
    async def __call__(self, state: ChatState, *, config: RunnableConfig, store: BaseStore | None) -> ChatUpdate: ...


def make_trigger_node(
    *, runs: BackgroundRuns, memory_of: MemoryOf, read_context: ReadContext, clock: Callable[[], datetime]
) -> TriggerNode:
    """A dispatch that fails is one log line: the answer is already there and the next turn catches up."""

    async def trigger_background_agent(
        state: ChatState, *, config: RunnableConfig, store: BaseStore | None
    ) -> ChatUpdate:
        context = read_context(config)
        if context.thread_id is not None:
            async with best_effort("dispatch", thread_id=context.thread_id):
                turn = finished_turn(state, context.thread_id, clock())
                memory = memory_of(context.user_id, store)
                known = await _covered(memory, context.thread_id, state["messages"])
                await runs.start_background_run({**turn, **known}, user_id=context.user_id)
        return {}

    return trigger_background_agent


async def _covered(memory: UserMemory | None, thread_id: ThreadId, messages: Sequence[BaseMessage]) -> dict[str, Json]:
    """How far summaries reach, so that the background run loads the thread only when a pass may be due."""
    if memory is None:
        return {}
    thread = await recall_thread(memory, thread_id, messages)
    return {} if thread.receipt.reason == "unavailable" else {"covered_end": thread.covered_end}


def finished_turn(state: ChatState, thread_id: ThreadId, finished_at: datetime) -> dict[str, Json]:
    """The input of `background_agent`: which turn it is, and its two sides as text (S0's caps)."""
    messages = state["messages"]
    positions = human_positions(messages)
    turn = messages[positions[-1] :] if positions else []
    answers = [text_of(message) for message in turn if role_of(message) == "ai"]
    return {
        "thread_id": thread_id,
        "message_ids": [message.id for message in turn],
        "human_count": len(positions),
        "user_text": shorten(text_of(turn[0]), MAX_USER_CHARS) if turn else "",
        "assistant_text": shorten("\n".join(text for text in answers if text.strip()), MAX_ASSISTANT_CHARS),
        "finished_at": finished_at.isoformat(),
    }
