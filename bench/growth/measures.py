"""What of a growing thread is measured: tokens, times, bytes, and what the model could still answer."""

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from bench.turns.talk import Planted
from tests.support.model_requests import text_of

CHARS_PER_TOKEN: Final = 4
REF: Final = re.compile(r"#(\d+)")


@dataclass(frozen=True, slots=True)
class TurnCost:
    """Of one turn. `calls` are what the chat model got, `passes` what the summary model got, in characters."""

    seconds: float
    background_seconds: float
    calls: Sequence[int]
    passes: Sequence[int]


@dataclass(frozen=True, slots=True)
class Point:
    """A thread at some length, over its newest turns. Tokens are characters by four."""

    turns: int
    call_tokens: float
    turn_seconds: float
    background_seconds: float
    stored: Mapping[str, int]
    """Bytes, by what they hold."""

    @property
    def bytes(self) -> int:
        return sum(self.stored.values())


@dataclass(frozen=True, slots=True)
class Knowledge:
    """How many of the planted facts can still be answered."""

    planted: int
    in_prompt: int
    """Those whose code the last prompt holds."""
    asked: int
    """Those whose code the prompt of a question for it holds."""
    looked_up: int
    """Those that are in the prompt, or in a turn whose label the prompt shows and the model can look up."""


@dataclass(frozen=True, slots=True)
class Grown:
    """A thread of one variant, grown to its end."""

    name: str
    points: Sequence[Point]
    calls: int
    passes: int
    sent_tokens: float
    pass_tokens: float
    longest_pass_tokens: float
    knowledge: Knowledge


def point_of(turns: int, newest: Sequence[TurnCost], stored: Mapping[str, int]) -> Point:
    calls = [chars / CHARS_PER_TOKEN for cost in newest for chars in cost.calls]
    return Point(
        turns=turns,
        call_tokens=statistics.fmean(calls),
        turn_seconds=statistics.median(cost.seconds for cost in newest),
        background_seconds=statistics.fmean(cost.background_seconds for cost in newest),
        stored=stored,
    )


def is_linear(points: Sequence[Point], *, tolerance: float) -> bool:
    """Whether the bytes of a turn are about the same at the end as they were at the beginning."""
    return bytes_a_turn(points)[-1] <= (1 + tolerance) * bytes_a_turn(points)[0]


def bytes_a_turn(points: Sequence[Point]) -> Sequence[float]:
    """What each turn added between the points."""
    return [(after.bytes - before.bytes) / (after.turns - before.turns) for before, after in pairwise(points)]


def codes_in(request: Mapping[str, Any] | None, facts: Iterable[Planted]) -> frozenset[str]:
    """The planted codes that a request to the chat model holds."""
    text = prompt_text(request)
    return frozenset(fact.code for fact in facts if fact.code in text)


def labels_in(request: Mapping[str, Any] | None) -> frozenset[int]:
    """The turns, 0-based, whose labels the block of the earlier conversation shows."""
    block = prompt_text(request).partition("<earlier_conversation>\n")[2].partition("</earlier_conversation>")[0]
    return frozenset(int(number) - 1 for number in REF.findall(block))


def prompt_text(request: Mapping[str, Any] | None) -> str:
    messages: Sequence[Mapping[str, Any]] = request["messages"] if request else ()
    return "\n".join(text_of(message) for message in messages)
