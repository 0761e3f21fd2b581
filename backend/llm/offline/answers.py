"""Answers to questions about what is known: from the profile, the earlier conversation, and the messages at hand."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from backend.llm.messages import clip
from backend.llm.offline.passages import HIDDEN_KEYS, MAX_LINE_CHARS, QUESTION, sources
from backend.llm.offline.results import in_words, label
from backend.llm.offline.routing import DEFAULT, choose_subagent
from backend.llm.offline.saving import patches_for
from backend.llm.offline.statements import key_for, statements_in
from backend.llm.offline.turn import Turn
from backend.llm.offline.words import telling, words

MAX_LINES: Final = 10
MIN_SHARED_WORDS: Final = 2
ASKED_FOR: Final = words(
    "name named called call colour color size age old date day days time number address place kind sort "
    "heißt name farbe llama nombre color s'appelle nom couleur зовут имя цвет"
)
"""What is asked for, not what it is asked about: a passage about something else may well have these."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about the user, and the profile keys that answer it, the best first."""

    asked: str
    """Alternatives of a regular expression."""
    keys: tuple[str, ...]
    answer: str
    """What stands before the value."""
    unknown: str


_IS: Final = r"(?:'s|’s|s| is)"
QUESTIONS: Final = (
    Question(
        rf"(?:what{_IS}|do you (?:know|remember)|tell me) my name|who am i(?!\w)",
        ("name",),
        "Your name is",
        "your name",
    ),
    Question(
        r"where (?:do i|i) live|(?:what|which) (?:city|town) (?:do|am) i",
        ("city", "location", "home"),
        "You live in",
        "where you live",
    ),
    Question(
        r"where (?:am i|i am|do i come) from", ("from", "country", "hometown"), "You are from", "where you are from"
    ),
    Question(r"where do i work", ("employer", "company", "job"), "You work at", "where you work"),
    Question(
        rf"what{_IS} my (?:job|profession|work)(?!\w)|what do i do(?: for (?:a living|work))?\s*\?",
        ("job", "employer"),
        "Your work is",
        "what you do",
    ),
    Question(
        r"what (?:do i (?:dislike|hate|not like)|don't i like)", ("dislikes",), "You do not like", "what you dislike"
    ),
    Question(r"what do i (?:like|love|enjoy)", ("likes", "hobbies", "interests"), "You like", "what you like"),
)
_PATTERNS: Final = tuple(
    (re.compile(rf"(?<!\w)(?:{question.asked})", re.IGNORECASE), question) for question in QUESTIONS
)
_MY: Final = re.compile(
    rf"(?<!\w)(?:what(?:{_IS}| are)|when{_IS}|do you (?:know|remember)) my (?P<what>[^?.,!]{{1,40}})", re.IGNORECASE
)
_ABOUT_ME: Final = re.compile(
    r"(?<!\w)(?:what|anything)(?!\w).{0,40}(?:know|remember|saved?|memory)(?!\w).{0,20}(?<!\w)about me(?!\w)|"
    r"(?<!\w)what (?:do|have) you (?:remember|saved|remembered)\s*\?",
    re.IGNORECASE,
)
_ABOUT_BEFORE: Final = re.compile(
    r"(?<!\w)what (?:did|have|were|was) (?:we|i|you) (?:been )?(?:talk|discuss|speak|say|said|ask|chat)\w*(?: about)?"
    r"(?: before| so far| earlier)?\s*(?:\?|$)|(?<!\w)(?:summari[sz]e|recap) (?:our|this|the) (?:conversation|chat)",
    re.IGNORECASE,
)


def answer(turn: Turn) -> str:
    """An answer from what is known, or what is missing; empty if the message asks for nothing of the kind."""
    return next((said for rule in RULES if (said := rule(turn))), "")


def _about_everything(turn: Turn) -> str:
    if not _ABOUT_ME.search(turn.said):
        return ""
    known = {key: value for key, value in turn.memory.items() if key not in HIDDEN_KEYS} or _said_before(turn)
    lines = [f"- {label(key)}: {in_words(value)}" for key, value in known.items()]
    facts = [fact.content for fact in turn.facts] + [item.text for item in turn.recalled if item.kind == "fact"]
    lines += [f"- {clip(line, MAX_LINE_CHARS)}" for line in dict.fromkeys(facts)]
    if not lines:
        return "I do not know anything about you yet. Tell me your name, or where you live."
    return "\n".join(["This is what I know about you:", *lines])


def _about_one_thing(turn: Turn) -> str:
    question = next((question for pattern, question in _PATTERNS if pattern.search(turn.said)), None)
    if question is None:
        return ""
    if value := _value(turn, question.keys):
        return f"{question.answer} {value}."
    return _stated(turn, question.keys) or f"I do not know {question.unknown} yet."


def _about_mine(turn: Turn) -> str:
    asked = _MY.search(turn.said)
    if not asked:
        return ""
    what = asked["what"].strip().lower()
    if value := _value(turn, (key_for(what),)):
        return f"Your {what} is {value}."
    unknown = f"I do not know your {what} yet." if choose_subagent(turn.said) == DEFAULT else ""
    return _from_sources(turn) or unknown


def _about_before(turn: Turn) -> str:
    if not _ABOUT_BEFORE.search(turn.said):
        return ""
    summarized = _lines(turn.conversation)[:MAX_LINES]
    written = [f"- {clip(' '.join(text.split()), MAX_LINE_CHARS)}" for text in turn.earlier if text][-MAX_LINES:]
    parts = ["Earlier in this conversation:", *summarized] if summarized else []
    parts += ["Since then you wrote:" if summarized else "You wrote:", *written] if written else []
    return "\n".join(parts) or "We have only just begun: there is nothing before your message."


def _from_sources(turn: Turn) -> str:
    """From each source, what shares most words with a question, if it shares more of them than those before it."""
    wanted = telling(turn.said)
    about = wanted - ASKED_FOR
    if not about or not QUESTION.search(turn.said):
        return ""
    elsewhere = choose_subagent(turn.said, turn.before) != DEFAULT
    least = MIN_SHARED_WORDS if elsewhere else min(MIN_SHARED_WORDS, len(about))
    most = 0
    told: list[str] = []
    for source in sources(turn):
        fitting = (passage for passage in source if len(about & telling(passage.text)) >= least)
        best = max(fitting, key=lambda passage: len(wanted & telling(passage.text)), default=None)
        if best and len(wanted & telling(best.text)) > most:
            most = len(wanted & telling(best.text))
            told.append(best.in_answer(wanted))
    return "\n".join(told)


RULES: Final[tuple[Callable[[Turn], str], ...]] = (
    _about_everything,
    _about_one_thing,
    _about_mine,
    _about_before,
    _from_sources,
)


def _value(turn: Turn, keys: Sequence[str]) -> str:
    found = (known[key] for known in (turn.memory, _said_before(turn)) for key in keys if known.get(key))
    return next((in_words(value) for value in found), "")


def _stated(turn: Turn, keys: Sequence[str]) -> str:
    """The passage in which the user says it of themselves."""
    passages = (passage for source in sources(turn) for passage in source)
    return next(
        (one.in_answer(telling(turn.said)) for one in passages if statements_in(one.text).keys() & set(keys)), ""
    )


def _said_before(turn: Turn) -> dict[str, Any]:
    """What the user said of themselves in the messages at hand, the latest last; without what was to be forgotten."""
    known: dict[str, Any] = {}
    for text in turn.earlier:
        for patch in patches_for(text, known, turn.facts if turn.keeps_facts else None):
            key = patch["path"].strip("/")
            known.pop(key, None)
            if "value" in patch:
                known[key] = patch["value"]
    return known


def _lines(*texts: str) -> list[str]:
    return [line.strip() for text in texts for line in text.splitlines() if line.strip()]
