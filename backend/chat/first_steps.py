"""What a run of the chat graph begins with."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from backend.chat.finished_turn import handed_over_in, was_edited
from backend.chat.state import ChatState
from backend.chat.title import wants_title
from backend.llm.messages import is_framework_made


def first_steps(state: ChatState) -> list[str]:
    """Routing, and naming the thread beside it while it may still need a title.

    A turn that has its answer is handed over again, and not answered again: a server that was killed begins the runs
    anew that were under way, some of which had got to their answer. A message that was sent again with other words is
    another question.
    """
    messages, before = state["messages"], handed_over_in(state.get("handed_over"))
    is_done = is_answered(messages) and not was_edited(messages, before)
    answering = "trigger_background_agent" if is_done else "router_agent"
    return [answering, "rename_thread_agent"] if wants_title(state) else [answering]


def is_answered(messages: Sequence[BaseMessage]) -> bool:
    """Whether nothing is left to be said in the newest turn."""
    last = messages[-1] if messages else None
    return isinstance(last, AIMessage) and not last.tool_calls and not is_framework_made(last)
