"""Questions about messages that every part of a turn asks in the same way: who spoke, what was said, how much it is."""

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
    get_notification_metadata,
)

from backend.llm.content import parts_of

MessageRole = Literal["human", "ai", "tool", "system"]

BYTES_PER_TOKEN = 4
ELLIPSIS = "…"
MAX_GRAPHEME_CHARS = 32

_ROLES: dict[str, MessageRole] = {
    "human": "human",
    "user": "human",
    "ai": "ai",
    "assistant": "ai",
    "tool": "tool",
    "function": "tool",
    "system": "system",
}
_KINDS: dict[type[BaseMessage], MessageRole] = {
    HumanMessage: "human",
    HumanMessageChunk: "human",
    AIMessage: "ai",
    AIMessageChunk: "ai",
    ToolMessage: "tool",
    ToolMessageChunk: "tool",
    FunctionMessage: "tool",
    FunctionMessageChunk: "tool",
    SystemMessage: "system",
    SystemMessageChunk: "system",
}


def role_of(message: BaseMessage) -> MessageRole | None:
    """Who speaks in a message; None for roles that no model call takes, such as `developer`, and for removals.

    Asked by class first, because a streamed chunk's `type` is its class name.
    """
    role = _KINDS.get(type(message))
    if role is not None:
        return role
    for kind, kind_role in _KINDS.items():
        if isinstance(message, kind):
            return kind_role
    name = message.role if isinstance(message, ChatMessage) else message.type
    return _ROLES.get(name.strip().lower())


def is_human_turn(message: BaseMessage) -> bool:
    """Whether the user wrote this, so that it counts as a turn (S1).

    A human message that the framework made does not: one hidden from the page, or one that langchain marks with the
    feature that added it, such as its summarization.
    """
    return role_of(message) == "human" and not is_framework_made(message)


def is_framework_made(message: BaseMessage) -> bool:
    """Whether a feature, not a person or a model, put this message into the conversation."""
    return message.additional_kwargs.get("hide_from_ui") is True or get_notification_metadata(message) is not None


def human_positions(messages: Sequence[BaseMessage]) -> list[int]:
    """Where the turns of a conversation start: positions in `messages`, ascending; turn 0 starts at the first."""
    return [position for position, message in enumerate(messages) if is_human_turn(message)]


def human_ids(messages: Sequence[BaseMessage]) -> list[str | None]:
    """The id of the human message of each turn, in order; None where a message has none yet."""
    return [messages[position].id for position in human_positions(messages)]


def text_of(source: BaseMessage | object) -> str:
    """What a message, or bare message content, says in words.

    Images, sound, video, files and unknown blocks become short markers (`[image]`, `[file: plan.pdf]`), base64 never
    gets through; thoughts and tool calls are left out. Blocks stand on lines of their own, except that an assistant's
    neighbouring text blocks are joined as they are: providers split one sentence into several.
    """
    content = source.content if isinstance(source, BaseMessage) else source
    parts = parts_of(content)
    joined = isinstance(source, BaseMessage) and role_of(source) == "ai"
    pieces = [text for _, text in parts[:1]]
    for (spoken, _), (next_spoken, next_text) in pairwise(parts):
        pieces.append(next_text if joined and spoken and next_spoken else f"\n{next_text}")
    return "".join(pieces) or _refusal(source)


def _refusal(source: object) -> str:
    """OpenAI's client keeps a refusal beside the content, which is then empty."""
    refusal = source.additional_kwargs.get("refusal") if isinstance(source, AIMessage) else None
    return refusal if isinstance(refusal, str) else ""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is: its UTF-8 bytes by four, rounded up; for receipts and bounds, not for bills.

    For English this is the usual four characters a token. Counting bytes keeps other scripts honest: a Cyrillic letter
    is half a token, a Chinese character three quarters, an emoji one.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def shorten(text: str, limit: int, *, whole_chars: int = 0) -> str:
    """The text, or its beginning and a marker that says how many characters were left out; at most `limit` characters.

    `whole_chars` is the length of the whole text where `text` is only its beginning. The cut never falls inside a
    visible character. A limit too small for the marker leaves an ellipsis.
    """
    whole = max(whole_chars, len(text))
    if whole <= limit:
        return text
    room = limit - len(_left_out(whole))
    if room < 0:
        return clip(text, limit)
    kept = _cut_before(text, room) if room < len(text) else len(text)
    return text[:kept] + _left_out(whole - kept)


def clip(text: str, limit: int) -> str:
    """The text, or its beginning and an ellipsis, at most `limit` characters: for titles and previews."""
    if len(text) <= limit:
        return text
    return text[: _cut_before(text, limit - 1)] + ELLIPSIS if limit > 0 else ""


def _left_out(count: int) -> str:
    return f"{ELLIPSIS} [{count} characters left out]"


def _cut_before(text: str, position: int) -> int:
    """The last place at or before `position` where a text may be cut."""
    earliest = max(0, position - MAX_GRAPHEME_CHARS)
    for place in range(position, earliest, -1):
        if not _joins(text, place):
            return place
    return position if earliest else 0


def _joins(text: str, place: int) -> bool:
    """Whether the characters on both sides of `place` are one visible character."""
    before, after = text[place - 1], text[place]
    if before == "\u200d" or after in "\u200d\ufe0f" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    return unicodedata.category(after) in {"Mn", "Mc", "Me"} or _splits_flag(text, place)


def _splits_flag(text: str, place: int) -> bool:
    """Whether `place` lies between the two letters of a flag: an odd number of them stands before it."""
    if not _is_flag_letter(text[place]):
        return False
    start = place
    while start > 0 and place - start < MAX_GRAPHEME_CHARS and _is_flag_letter(text[start - 1]):
        start -= 1
    return (place - start) % 2 == 1


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
