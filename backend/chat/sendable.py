"""One message as a provider accepts it: a plain copy with safe names, readable arguments and bounded text."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
    convert_to_openai_data_block,
    is_data_content_block,
)

from backend.llm.content import kind_of, well_formed
from backend.llm.messages import role_of, shorten, text_of

UNNAMED_TOOL: Final = "unknown_tool"
MAX_NAME_CHARS: Final = 64

_SAFE_NAME: Final = re.compile(rf"[a-zA-Z0-9_-]{{1,{MAX_NAME_CHARS}}}")
_CALLS: Final = frozenset({"tool_use", "tool_call", "tool_call_chunk", "invalid_tool_call", "function_call"})
_THOUGHTS: Final = frozenset({"reasoning", "thinking", "redacted_thinking"})
_FROM_AI: Final = _CALLS | _THOUGHTS | {"refusal"}
_STANDARD_MEDIA: Final = frozenset({"image", "audio", "file"})
_FROM_HUMAN: Final = _STANDARD_MEDIA | {
    "image_url",
    "input_image",
    "input_audio",
    "input_file",
    "video_url",
    "audio_url",
}
_REPLACED_KWARGS: Final = frozenset({"tool_calls", "function_call", "name"})

Content = str | list[str | dict[Any, Any]]

Reference = tuple[Literal["id", "name", "any"], str]
"""By what a result knows its call."""
ANY_CALL: Final[Reference] = ("any", "")

NOTHING_SAID: Final = "[empty message]"
"""Stands for a human message without content, which providers refuse; left out, its turn would be too."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; `asked_as` is its id in the state, where ids may repeat within a thread or be missing."""

    asked_as: str | None
    name: str
    args: dict[str, Any]
    parsed: bool

    @property
    def known_as(self) -> Sequence[Reference]:
        """All by which a result may refer to it."""
        return ("id", self.asked_as or ""), ("name", self.name), ANY_CALL

    def as_tool_call(self, call_id: str) -> ToolCall:
        return ToolCall(name=self.name, args=self.args, id=call_id, type="tool_call")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message to send and, where it calls tools, its calls with the results found for them, by position."""

    message: BaseMessage
    calls: Sequence[Call] = ()
    results: dict[int, ToolMessage] = field(default_factory=dict[int, ToolMessage])


def as_sent(message: BaseMessage, *, max_chars: int) -> Exchange | None:
    """A human or assistant message as a copy to send; None for one that is not sent.

    Not sent: system messages (the caller has the only one), roles no provider knows, and assistant messages that
    neither say nor call anything, such as one of a run that was cancelled at once.
    """
    role = role_of(message)
    if role == "human":
        content = _sent_content(message.content, passing=_FROM_HUMAN, max_chars=max_chars)
        return Exchange(HumanMessage(content or NOTHING_SAID, **_attributes(message)))
    if role != "ai":
        return None
    calls = _calls(message, max_chars)
    text = text_of(message)
    if not calls and not text.strip() and "audio" not in message.additional_kwargs:
        return None
    content = _sent_content(message.content or text, passing=_FROM_AI, max_chars=max_chars)
    return Exchange(AIMessage(content, tool_calls=_own_calls(message), **_attributes(message)), calls)


def call_of(result: BaseMessage) -> Reference:
    """The call it answers: by id where the result has one; results of the older function kind know the name only."""
    answered = getattr(result, "tool_call_id", None) or result.additional_kwargs.get("tool_call_id")
    if answered:
        return "id", str(answered)
    return ("name", _tool_name(result.name)) if result.name else ANY_CALL


def result_as_sent(message: BaseMessage, *, max_chars: int) -> ToolMessage:
    """A tool's result as text, which is all that every provider takes; its call id is still to be given."""
    status = "error" if getattr(message, "status", "success") == "error" else "success"
    return ToolMessage(_bounded(text_of(message), max_chars), tool_call_id="", status=status, id=message.id)


def without_calls_in_content(message: AIMessage) -> Content:
    """Content without the provider's own copies of its calls, and thoughts that are only valid together with them."""
    if isinstance(message.content, str):
        return message.content
    return [block for block in message.content if isinstance(block, str) or kind_of(block) not in _CALLS | _THOUGHTS]


def _attributes(message: BaseMessage) -> dict[str, Any]:
    named = message.name or message.additional_kwargs.get("name")
    kwargs = {key: value for key, value in message.additional_kwargs.items() if key not in _REPLACED_KWARGS}
    return {
        "id": message.id,
        "name": named if isinstance(named, str) and _SAFE_NAME.fullmatch(named) else None,
        "additional_kwargs": kwargs,
        "response_metadata": message.response_metadata,
    }


def _own_calls(message: BaseMessage) -> list[ToolCall]:
    return list(message.tool_calls) if isinstance(message, AIMessage) else []


def _calls(message: BaseMessage, max_chars: int) -> list[Call]:
    """All calls of a message: those whose arguments did not parse too, since their results may be in the state."""
    if not isinstance(message, AIMessage):
        return []
    calls = [
        Call(call.get("id"), _tool_name(call["name"]), _bounded_args(call["args"], max_chars), parsed=True)
        for call in message.tool_calls
    ]
    calls += [
        Call(call.get("id"), _tool_name(call.get("name")), {}, parsed=False) for call in message.invalid_tool_calls
    ]
    return calls or _function_call(message, max_chars)


def _function_call(message: AIMessage, max_chars: int) -> list[Call]:
    """The one call of OpenAI's older format, which langchain leaves unparsed."""
    asked: object = message.additional_kwargs.get("function_call")
    if not isinstance(asked, Mapping):
        return []
    function = cast("Mapping[str, object]", asked)
    args = _parsed_args(function.get("arguments"))
    return [Call(None, _tool_name(function.get("name")), _bounded_args(args or {}, max_chars), args is not None)]


def _parsed_args(arguments: object) -> dict[str, Any] | None:
    try:
        args: object = json.loads(arguments) if isinstance(arguments, str) and arguments else {}
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", args) if isinstance(args, dict) else None


def _tool_name(name: object) -> str:
    """A name that providers accept: models invent names, and a refused history could never be continued."""
    if not isinstance(name, str) or not name:
        return UNNAMED_TOOL
    return name if _SAFE_NAME.fullmatch(name) else re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:MAX_NAME_CHARS]


def _bounded_args(args: dict[str, Any], max_chars: int) -> dict[str, Any]:
    """Arguments as they were, or, where they are too long or no JSON, their beginning as one text."""
    try:
        text = json.dumps(args, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return {"not_json": _bounded(repr(args), max_chars)}
    if len(text) > max_chars:
        return {"shortened": _bounded(text, max_chars)}
    clean = well_formed(text)
    return args if clean == text else json.loads(clean)


def _bounded(text: str, max_chars: int) -> str:
    return shorten(well_formed(text), max_chars)


def _sent_content(content: Content, *, passing: frozenset[str], max_chars: int) -> Content:
    """Content in the shapes providers accept: blocks of a kind in `passing` as they are, all else as text."""
    if isinstance(content, str):
        return _bounded(content if len(content) <= max_chars else text_of(content), max_chars)
    blocks = [_sent_block(block, passing) for block in content]
    kept = [block for block in blocks if block is not None]
    texts = [block for block in kept if block["type"] == "text"]
    if sum(len(block["text"]) for block in texts) > max_chars:
        whole = {"type": "text", "text": _bounded(text_of(texts), max_chars)}
        kept = [block for block in kept if block["type"] != "text"] + [whole]
    return list(kept) or ""


def _sent_block(block: str | dict[Any, Any], passing: frozenset[str]) -> dict[Any, Any] | None:
    if isinstance(block, dict):
        kind, text = kind_of(block), block.get("text")
        if kind in passing and (kind not in _STANDARD_MEDIA or _is_convertible(block)):
            return block
        if kind == "text" and _is_plain(text) and "source_type" not in block:  # which the client takes for media
            return block
    text = well_formed(text_of([block]))
    return {"type": "text", "text": text} if text else None


def _is_plain(text: object) -> bool:
    return isinstance(text, str) and bool(text) and well_formed(text) == text


def _is_convertible(block: dict[Any, Any]) -> bool:
    """Whether langchain puts an image, a sound or a file into OpenAI's format; else it raises, or leaves it out."""
    if not is_data_content_block(block):
        return isinstance(block.get("file"), dict) if block["type"] == "file" else _is_anthropic_image(block)
    try:
        convert_to_openai_data_block(block)
    except (KeyError, ValueError, TypeError, AttributeError):
        return False
    return True


def _is_anthropic_image(block: dict[Any, Any]) -> bool:
    source = cast("object", block.get("source"))
    if block["type"] != "image" or not isinstance(source, Mapping):
        return False
    told = cast("Mapping[str, object]", source)
    needed = {"base64": ("media_type", "data"), "url": ("url",)}.get(str(told.get("type")))
    return needed is not None and all(told.get(key) for key in needed)
