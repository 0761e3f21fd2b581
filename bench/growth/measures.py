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
    """Of one turn. `calls` are what the chat model got, `passes` what the summary model got, in tokens."""

    seconds: float
    background_seconds: float
    calls: Sequence[float]
    passes: Sequence[float]


@dataclass(frozen=True, slots=True)
class Point:
    """A thread at some length, over its newest turns."""

    turns: int
    call_tokens: float
    turn_seconds: float
    background_seconds: float
    stored: int
    """Bytes, since the first turn."""


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
    costs: Sequence[TurnCost]
    knowledge: Knowledge

    @property
    def calls(self) -> Sequence[float]:
        return [tokens for cost in self.costs for tokens in cost.calls]

    @property
    def passes(self) -> Sequence[float]:
        return [tokens for cost in self.costs for tokens in cost.passes]


def cost_of(seconds: float, background_seconds: float, taken: Iterable[tuple[str, int]]) -> TurnCost:
    """`taken` are the characters that each model got; four make a token."""
    tokens = [(model, chars / CHARS_PER_TOKEN) for model, chars in taken]
    calls, passes = ([count for model, count in tokens if model == wanted] for wanted in ("chat", "summary"))
    return TurnCost(seconds, background_seconds, calls, passes)


def point_of(turns: int, newest: Sequence[TurnCost], stored: int) -> Point:
    return Point(
        turns=turns,
        call_tokens=statistics.fmean(tokens for cost in newest for tokens in cost.calls),
        turn_seconds=statistics.median(cost.seconds for cost in newest),
        background_seconds=statistics.fmean(cost.background_seconds for cost in newest),
        stored=stored,
    )


def bytes_a_turn(points: Sequence[Point]) -> Sequence[float]:
    """What each turn added between the points."""
    return [(after.stored - before.stored) / (after.turns - before.turns) for before, after in pairwise(points)]


def codes_in(prompt: str, facts: Iterable[Planted]) -> frozenset[str]:
    return frozenset(fact.code for fact in facts if fact.code in prompt)


def labels_in(prompt: str) -> frozenset[int]:
    """The turns, 0-based, whose labels the block of the earlier conversation shows."""
    block = prompt.partition("<earlier_conversation>\n")[2].partition("</earlier_conversation>")[0]
    return frozenset(int(number) - 1 for number in REF.findall(block))


def prompt_of(request: Mapping[str, Any]) -> str:
    """All that a request says to the model, in one text."""
    return "\n".join(text_of(message) for message in request["messages"])
