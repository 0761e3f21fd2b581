"""A request as the scripted model records it, and the checks that a real provider makes before it answers one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from tests.support.wire_schema import schema_faults

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_HIDDEN = {"authorization": "(hidden)"}


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """One POST to `/v1/chat/completions`. `number` counts from 1, `at` is `time.monotonic()`, `body` is all of it."""

    number: int
    at: float
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        return cast("Sequence[Mapping[str, Any]]", self.body.get("messages") or [])

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        return cast("Sequence[Mapping[str, Any]]", self.body.get("tools") or [])

    @property
    def tool_names(self) -> list[str]:
        return [str(tool.get("function", {}).get("name", "")) for tool in self.tools]

    @property
    def response_format(self) -> Mapping[str, Any] | None:
        return cast("Mapping[str, Any] | None", self.body.get("response_format"))

    @property
    def format(self) -> str | None:
        """`json_schema`, `json_object`, `tools`, or None for an ordinary chat; a format comes before tools."""
        if self.response_format:
            return str(self.response_format.get("type"))
        return "tools" if self.tools else None

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def last_human_text(self) -> str:
        """What the user wrote last, without what memory has put behind it."""
        sent = next((text_of(one) for one in reversed(self.messages) if one.get("role") == "user"), "")
        return _NOTE.split(sent, maxsplit=1)[0]

    @property
    def last_note(self) -> str:
        """What memory has put behind it; empty for nothing."""
        sent = next((text_of(one) for one in reversed(self.messages) if one.get("role") == "user"), "")
        return sent[len(self.last_human_text) :].strip()

    @property
    def system_text(self) -> str:
        return "\n".join(text_of(one) for one in self.messages if one.get("role") in {"system", "developer"})

    def __str__(self) -> str:
        asked = self.format or "text"
        return (
            f"request {self.number} to model {self.model!r} for {asked}, last human text {self.last_human_text[:80]!r}"
        )


_NOTE = re.compile(r"\n+(?=What is kept about the user has changed|A search in what was said earlier)")
"""How the blocks of `prompts/chat/note.mustache` begin."""


@dataclass(frozen=True)
class Violation:
    """What a provider would refuse, in its words, and the parameter it names."""

    message: str
    param: str


def hide_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: _HIDDEN.get(name, value) for name, value in headers.items()}


def text_of(message: Mapping[str, Any]) -> str:
    content: Any = message.get("content")
    if isinstance(content, str):
        return content
    blocks = cast("list[Mapping[str, Any]]", content or [])
    return "".join(str(block.get("text", "")) for block in blocks)


def violations_of(request: ModelRequest) -> Iterator[Violation]:
    """Each fault in the message list, the names and the strict schemas of a request."""
    if not request.messages:
        yield Violation("Invalid 'messages': empty array. Expected an array with minimum length 1.", "messages")
    yield from _misplaced_system_messages(request.messages)
    yield from _empty_messages(request.messages)
    yield from _unpaired_calls(request.messages)
    yield from _bad_names(request)
    yield from _loose_schemas(request)


def _misplaced_system_messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[Violation]:
    for index, message in enumerate(messages):
        if index and message.get("role") in {"system", "developer"}:
            yield Violation("System message must be at the beginning.", f"messages.[{index}].role")


def _empty_messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[Violation]:
    for index, message in enumerate(messages):
        role = message.get("role")
        if role == "assistant" and not (message.get("content") or message.get("tool_calls") or message.get("refusal")):
            yield Violation("Invalid value for 'content': expected a string, got null.", f"messages.[{index}].content")
        if role == "user" and not message.get("content"):
            yield Violation(
                "Invalid value for 'content': user messages must not be empty.", f"messages.[{index}].content"
            )


def _unpaired_calls(messages: Sequence[Mapping[str, Any]]) -> Iterator[Violation]:
    open_ids: list[str] = []
    for index, message in enumerate(messages):
        param = f"messages.[{index}].role"
        if message.get("role") == "tool":
            if message.get("tool_call_id") in open_ids:
                open_ids.remove(message["tool_call_id"])
                continue
            yield Violation(
                "Invalid parameter: messages with role 'tool' must be a response to a preceding message with "
                "'tool_calls'.",
                param,
            )
            continue
        yield from _unanswered(open_ids, param)
        open_ids = [str(one.get("id")) for one in _calls_of(message)]
        if len(set(open_ids)) < len(open_ids):
            yield Violation(f"Duplicate value for 'tool_call_id' in message[{index}].", param)
    yield from _unanswered(open_ids, "messages")


def _unanswered(open_ids: Sequence[str], param: str) -> Iterator[Violation]:
    if open_ids:
        yield Violation(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_ids)}",
            param,
        )


def _calls_of(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return message.get("tool_calls") or []


def _bad_names(request: ModelRequest) -> Iterator[Violation]:
    named = [(f"messages[{index}].name", one.get("name")) for index, one in enumerate(request.messages)]
    named += [(f"tools[{index}].function.name", name) for index, name in enumerate(request.tool_names)]
    for index, message in enumerate(request.messages):
        calls = _calls_of(message)
        named += [(f"messages[{index}].tool_calls.function.name", one.get("function", {}).get("name")) for one in calls]
    for param, name in named:
        if name is not None and not _NAME.fullmatch(str(name)):
            yield Violation(
                f"Invalid '{param}': string does not match pattern. "
                "Expected a string that matches the pattern '^[a-zA-Z0-9_-]{1,64}$'.",
                param,
            )


def _loose_schemas(request: ModelRequest) -> Iterator[Violation]:
    wrapped = (request.response_format or {}).get("json_schema", {})
    named = [("response_format", "response_format", wrapped, wrapped.get("schema"))]
    named += [
        (f"function '{one['function'].get('name')}'", "tools", one["function"], one["function"].get("parameters"))
        for one in request.tools
    ]
    for what, param, holder, schema in named:
        if holder.get("strict") is not True:
            continue
        for fault in schema_faults(schema):
            yield Violation(f"Invalid schema for {what}: {fault}", param)
