"""The LoCoMo conversations as rows and questions: every dialog turn is a row, every session a thread."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from backend.storage.memory_rows import NewMemory

ADVERSARIAL: Final = 5


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the ids of the turns that hold the answer."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Session:
    at: datetime
    turns: Sequence[NewMemory]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation is one scope; a turn's id is the only one of its `message_ids`."""

    scope: str
    speakers: Sequence[str]
    sessions: Sequence[Session]
    questions: Sequence[Question]


def load_conversations(path: Path) -> Sequence[Conversation]:
    """All ten, with the questions of the categories 1 to 4."""
    return [_conversation(sample) for sample in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    scope, said = str(sample["sample_id"]), cast("Mapping[str, Any]", sample["conversation"])
    sessions = list(_sessions(scope, said))
    known = {turn.message_ids[0] for session in sessions for turn in session.turns}
    return Conversation(
        scope=scope,
        speakers=(said["speaker_a"], said["speaker_b"]),
        sessions=sessions,
        questions=list(_questions(sample["qa"], known)),
    )


def _sessions(scope: str, said: Mapping[str, Any]) -> Iterator[Session]:
    for name, turns in said.items():
        if re.fullmatch(r"session_\d+", name):
            at = datetime.strptime(said[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            yield Session(at, [_turn(f"{scope}:{name}", place, turn) for place, turn in enumerate(turns)])


def _turn(thread: str, place: int, turn: Mapping[str, str]) -> NewMemory:
    caption = f" [shared image: {turn['blip_caption']}]" if "blip_caption" in turn else ""
    content = turn["text"] + caption
    return NewMemory(
        kind="episode",
        content=content,
        content_hash=hashlib.sha256(f"{thread}:{place}:{content}".encode()).digest(),
        said_by=turn["speaker"],
        thread_id=thread,
        turn=place,
        message_ids=[turn["dia_id"]],
    )


def _questions(asked: Sequence[Mapping[str, Any]], known: set[str]) -> Iterator[Question]:
    for question in asked:
        named = {turn for evidence in question["evidence"] for turn in re.findall(r"D\d+:\d+", evidence)}
        if question["category"] != ADVERSARIAL and named & known:
            yield Question(question["question"], frozenset(named & known))
