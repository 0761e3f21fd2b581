"""The standing facts of a thread: one block, read once, and lines for what has changed since (S4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from backend.ids import Json, MemoryId
from backend.memory.facts.record import Fact
from backend.memory.redaction import guard_json

MAX_BLOCK_CHARS: Final = 12_000
GONE: Final = 0
"""In place of the version of a fact that the thread has been told is no longer valid."""

Told = Mapping[MemoryId, int | None]
"""What results of the thread's own tools have said that are still sent: the version they left, or None for deleted."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The block's lines, oldest fact first."""

    lines: str
    versions: Mapping[MemoryId, int]
    """Of every fact; negative for those that were left out for space."""

    @property
    def shown(self) -> int:
        return sum(1 for version in self.versions.values() if version > 0)


@dataclass(frozen=True, slots=True)
class Changes:
    """Lines for what has changed, and the versions that are known with them."""

    lines: Sequence[str]
    versions: Mapping[MemoryId, int]


def standing(facts: Sequence[Fact], *, max_chars: int = MAX_BLOCK_CHARS) -> Standing:
    """The block of these facts. Where not all fit, those that changed last do; the order is that of their making."""
    lines: dict[MemoryId, str] = {}
    room = max_chars
    for fact in sorted(facts, key=lambda fact: (fact.updated_at, fact.id), reverse=True):
        line = fact_line(fact)
        if len(line) + 1 <= room:
            lines[fact.id] = line
            room -= len(line) + 1
    shown = [lines[fact.id] for fact in sorted(facts, key=_age) if fact.id in lines]
    hidden = len(facts) - len(shown)
    more = [f"{hidden} more are not shown for space; manage_memory finds them by search."] if hidden else []
    versions = {fact.id: fact.version if fact.id in lines else -fact.version for fact in facts}
    return Standing("\n".join([*shown, *more]), versions)


def fact_line(fact: Fact) -> str:
    """One fact as JSON on one line, with what the model needs to change it."""
    named: dict[str, Json] = {"id": fact.id, "version": fact.version, "content": fact.content}
    if fact.key is not None:
        named["key"] = fact.key
    if fact.categories:
        named["categories"] = list(fact.categories)
    return guard_json(named)


def changes(known: Mapping[MemoryId, int], facts: Sequence[Fact], *, told: Told = MappingProxyType({})) -> Changes:
    """What the facts are now, against what the thread was sent; what its own tools have told is known too.

    A fact that was never shown, and is as it was, stays unmentioned.
    """
    seen = _seen(known, told)
    lines = [_changed(fact, seen) for fact in sorted(facts, key=_age)]
    versions = {fact.id: -fact.version if seen.get(fact.id) == -fact.version else fact.version for fact in facts}
    gone = [fact_id for fact_id in _gone(seen, facts) if known.get(fact_id) != GONE]
    return Changes(
        [*(line for line in lines if line), *map(_no_longer_valid, gone)],
        {**versions, **dict.fromkeys(_gone(told, facts), GONE)},
    )


def reread(
    known: Mapping[MemoryId, int], facts: Sequence[Fact], *, told: Told = MappingProxyType({})
) -> tuple[Standing, Changes]:
    """The block read anew, with lines for facts that were sent before and that it has no room for, and for those that
    only results of tools still show.
    """
    block = standing(facts)
    hidden = [fact for fact in facts if block.versions[fact.id] < 0 < known.get(fact.id, 0)]
    lines = [
        f"not shown for space but still valid: {fact.id}"
        if known[fact.id] == fact.version
        else f"changed: {fact_line(fact)}"
        for fact in sorted(hidden, key=_age)
    ]
    gone = [fact_id for fact_id in _gone(told, facts) if known.get(fact_id) != GONE]
    versions = {
        **block.versions,
        **{fact.id: fact.version for fact in hidden},
        **dict.fromkeys(_gone(told, facts), GONE),
    }
    return block, Changes([*lines, *map(_no_longer_valid, gone)], versions)


def _changed(fact: Fact, seen: Mapping[MemoryId, int | None]) -> str:
    version = seen.get(fact.id)
    if version is None:
        return f"new: {fact_line(fact)}"
    return "" if abs(version) == fact.version else f"changed: {fact_line(fact)}"


def _seen(known: Mapping[MemoryId, int], told: Told) -> Told:
    """The newer of what was sent and what a result says: results stay where they are, and grow old."""
    news = {
        fact_id: version for fact_id, version in told.items() if version is None or version > abs(known.get(fact_id, 0))
    }
    return {**told, **known, **news}


def _gone(seen: Told, facts: Sequence[Fact]) -> list[MemoryId]:
    """What was seen, and has gone without its deletion being seen."""
    there = {fact.id for fact in facts}
    return [fact_id for fact_id, version in seen.items() if version is not None and fact_id not in there]


def _no_longer_valid(fact_id: MemoryId) -> str:
    return f"no longer valid: {fact_id}"


def _age(fact: Fact) -> tuple[object, str]:
    return fact.created_at, fact.id
