"""Twenty memories and twenty questions in each of five languages, `languages/<name>.json`, written for this."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Final

from backend.ids import UserId
from backend.memory.scope import scope_label
from backend.memory.search import Search
from backend.storage.database import Database
from backend.storage.memory_rows import MemoryRows, NewMemory
from backend.storage.recall_rows import RecallRows

TARGETS: Final[Mapping[str, float]] = {"german": 90, "russian": 90, "spanish": 90, "chinese": 80, "japanese": 80}
"""The least any@3 of a language, in percent."""
KEPT_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pair:
    memory: str
    question: str


def load_pairs(language: str) -> Sequence[Pair]:
    text = files("bench.recall").joinpath("languages", f"{language}.json").read_text(encoding="utf-8")
    return [Pair(**pair) for pair in json.loads(text)]


async def missed(database: Database, language: str) -> Sequence[str]:
    """The questions whose memory is not among the first three; the memories are stored first, once a database."""
    user, pairs = UserId(language), load_pairs(language)
    await MemoryRows(database).save(scope_label(user), added=[_fact(pair.memory) for pair in pairs], at=KEPT_AT)
    search = Search(user, RecallRows(database), None, "")
    found = {pair: await search.find(pair.question, limit=3) for pair in pairs}
    return [pair.question for pair in pairs if pair.memory not in {one.content for one in found[pair]}]


def _fact(text: str) -> NewMemory:
    return NewMemory(kind="fact", content=text, content_hash=hashlib.sha256(text.encode()).digest())
