"""What clients sent and what they were told, turn by turn; and what must be true of what is stored. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.load.script import fact_of, key_of


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
    """What is there afterwards. Marks are in the order in which they are stored."""

    asked: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Of each thread: the marks of its human messages."""
    answers: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Of each thread: the marks of its answers."""
    episodes: Sequence[str] = ()
    windows: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict[str, Sequence[tuple[int, int]]])
    """Of each thread: the first and last turn, 0-based, of each summary, by sequence."""
    keys: Mapping[str, Iterable[str]] = field(default_factory=dict[str, Iterable[str]])
    """Of each user: the keys of the profile."""
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Of each user: the contents of the facts."""


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked for; `wrong` of `of` were not as they have to be."""

    name: str
    of: int
    wrong: Sequence[str]

    @property
    def held(self) -> bool:
        return not self.wrong


def checks(sent: Sequence[Sent], stored: Stored, *, keep_recent: int) -> list[Check]:
    """Nothing acknowledged is lost, and nothing is written twice."""
    return [
        _lost_answers(sent, stored),
        _said_twice(stored),
        _lost_saves(sent, stored),
        _facts_twice(stored),
        _lost_episodes(sent, stored),
        Check("episodes twice", len(stored.episodes), _twice(stored.episodes)),
        _summaries_wrong(stored),
        _summaries_due(stored, keep_recent),
    ]


def _lost_answers(sent: Sequence[Sent], stored: Stored) -> Check:
    answered = [one for one in sent if one.answered]
    lost = [
        one.mark
        for one in answered
        if one.mark not in stored.asked.get(one.thread_id, ()) or one.mark not in stored.answers.get(one.thread_id, ())
    ]
    return Check("answers lost", len(answered), lost)


def _said_twice(stored: Stored) -> Check:
    asked = [mark for marks in stored.asked.values() for mark in marks]
    answers = [mark for marks in stored.answers.values() for mark in marks]
    return Check("messages twice", len(asked) + len(answers), [*_twice(asked), *_twice(answers)])


def _lost_saves(sent: Sequence[Sent], stored: Stored) -> Check:
    keys = {user: set(found) for user, found in stored.keys.items()}
    facts = {user: set(found) for user, found in stored.facts.items()}
    wanted = [(one, "save_memory", key_of(one.mark) in keys.get(one.user, ())) for one in sent]
    wanted += [(one, "manage_memory", fact_of(one.mark) in facts.get(one.user, ())) for one in sent]
    told = [(one.mark, is_there) for one, tool, is_there in wanted if tool in one.kept]
    return Check("saves lost", len(told), [mark for mark, is_there in told if not is_there])


def _facts_twice(stored: Stored) -> Check:
    facts = [f"{user}: {fact}" for user, found in stored.facts.items() for fact in found]
    return Check("facts twice", len(facts), _twice(facts))


def _lost_episodes(sent: Sequence[Sent], stored: Stored) -> Check:
    answered = [one.mark for one in sent if one.answered]
    known = set(stored.episodes)
    return Check("episodes lost", len(answered), [mark for mark in answered if mark not in known])


def _summaries_wrong(stored: Stored) -> Check:
    """In a thread without branches each summary begins where the one before it ended."""
    wrong = [
        f"{thread_id}: {list(windows)}"
        for thread_id, windows in stored.windows.items()
        if [start for start, _ in windows] != [0, *(end + 1 for _, end in windows[:-1])][: len(windows)]
    ]
    return Check("summaries with a gap or twice", sum(map(len, stored.windows.values())), wrong)


def _summaries_due(stored: Stored, keep_recent: int) -> Check:
    late = [
        f"{thread_id}: {len(marks)} turns, covered to {_covered(stored, thread_id)}"
        for thread_id, marks in stored.asked.items()
        if len(marks) - (_covered(stored, thread_id) + 1) >= keep_recent
    ]
    return Check("threads with a summary due", len(stored.asked), late)


def _covered(stored: Stored, thread_id: str) -> int:
    return max((end for _, end in stored.windows.get(thread_id, ())), default=-1)


def _twice(found: Iterable[str]) -> list[str]:
    return [one for one, count in Counter(found).items() if count > 1]
