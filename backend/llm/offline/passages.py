"""What is kept and what was said, as passages that can be told, in the order in which they are believed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from backend.llm.messages import clip
from backend.llm.offline.forgetting import asks_to_forget, forget_requests
from backend.llm.offline.results import in_words, label
from backend.llm.offline.turn import Turn
from backend.llm.offline.words import telling

MAX_LINE_CHARS: Final = 300
HIDDEN_KEYS: Final = frozenset({"avatar"})
KEPT: Final = "From what I have kept:"
WROTE: Final = "You wrote:"

QUESTION: Final = re.compile(
    r"[?？]\s*$|^\s*(?:what|when|where|who|which|why|how|do|did|does|is|are|was|were|tell me)(?!\w)", re.IGNORECASE
)
_SENTENCE: Final = re.compile(r"(?<=[.!?？])\s+|(?<=[。！？])")
_NO_ANSWER: Final = re.compile(
    rf"\nA: (?:I do not (?:know|understand)|I find nothing|{KEPT}|{WROTE}|On \d{{4}}-)", re.IGNORECASE
)
_ENTRY_START: Final = re.compile(r"\n\s*\n|\n(?=Q(?: \([^)\n]*\))?: )")
_LABEL: Final = re.compile(r"Q(?: \([^)\n]*\))?: ")
_THREAD: Final = "~"
"""Sorts behind every day: what stands in the thread was said after what was recalled into it."""

When = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Passage:
    text: str
    """What it is compared and read by."""
    told: str = KEPT
    """What stands before it in an answer."""

    def in_answer(self, wanted: frozenset[str]) -> str:
        return f"{self.told} {clip(_around(self.text, wanted), MAX_LINE_CHARS)}"


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the user said in another turn."""

    when: When
    text: str
    told: str


def sources(turn: Turn) -> list[list[Passage]]:
    """The profile, the facts, the earlier conversation, the messages at hand, and what was recalled; newest first.

    What the user later asked to forget is left out of everything but the profile and the facts, which forget by
    themselves.
    """
    spoken = [*_recalled(turn), *_written(turn)]
    forgotten = [(one.when, words) for one in spoken for words in _forgotten_by(one.text)]
    told = [Passage(line, one.told) for one in spoken[::-1] for line in _statements(one, forgotten)]
    return [
        [Passage(f"{label(key)}: {in_words(value)}") for key, value in turn.memory.items() if key not in HIDDEN_KEYS],
        [Passage(fact.content) for fact in reversed(turn.facts)],
        [Passage(entry) for entry in _entries(turn.conversation, [words for _, words in forgotten])][::-1],
        [passage for passage in told if passage.told == WROTE],
        [Passage(item.text) for item in reversed(turn.recalled) if item.kind == "fact"]
        + [passage for passage in told if passage.told != WROTE],
    ]


def _recalled(turn: Turn) -> list[Spoken]:
    episodes = sorted((item for item in turn.recalled if item.kind == "episode"), key=lambda item: item.day)
    return [Spoken((item.day, 0), item.text, f"On {item.day} you wrote:") for item in episodes]


def _written(turn: Turn) -> list[Spoken]:
    return [Spoken((_THREAD, place), text, WROTE) for place, text in enumerate(turn.earlier)]


def _forgotten_by(text: str) -> Iterator[frozenset[str]]:
    return (request.words for request in forget_requests(text, {}) if request.words)


def _statements(spoken: Spoken, forgotten: Sequence[tuple[When, frozenset[str]]]) -> Iterator[str]:
    """The lines without questions and requests to forget, and without what such a request names afterwards."""
    since = [words for when, words in forgotten if when >= spoken.when]
    for line in spoken.text.splitlines():
        said = " ".join(part for part in _SENTENCE.split(line.strip()) if part and not QUESTION.search(part))
        if said and not asks_to_forget(said) and not _names(since, said):
            yield said


def _entries(conversation: str, forgotten: Sequence[frozenset[str]]) -> Iterator[str]:
    """Each question of a summary with its answer, if that is one."""
    entries = [entry.strip() for entry in _ENTRY_START.split(conversation)]
    requests = [*forgotten, *(words for entry in entries for words in _forgotten_by(_asked(entry)))]
    for entry in entries:
        if entry and not _NO_ANSWER.search(entry) and not asks_to_forget(_asked(entry)) and not _names(requests, entry):
            yield " ".join(entry.split())


def _asked(entry: str) -> str:
    return _LABEL.sub("", entry.partition("\nA: ")[0], count=1)


def _names(requests: Sequence[frozenset[str]], text: str) -> bool:
    return any(words <= telling(text) for words in requests)


def _around(text: str, wanted: frozenset[str]) -> str:
    """A text from where it has most of the words, if it is too long to be told whole."""
    if len(text) <= MAX_LINE_CHARS:
        return text
    parts = _SENTENCE.split(text)
    best = max(range(len(parts)), key=lambda place: len(wanted & telling(parts[place])))
    return " ".join(parts[best:])
