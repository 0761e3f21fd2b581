"""How good rankings are: each is the list of turns that a method found for a question, best first."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

CUTS: Final = (5, 8, 10, 20)
CONTEXT_WORDS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found for one question in so many milliseconds; `turns` and `evidence` are ids of turns."""

    turns: Sequence[str]
    evidence: frozenset[str]
    milliseconds: float


def any_at(rankings: Sequence[Ranking], cut: int) -> float:
    """Percent of the questions with some evidence among the first `cut`."""
    return _percent(rankings, lambda ranking: bool(ranking.evidence & set(ranking.turns[:cut])))


def all_at(rankings: Sequence[Ranking], cut: int) -> float:
    return _percent(rankings, lambda ranking: ranking.evidence <= set(ranking.turns[:cut]))


def reciprocal_rank(rankings: Sequence[Ranking]) -> float:
    """The mean of 1 / rank of the first evidence, in percent."""
    places = [next((i for i, turn in enumerate(r.turns, 1) if turn in r.evidence), 0) for r in rankings]
    return 100 * statistics.fmean(1 / place if place else 0 for place in places)


def in_context(rankings: Sequence[Ranking], words: Mapping[str, int]) -> tuple[float, float]:
    """Percent with some and with all evidence within `CONTEXT_WORDS`; `words` is how many each turn has."""
    fitting = [
        Ranking(turns_that_fit(ranking.turns, words), ranking.evidence, ranking.milliseconds) for ranking in rankings
    ]
    everything = max((len(ranking.turns) for ranking in fitting), default=0)
    return any_at(fitting, everything), all_at(fitting, everything)


def turns_that_fit(turns: Sequence[str], words: Mapping[str, int]) -> Sequence[str]:
    """The first ones that have no more than `CONTEXT_WORDS` words together."""
    total = 0
    for place, turn in enumerate(turns):
        total += words[turn]
        if total > CONTEXT_WORDS:
            return turns[:place]
    return turns


def percentile(milliseconds: Sequence[float], share: float) -> float:
    return sorted(milliseconds)[min(len(milliseconds) - 1, int(share * len(milliseconds)))]


def quality_row(rankings: Sequence[Ranking], words: Mapping[str, int]) -> str:
    """One line of the table: any@5/8/10/20, all@10, MRR, some and all in the context, p50 and p95."""
    some, everything = in_context(rankings, words)
    figures = [
        *(any_at(rankings, cut) for cut in CUTS),
        all_at(rankings, 10),
        reciprocal_rank(rankings),
        some,
        everything,
    ]
    times = [ranking.milliseconds for ranking in rankings]
    quality = " ".join(f"{figure:6.1f}" for figure in figures)
    return f"{quality} {percentile(times, 0.5):7.1f} {percentile(times, 0.95):7.1f}"


HEADER: Final = (
    f"{'method':44} {'any@5':>6} {'@8':>6} {'@10':>6} {'@20':>6} {'all@10':>6} {'MRR':>6} "
    f"{'some':>6} {'all':>6} {'p50 ms':>7} {'p95 ms':>7}"
)


def _percent(rankings: Sequence[Ranking], holds: Callable[[Ranking], bool]) -> float:
    return 100 * statistics.fmean(map(holds, rankings))
