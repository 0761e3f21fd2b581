"""What a message gives rise to keep: patches of `save_memory` for attributes, sentences for facts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from backend.llm.messages import clip
from backend.llm.offline.blocks import BLANK, blank_quotations
from backend.llm.offline.facts import KnownFact
from backend.llm.offline.forgetting import forget_requests
from backend.llm.offline.json_text import as_list
from backend.llm.offline.statements import (
    CLAUSE,
    NOTES,
    REMEMBER,
    SENTENCE_END,
    Said,
    first_part,
    key_for,
    statements_in,
)
from backend.llm.offline.words import any_of, telling

MAX_NOTE_CHARS: Final = 200
MAX_SENTENCE_CHARS: Final = 500

Patch = dict[str, Any]

_KEEP: Final = re.compile(rf"{CLAUSE}{REMEMBER}(?=(?P<what>[^\n]{{3,600}}))", re.IGNORECASE)
_PAIR: Final = re.compile(
    r"(?P<whose>my|our|the)\s+(?P<key>[^.,;:!?\n]{1,40}?)\s+(?:is|are|=)\s+(?P<value>[^;!?\n]{1,200})", re.IGNORECASE
)
_SECRET: Final = any_of(
    r"password|passwort|passphrase|passcode|pin|pin code|secret|api[ _-]?key|token|private key|cvv|"
    r"credit card(?: number)?|пароль|contraseña|mot de passe",  # codespell:ignore mot
    "密码",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A sentence that is to be remembered."""

    said: str
    plain: str
    """Without what it quotes."""


def patches_for(text: str, memory: Mapping[str, Any], facts: Sequence[KnownFact] | None = None) -> list[Patch]:
    """What to keep or to drop of what the writer says; `memory` is the profile as it is. Empty if there is nothing.

    `facts` are those that are kept. With None no facts can be kept: then the profile takes other sentences too.
    """
    if dropped := [key for request in forget_requests(text, memory, facts or ()) for key in request.keys]:
        return [{"op": "remove", "path": f"/{key}"} for key in dict.fromkeys(dropped)]
    if asks_to_keep_secret(text):
        return []
    said = {**_asked_of_profile(text, alone=facts is None), **statements_in(text)}
    return [
        {"op": "add", "path": f"/{key}", "value": _collected(one.value, memory.get(key)) if one.many else one.value}
        for key, one in said.items()
    ]


def sentences_for(text: str) -> list[str]:
    """The sentences that the writer asks to remember and that are no attribute of theirs, each once."""
    if asks_to_keep_secret(text):
        return []
    kept = [one.said for one in _asked_to_keep(text) if not statements_in(one.plain) and not _pair(one, alone=False)]
    return list(dict.fromkeys(clip(sentence, MAX_SENTENCE_CHARS) for sentence in kept))


def asks_to_keep_secret(text: str) -> bool:
    """Whether a message asks to remember something that must not be kept."""
    asked = _KEEP.finditer(blank_quotations(text))
    return any(_SECRET.search(text[one.start("what") : one.end("what")]) for one in asked)


def _asked_of_profile(text: str, *, alone: bool) -> dict[str, Said]:
    found: dict[str, Said] = {}
    for one in _asked_to_keep(text):
        if statements_in(one.plain):
            continue
        if pair := _pair(one, alone=alone):
            found[key_for(pair["key"])] = Said(first_part(pair["value"]))
        elif alone:
            notes = f"{found[NOTES].value}; " if NOTES in found else ""
            found[NOTES] = Said(clip(notes + one.said, MAX_NOTE_CHARS), many=True)
    return found


def _asked_to_keep(text: str) -> Iterator[Asked]:
    plain = blank_quotations(text)
    asked = list(_KEEP.finditer(plain))
    ends = [*(one.start() for one in asked), len(text)]
    for one, end in zip(asked, ends[1:], strict=True):
        start, stop = one.start("what"), min(one.end("what"), end)
        stop = start + len(SENTENCE_END.split(plain[start:stop], maxsplit=1)[0])
        what = plain[start:stop].replace(BLANK, " ").strip(" ,;")
        if telling(what) and not what.endswith("?") and not what.lower().startswith(("to ", "when ", "me ")):
            yield Asked(text[start:stop].strip(" ,;"), what)


def _pair(asked: Asked, *, alone: bool) -> re.Match[str] | None:
    """`my dog is Rex`; when there are facts, what is not the user's own belongs to them."""
    pair = _PAIR.match(asked.said)
    return pair if pair and (alone or pair["whose"].lower() == "my") else None


def _collected(value: str, known: object) -> str | list[object]:
    """What is kept under a key, with the new value at its end; a list stays a list."""
    if items := as_list(known):
        return items if value in items else [*items, value]
    if not isinstance(known, str) or not known:
        return value
    separator = "; " if "; " in known or "," in value else ", "
    return known if value in known.split(separator) else f"{known}{separator}{value}"
