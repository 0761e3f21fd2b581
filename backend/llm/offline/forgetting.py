"""What a message asks to forget: keys of the profile, facts, or something that has to be asked about."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from backend.llm.messages import clip
from backend.llm.offline.blocks import without_quotations
from backend.llm.offline.facts import KnownFact
from backend.llm.offline.statements import CLAUSE, SENTENCE_END, first_part, key_for, statements_in
from backend.llm.offline.words import telling, words

MAX_DELETED: Final = 10
"""Facts by one request; one that means more is asked about."""
MAX_SHOWN_CHARS: Final = 200
WHAT_TO_FORGET: Final = "What should I forget? Say, for example: Forget that the boat is red."

_DROP: Final = re.compile(
    rf"{CLAUSE}(?:(?:can|could|will|would) you |please )*(?P<verb>forget|delete|erase)\s+(?=(?P<what>[^\n]{{2,300}}))",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"(?:(?:about|that|of|(?:everything|anything|all|what)(?: that)?(?: (?:i|you|we)(?: have|'ve|’ve)? (?:said|told "
    r"you|know|remember|remembered|kept|keep|saved))?(?= (?:about|of)(?!\w))|(?:the|my|this|your) "
    r"(?:facts?|notes?|rules?)(?= (?:about|that|of)(?!\w)))\s+)+",
    re.IGNORECASE,
)
_TOPIC: Final = re.compile(r"(?<!\w)(?:about|everything|anything|all)(?!\w)", re.IGNORECASE)
_KEY: Final = re.compile(r"(?:my|where i|what i)\s+(?P<key>[^.,;:!?\n]{1,40})", re.IGNORECASE)
_VAGUE: Final = words("it that this everything anything all one last thing things them those these again")
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


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """One request, and what it comes to: keys or facts, or nothing that is clear."""

    words: frozenset[str]
    """What it names."""
    keys: tuple[str, ...] = ()
    facts: tuple[KnownFact, ...] = ()
    perhaps: tuple[KnownFact, ...] = ()
    """Facts that may be meant."""

    @property
    def question(self) -> str:
        """What to ask of the user; empty for a clear request."""
        if self.keys or self.facts:
            return ""
        if self.perhaps:
            shown = "\n".join(f"- {clip(fact.content, MAX_SHOWN_CHARS)}" for fact in self.perhaps[:MAX_DELETED])
            return f"Which of these should I forget? Say it in its own words.\n{shown}"
        return f"I find nothing of that in what I have kept. {WHAT_TO_FORGET}" if self.words else WHAT_TO_FORGET


def forget_requests(text: str, memory: Mapping[str, Any], facts: Sequence[KnownFact] = ()) -> list[ForgetRequest]:
    """The requests of a message; of one to delete that names nothing known, nothing is said: it may mean a file."""
    asked = [(verb, _resolved(what, memory, facts)) for verb, what in _asked(text)]
    return [request for verb, request in asked if verb == "forget" or request.keys or request.facts]


def asks_to_forget(text: str) -> bool:
    return next(_asked(text), None) is not None


def _asked(text: str) -> Iterator[tuple[str, str]]:
    for asked in _DROP.finditer(without_quotations(text)):
        yield asked["verb"].lower(), SENTENCE_END.split(asked["what"], maxsplit=1)[0].strip()


def _resolved(what: str, memory: Mapping[str, Any], facts: Sequence[KnownFact]) -> ForgetRequest:
    lead = _LEAD.match(what)
    named = what[lead.end() :] if lead else what
    first = telling(first_part(named)) - _VAGUE
    wanted = telling(named) - _VAGUE if first else first
    keys = tuple(dict.fromkeys(_keys(named, memory)))
    if known := tuple(key for key in keys if key in memory):
        return ForgetRequest(wanted, keys=known)
    every = lead is not None and _TOPIC.search(lead[0]) is not None
    for meant in (wanted, first):
        if found := _named(meant, facts, every=every):
            return ForgetRequest(wanted, facts=found)
    # Where nothing else is meant, the tool says that the profile has no such key.
    return ForgetRequest(wanted, keys=keys, perhaps=_near(wanted, facts))


def _keys(named: str, memory: Mapping[str, Any]) -> Iterator[str]:
    if found := _KEY.match(named):
        said = first_part(found["key"]).lower()
        key = key_for(said)
        yield key if key in memory else _ALIASES.get(said, key)
    else:
        yield from statements_in(named)


def _named(wanted: frozenset[str], facts: Sequence[KnownFact], *, every: bool) -> tuple[KnownFact, ...]:
    """The facts that the words name; none if that is in doubt."""
    found = [(fact, telling(fact.content)) for fact in facts if wanted and wanted <= telling(fact.content)]
    exact = [fact for fact, said in found if said == wanted]
    named = exact or [fact for fact, _ in found]
    return tuple(named) if exact or len(named) == 1 or (every and len(named) <= MAX_DELETED) else ()


def _near(wanted: frozenset[str], facts: Sequence[KnownFact]) -> tuple[KnownFact, ...]:
    return tuple(fact for fact in facts if wanted and 2 * len(wanted & telling(fact.content)) >= len(wanted))
