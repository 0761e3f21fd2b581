"""`trigger_background_agent`: hands the finished turn over to the background graph and returns at once."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from backend.accounts.run_context import ReadContext
from backend.chat.finished_turn import and_this, as_before, earlier_turns, finished_turn, handed_over_in
from backend.chat.state import ChatState, ChatUpdate
from backend.ids import Json, UserId
from backend.observability.best_effort import best_effort


class BackgroundRuns(Protocol):
    """What the dispatch needs of the server."""

    async def start_background_run(self, turn: Mapping[str, Json], *, user_id: UserId | None) -> None: ...


class TriggerNode(Protocol):
    async def __call__(self, state: ChatState, config: RunnableConfig) -> ChatUpdate: ...


def make_trigger_node(*, runs: BackgroundRuns, read_context: ReadContext, clock: Callable[[], datetime]) -> TriggerNode:
    """A dispatch that fails is one log line: the answer is already there and the next turn catches up.

    The turns before go along once more: what a killed server had under way, or a database refused, is gone otherwise.
    """

    async def trigger_background_agent(state: ChatState, config: RunnableConfig) -> ChatUpdate:
        context, messages = read_context(config), state["messages"]
        update: ChatUpdate = {}
        if context.thread_id is not None:
            async with best_effort("dispatch", thread_id=context.thread_id):
                before = handed_over_in(state.get("handed_over"))
                turn = as_before(finished_turn(messages, context.thread_id, clock()), before)
                update["handed_over"] = and_this(before, turn, context.user_id)
                known = covered_in(messages)
                earlier = earlier_turns(messages, before, turn, context.user_id)
                await runs.start_background_run({**turn, **known, "earlier": earlier}, user_id=context.user_id)
        return update

    return trigger_background_agent


def covered_in(messages: Sequence[BaseMessage]) -> dict[str, Json]:
    """How far summaries reach, as the answer's receipt tells, so that the background run loads the thread only when a
    pass may be due. Nothing where that is not known.
    """
    receipt: object = messages[-1].response_metadata.get("memory") if messages else None
    covered = cast("Mapping[str, object]", receipt).get("covered_end") if isinstance(receipt, Mapping) else None
    return (
        {"covered_end": covered} if isinstance(covered, int) and not isinstance(covered, bool) and covered >= -1 else {}
    )
