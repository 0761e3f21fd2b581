"""The state of the chat graph."""

from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict

from backend.ids import Json
from backend.storage.messages_channel import Messages


class ChatInput(TypedDict):
    """What a client sends: the new messages of a turn."""

    messages: Messages


class ChatState(ChatInput, total=False):
    """A thread: its messages, and which sub-agent answers the current turn."""

    subagent: str
    sent_memory: dict[str, object]
    """What calls were sent of facts and recalled items, see `backend.memory.sent_memory`."""
    handed_over: list[dict[str, Json]]
    """The newest turns that went to the background, see `backend.chat.finished_turn.HandedOver`."""


class ChatUpdate(TypedDict, total=False):
    """What a node of the chat graph adds to the state."""

    messages: list[BaseMessage]
    subagent: str
    sent_memory: dict[str, object]
    handed_over: list[dict[str, Json]]


class RunSettings(TypedDict, total=False):
    """What Studio offers to set for a run. Without authentication the user is named here; with it, this is ignored."""

    user_id: str
