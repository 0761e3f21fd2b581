"""What clients sent and what they were told, turn by turn; and what must be true of what is stored. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bench.load.script import fact_of, key_of

Window = tuple[int, int]
"""The first and the last turn, 0-based, that a summary covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One turn as its client saw it."""

    user: str
    thread_id: str
    mark: str
    answered: bool
    """The whole answer came, and no error."""
    kept: frozenset[str] = frozenset()
    """The tools that told that they had saved, whether or not an answer followed."""
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What is there afterwards."""

    asked: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Of each thread: the marks of its human messages."""
    answers: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Of each thread: the marks of its answers."""
    episodes: Sequence[str] = ()
    """Their marks."""
    windows: Mapping[str, Sequence[Window]] = field(default_factory=dict[str, Sequence[Window]])
    """Of each thread: those of its summaries."""
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Of each user: the keys of the profile."""
    facts: Sequence[str] = ()
    """Their contents."""


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked for; `wrong` of `of` were not as they have to be."""

    name: str
    of: int
    wrong: Sequence[str]
    waits: bool = False
    """Whether background work may still put it right."""

    @property
    def held(self) -> bool:
        return not self.wrong

    def __str__(self) -> str:
        return f"{len(self.wrong)}/{self.of}"


def checks(sent: Sequence[Sent], stored: Stored, *, keep_recent: int) -> list[Check]:
    """Nothing acknowledged is lost, and nothing is written twice."""
    answered = [one for one in sent if one.answered]
    episodes = set(stored.episodes)
    return [
        Check("answers lost", len(answered), [one.mark for one in answered if not _is_in_thread(one, stored)]),
        _saves_lost(sent, stored),
        Check("episodes lost", len(answered), [one.mark for one in answered if one.mark not in episodes], waits=True),
        _summaries_lost(stored, keep_recent),
        _written_twice(stored),
    ]


def _is_in_thread(one: Sent, stored: Stored) -> bool:
    return one.mark in stored.asked.get(one.thread_id, ()) and one.mark in stored.answers.get(one.thread_id, ())


def _saves_lost(sent: Sequence[Sent], stored: Stored) -> Check:
    facts = set(stored.facts)
    keys = [(one.mark, key_of(one.mark) in stored.keys.get(one.user, ())) for one in sent if "save_memory" in one.kept]
    told = keys + [(one.mark, fact_of(one.mark) in facts) for one in sent if "manage_memory" in one.kept]
    return Check("saves lost", len(told), [mark for mark, is_there in told if not is_there])


def _summaries_lost(stored: Stored, keep_recent: int) -> Check:
    """None is due, counted by what they cover from the first turn on without a gap."""
    late = [
        f"{thread_id}: {len(marks)} turns, {covered} covered"
        for thread_id, marks in stored.asked.items()
        if len(marks) - (covered := _covered(stored.windows.get(thread_id, ()))) >= keep_recent
    ]
    return Check("summaries lost", len(stored.asked), late, waits=True)


def _covered(windows: Iterable[Window]) -> int:
    """How many turns from the first on."""
    covered = 0
    for first, last in sorted(windows):
        if first > covered:
            break
        covered = max(covered, last + 1)
    return covered


def _written_twice(stored: Stored) -> Check:
    written = Counter(_written(stored))
    return Check("written twice", written.total(), [one for one, count in written.items() if count > 1])


def _written(stored: Stored) -> Iterator[str]:
    """The name of each thing that is stored."""
    yield from (f"question {mark}" for marks in stored.asked.values() for mark in marks)
    yield from (f"answer {mark}" for marks in stored.answers.values() for mark in marks)
    yield from (f"episode {mark}" for mark in stored.episodes)
    yield from (f"fact {content!r}" for content in stored.facts)
    for thread_id, windows in stored.windows.items():
        yield from (
            f"summary of turn {turn} in {thread_id}" for first, last in windows for turn in range(first, last + 1)
        )
