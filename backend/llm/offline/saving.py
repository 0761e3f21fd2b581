"""The patches of `save_memory` that a message gives rise to."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from backend.llm.messages import clip
from backend.llm.offline.blocks import without_quotations
from backend.llm.offline.json_text import as_list
from backend.llm.offline.statements import CLAUSE, NOTES, REMEMBER, Said, first_part, key_for, statements_in
from backend.llm.offline.words import any_of

MAX_NOTE_CHARS: Final = 200

Patch = dict[str, Any]

_KEEP: Final = re.compile(rf"{CLAUSE}{REMEMBER}(?=(?P<what>[^\n]{{3,300}}))", re.IGNORECASE)
_PAIR: Final = re.compile(
    r"(?:my|our|the)\s+(?P<key>[^.,;:!?\n]{1,40}?)\s+(?:is|are|=)\s+(?P<value>[^;!?\n]{1,200})", re.IGNORECASE
)
_DROP: Final = re.compile(
    rf"{CLAUSE}(?:(?:can|could|will|would) you |please )*(?:forget|delete|erase)\s+(?:about )?(?:that )?"
    r"(?P<what>[^\n]{2,200})",
    re.IGNORECASE,
)
_DROPPED_KEY: Final = re.compile(r"(?:my|where i|what i)\s+(?P<key>[^.,;:!?\n]{1,40})", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"(?<!\bSt)(?<!\bDr)[.!](?=\s|$)")
_SECRET: Final = any_of(
    r"password|passwort|passphrase|passcode|pin|pin code|secret|api[ _-]?key|token|private key|cvv|"
    r"credit card(?: number)?|пароль|contraseña|mot de passe",  # codespell:ignore mot
    "密码",
)
_ALIASES: Final = {
    "home": "city",
    "home town": "city",
    "hometown": "city",
    "town": "city",
    "live": "city",
    "work": "job",
    "profession": "job",
    "company": "employer",
    "country": "from",
    "am from": "from",
    "like": "likes",
    "love": "likes",
    "dislike": "dislikes",
}


def patches_for(text: str, memory: Mapping[str, Any]) -> list[Patch]:
    """What to keep or to drop of what the writer says; `memory` is the profile as it is. Empty if there is nothing."""
    plain = without_quotations(text)
    if dropped := list(_dropped(plain, memory)):
        return [{"op": "remove", "path": f"/{key}"} for key in dict.fromkeys(dropped)]
    if asks_to_keep_secret(text):
        return []
    said = statements_in(text) or _asked_to_keep(plain)
    return [
        {"op": "add", "path": f"/{key}", "value": _collected(one.value, memory.get(key)) if one.many else one.value}
        for key, one in said.items()
    ]


def asks_to_keep_secret(text: str) -> bool:
    """Whether a message asks to remember something that must not be kept."""
    return any(_SECRET.search(asked["what"]) for asked in _KEEP.finditer(without_quotations(text)))


def _asked_to_keep(plain: str) -> dict[str, Said]:
    found: dict[str, Said] = {}
    for asked in _KEEP.finditer(plain):
        what = _SENTENCE_END.split(asked["what"], maxsplit=1)[0].strip()
        if pair := _PAIR.match(what):
            found[key_for(pair["key"])] = Said(first_part(pair["value"]))
        elif not what.endswith("?") and not what.lower().startswith(("to ", "when ", "me ")):
            notes = f"{found[NOTES].value}; " if NOTES in found else ""
            found[NOTES] = Said(clip(notes + what, MAX_NOTE_CHARS), many=True)
    return found


def _dropped(plain: str, memory: Mapping[str, Any]) -> Iterator[str]:
    for asked in _DROP.finditer(plain):
        if named := _DROPPED_KEY.match(asked["what"]):
            words = first_part(named["key"]).lower()
            key = key_for(words)
            yield key if key in memory else _ALIASES.get(words, key)
        else:
            yield from statements_in(asked["what"])


def _collected(value: str, known: object) -> str | list[object]:
    """What is kept under a key, with the new value at its end; a list stays a list."""
    if items := as_list(known):
        return items if value in items else [*items, value]
    if not isinstance(known, str) or not known:
        return value
    separator = "; " if "; " in known or "," in value else ", "
    return known if value in known.split(separator) else f"{known}{separator}{value}"
