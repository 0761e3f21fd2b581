"""What the offline model looks at: one turn, read from the messages of a call."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from backend.llm.content import parts_of
from backend.llm.messages import human_positions, role_of, text_of
from backend.llm.offline.blocks import inside_of, without_blocks, without_notes
from backend.llm.offline.facts import FACT_TOOL, KnownFact, facts_in
from backend.llm.offline.json_text import json_object
from backend.llm.offline.recalled import RecalledItem, items_in

MAX_READ_CHARS: Final = 4_000
"""Of a message, so that no rule meets a text on which it takes long."""
LEFT_OUT: Final = re.compile(r"\AThe summaries of #[0-9]+ to #[0-9]+ are left out[^\n]*\s*")


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered to a call of this turn."""

    tool: str
    args: Mapping[str, Any]
    text: str
    failed: bool
    about: str = ""
    """The fact that the call named by its id."""


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
    """The entries in `<earlier_conversation>`, without the line that says which are left out."""
    facts: tuple[KnownFact, ...] = ()
    """Those that are kept, as known before this turn's calls; the newest last."""
    recalled: tuple[RecalledItem, ...] = ()
    """What was recalled for this message and for those before."""
    tools: frozenset[str] = frozenset()
    """Names of the tools that may be called."""
    first: bool = True
    """Whether nothing was answered in this thread before."""

    @property
    def before(self) -> str:
        return self.earlier[-1] if self.earlier else ""

    @property
    def keeps_facts(self) -> bool:
        return FACT_TOOL in self.tools


def read_turn(messages: Sequence[BaseMessage], tools: frozenset[str] = frozenset()) -> Turn:
    """Never raises: what is missing or unreadable reads as empty."""
    positions = human_positions(messages)
    current = positions[-1] if positions else len(messages)
    humans = [_whole(messages[position]) for position in positions]
    system = [text_of(message) for message in messages if role_of(message) == "system"]
    conversation = LEFT_OUT.sub("", inside_of(system, "earlier_conversation"))
    facts = facts_in(system, messages[: current + 1])
    answered = any(role_of(message) == "ai" for message in messages[:current])
    return Turn(
        said=_read(humans[-1]) if humans else "",
        earlier=tuple(map(_read, humans[:-1])),
        results=tuple(_results(messages[current:], facts)),
        memory=json_object(inside_of(system, "memory")),
        conversation=conversation,
        facts=facts,
        recalled=tuple(item for text in humans for item in items_in(text)),
        tools=tools,
        first=not answered and not conversation,
    )


def _whole(message: BaseMessage) -> str:
    """Its texts, with a blank line between them: what memory adds may be a part of its own."""
    return "\n\n".join(text for _, text in parts_of(message.content))


def _read(text: str) -> str:
    return without_blocks(without_notes(text))[:MAX_READ_CHARS]


def _results(messages: Sequence[BaseMessage], facts: Sequence[KnownFact]) -> list[Result]:
    contents = {fact.id: fact.content for fact in facts}
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
                    about=contents.get(str(call["args"].get("id")), "") if call else "",
                )
            )
    return found
