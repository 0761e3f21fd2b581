"""The turns of a window as a model reads them: one line of JSON a turn, bounded, without credentials (S1)."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from backend.ids import Json
from backend.llm.content import well_formed
from backend.llm.messages import (
    MessageRole,
    estimate_tokens,
    human_positions,
    is_framework_made,
    role_of,
    text_of,
)
from backend.memory.redaction import compact_json, guard_json, redact, redact_json, shortened, storable
from backend.memory.summaries.record import SummaryEntry
from backend.memory.summaries.window import Window

MAX_TRANSCRIPT_TOKENS: Final = 24_000
MESSAGE_CHARS: Final = (6_000, 3_000, 1_500, 700, 300, 120, 40)
"""How much of a message is shown: the first of these with which the whole transcript fits."""
TOOL_SHARE: Final = 3
"""A tool's result gets this fraction of it: what matters of it is mostly said again in the answer."""
MAX_NAME_CHARS: Final = 100

KnownDigests = dict[tuple[int, ...], str]
"""Digests by hashes of the messages that they stand for, as only the process knows them that made them."""
_PLAIN: Final = (HumanMessage, AIMessage)


@dataclass(frozen=True, slots=True)
class _Said:
    role: MessageRole
    name: str | None
    text: str
    calls: Sequence[tuple[str, Json]]

    def as_json(self, max_chars: int) -> dict[str, Json]:
        limit = max_chars // TOOL_SHARE if self.role == "tool" else max_chars
        said: dict[str, Json] = {"role": self.role}
        if self.name:
            said["name"] = shortened(self.name, MAX_NAME_CHARS)
        if self.text or not self.calls:
            said["content"] = shortened(self.text, limit)
        if self.calls:
            said["tool_calls"] = [
                {"name": shortened(name, MAX_NAME_CHARS), "args": _shown_args(args, limit)} for name, args in self.calls
            ]
        return said


def label(turn: int) -> str:
    """What a model calls a turn: `#1` is turn 0."""
    return f"#{turn + 1}"


def excerpt(messages: Sequence[BaseMessage], window: Window) -> list[list[BaseMessage]]:
    """The messages of each turn of the window: from its human message up to the next one or the end.

    Left out: roles that are no part of a conversation, and what the framework put in between.
    """
    return [_kept(messages[start:end]) for start, end in _bounds(messages)[window.start : window.end + 1]]


def excerpt_digest(messages: Sequence[BaseMessage], window: Window) -> str:
    """A digest of all that the turns of a window say; it changes when one is edited, regenerated or removed."""
    return digests_of(messages)(window)


def digests_of(messages: Sequence[BaseMessage], *, known: KnownDigests | None = None) -> Callable[[Window], str]:
    """`excerpt_digest` for several windows of the same messages, which are gone through once.

    `known` is added to, and spares what it holds already: most turns of a long thread are what they were a call ago.
    """
    bounds = _bounds(messages)

    def digest_of(window: Window) -> str:
        spans = bounds[window.start : window.end + 1]
        said = messages[spans[0][0] : spans[-1][1]] if spans else ()
        if known is None:
            return _digest(said)
        prints = tuple(map(_print, said))
        if prints not in known:
            known[prints] = _digest(said)
        return known[prints]

    return digest_of


def _digest(messages: Sequence[BaseMessage]) -> str:
    return hashlib.sha256("".join(map(_digested, messages)).encode()).hexdigest()


def _digested(message: BaseMessage) -> str:
    """What of a message counts for a digest; nothing of one that is no part of the conversation."""
    said = _said(message)
    if said is None:
        return ""
    calls = [[name, _json_text(_as_it_travels(args))] for name, args in said.calls]
    return compact_json([said.role, said.text, calls])


def _print(message: BaseMessage) -> int:
    """Messages of one print have the same `_digested`, for which plain words need not be looked through."""
    if type(message) in _PLAIN and isinstance(message.content, str) and message.content and not _has_calls(message):
        return hash((type(message), message.content, is_framework_made(message)))
    return hash(_digested(message))


def _has_calls(message: BaseMessage) -> bool:
    return isinstance(message, AIMessage) and bool(message.tool_calls or message.invalid_tool_calls)


def transcript(messages: Sequence[BaseMessage], window: Window, *, max_tokens: int = MAX_TRANSCRIPT_TOKENS) -> str:
    """One line `{"id":"#3","messages":[...]}` a turn, in order, at most `max_tokens` tokens (estimated) together.

    A message is `{"role", "name"?, "content"?, "tool_calls"?: [{"name", "args"}]}`. Texts are cut with a marker, the
    shorter the more there is; if even that is too much, turns in the middle are left out and counted. No text of a
    message can end a line, and none can open or close a block of a prompt. Credentials are redacted.
    """
    turns = [[said for message in turn if (said := _said(message))] for turn in excerpt(messages, window)]
    lines: list[str] = []
    for max_chars in MESSAGE_CHARS[_first_worth_trying(turns, max_tokens) :]:
        lines = [_line(turn, said, max_chars) for turn, said in zip(window.turns, turns, strict=False)]
        if estimate_tokens("\n".join(lines)) <= max_tokens:
            return "\n".join(lines)
    return "\n".join(_without_middle(lines, max_tokens))


def _first_worth_trying(turns: Sequence[Sequence[_Said]], max_tokens: int) -> int:
    """Which of MESSAGE_CHARS to start with: a token is four characters at most, so the larger ones cannot fit."""
    lengths = [len(said.text) for turn in turns for said in turn if said.role != "tool"]
    fitting = (n for n, chars in enumerate(MESSAGE_CHARS) if sum(min(chars, x) for x in lengths) <= 4 * max_tokens)
    return next(fitting, len(MESSAGE_CHARS) - 1)


def keep_refs_in(window: Window, entries: Iterable[SummaryEntry]) -> list[SummaryEntry]:
    """A model's entries as they are stored: only labels of the window, credentials redacted, empty ones dropped."""
    labels = {label(turn) for turn in window.turns}
    kept: list[SummaryEntry] = []
    for entry in entries:
        refs = dict.fromkeys(ref for raw in entry.refs if (ref := f"#{raw.strip().lstrip('#').lstrip('0')}") in labels)
        question, answer = _stored_text(entry.question), _stored_text(entry.answer)
        if question or answer:
            kept.append(SummaryEntry(question=question, answer=answer, refs=list(refs)))
    return kept


def _stored_text(text: str) -> str:
    return redact(storable(text)).strip()


def _bounds(messages: Sequence[BaseMessage]) -> list[tuple[int, int]]:
    return list(pairwise([*human_positions(messages), len(messages)]))


def _kept(turn: Sequence[BaseMessage]) -> list[BaseMessage]:
    return [message for message in turn if _said(message)]


def _said(message: BaseMessage) -> _Said | None:
    """What a message says; None for one that is no part of the conversation, or that neither says nor calls anything
    as an assistant.
    """
    role = role_of(message)
    if role is None or role == "system" or is_framework_made(message):
        return None
    said = _Said(role, message.name if role == "tool" else None, text_of(message), list(_calls(message)))
    return said if role != "ai" or said.text.strip() or said.calls else None


def _calls(message: BaseMessage) -> Iterator[tuple[str, Json]]:
    """Name and arguments of each call; arguments that did not parse are shown as the text that came."""
    if isinstance(message, AIMessage):
        yield from ((call["name"], call["args"]) for call in message.tool_calls)
        yield from ((call.get("name") or "", call.get("args") or "") for call in message.invalid_tool_calls)


def _shown_args(args: Json, limit: int) -> Json:
    """Arguments as they are, or, where they are too long or no JSON, the beginning of their text."""
    text = _json_text(args)
    if len(text) <= limit and _is_json(args):
        return redact_json(args)
    return shortened(text, limit)


def _as_it_travels(args: Json) -> Json:
    """Arguments as another process reads them through the server, where numbers that JSON has not become null."""
    if isinstance(args, float) and not math.isfinite(args):
        return None
    if isinstance(args, Mapping):
        return {key: _as_it_travels(member) for key, member in args.items()}
    if isinstance(args, list):
        return [_as_it_travels(member) for member in args]
    return args


def _json_text(args: Json) -> str:
    try:
        return args if isinstance(args, str) else compact_json(args)
    except (TypeError, ValueError, RecursionError):
        return well_formed(repr(args))


def _is_json(args: Json) -> bool:
    try:
        compact_json(args)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _line(turn: int, said: Sequence[_Said], max_chars: int) -> str:
    return guard_json({"id": label(turn), "messages": [one.as_json(max_chars) for one in said]})


def _without_middle(lines: Sequence[str], max_tokens: int) -> list[str]:
    """As many lines from both ends as fit, with a line between them that says how many are missing."""
    first, last = 0, len(lines)
    room = max_tokens - estimate_tokens(guard_json({"turns_left_out": len(lines)}))
    while first < last:
        line = lines[first] if first <= len(lines) - last else lines[last - 1]
        room -= estimate_tokens(line) + 1
        if room < 0:
            break
        first, last = (first + 1, last) if first <= len(lines) - last else (first, last - 1)
    return [*lines[:first], guard_json({"turns_left_out": last - first}), *lines[last:]]
