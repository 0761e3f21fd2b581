"""What the offline model looks at: one turn, read from the messages of a call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from backend.llm.messages import human_positions, role_of, text_of
from backend.llm.offline.blocks import find_blocks, inside_of, without_blocks
from backend.llm.offline.json_text import json_object

MAX_READ_CHARS: Final = 4_000
"""Of a message, so that no rule meets a text on which it takes long."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered to a call of this turn."""

    tool: str
    args: Mapping[str, Any]
    text: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """The current human message and everything known beside it."""

    said: str = ""
    """What the user wrote now, without the blocks that were added to it."""
    earlier: tuple[str, ...] = ()
    """What the user wrote before, oldest first."""
    results: tuple[Result, ...] = ()
    """Answers of tools to calls made since."""
    memory: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The profile from `<memory>`."""
    conversation: str = ""
    """The text in `<earlier_conversation>`."""
    recalled: tuple[str, ...] = ()
    """The texts in blocks of the current human message."""
    tools: frozenset[str] = frozenset()
    """Names of the tools that may be called."""
    first: bool = True
    """Whether nothing was answered in this thread before."""

    @property
    def before(self) -> str:
        return self.earlier[-1] if self.earlier else ""


def read_turn(messages: Sequence[BaseMessage], tools: frozenset[str] = frozenset()) -> Turn:
    """Never raises: what is missing or unreadable reads as empty."""
    positions = human_positions(messages)
    current = positions[-1] if positions else len(messages)
    now = text_of(messages[current]) if positions else ""
    system = [text_of(message) for message in messages if role_of(message) == "system"]
    conversation = inside_of(system, "earlier_conversation")
    answered = any(role_of(message) == "ai" for message in messages[:current])
    return Turn(
        said=_read(now),
        earlier=tuple(_read(text_of(messages[position])) for position in positions[:-1]),
        results=tuple(_results(messages[current:])),
        memory=json_object(inside_of(system, "memory")),
        conversation=conversation,
        recalled=tuple(block.inside for block in find_blocks(now)),
        tools=tools,
        first=not answered and not conversation,
    )


def _read(text: str) -> str:
    return without_blocks(text)[:MAX_READ_CHARS]


def _results(messages: Sequence[BaseMessage]) -> list[Result]:
    calls = {call["id"]: call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls}
    found: list[Result] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            call = calls.get(message.tool_call_id)
            found.append(
                Result(
                    tool=message.name or (call["name"] if call else ""),
                    args=call["args"] if call else {},
                    text=text_of(message),
                    failed=message.status == "error",
                )
            )
    return found
