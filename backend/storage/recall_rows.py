"""Recall: the rows of a scope that a text is about, best first, by one statement."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from backend.ids import MemoryId, ThreadId
from backend.storage.database import Database
from backend.storage.memory_rows import KINDS, Kind, MemoryRow, possible_ids
from backend.storage.queries import load_queries

QUERIES: Final = load_queries("recall")

PARTS: Final = ("words", "coverage", "meaning", "name", "date", "length", "question", "importance", "recency")
"""What a score is the sum of, weights included."""

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """What is looked for, with the cues that were found in the text."""

    text: str
    limit: int
    kinds: Sequence[Kind] = KINDS
    names: Sequence[str] = ()
    """Words of the text in lower case: rows that were said by one of them go up."""
    dates: Sequence[tuple[date, date]] = ()
    """Ranges of days that the text names, both ends included."""
    vector: Sequence[float] | None = None
    model: str = ""
    """The embedding model that made the vector; rows without one of this model count by their words alone."""
    sent_thread: ThreadId | None = None
    sent_from_turn: int = 0
    """Episodes of this thread from this turn on are left out: they are sent as they are."""
    besides: Sequence[MemoryId] = ()
    """Rows that are left out: they are known already."""
    least_share: float = 0.0
    """Of what the words of the text say, the best row and the turns around it hold this share: less is no answer ..."""
    least_similarity: float = 0.0
    """... unless the nearest vector is this close to the text's, from 0 to 1.

    Where there is an answer, rows are part of it that hold a quarter of that share or are half as close.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRow:
    row: MemoryRow
    score: float
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    """What the score is the sum of, weights included: the names in `PARTS`."""


class RecallRows:
    """The search over `memories`; `scope` is a scope's label."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def search(self, scope: str, query: RecallQuery) -> Sequence[ScoredRow]:
        """The relevant rows, best first; no text is refused, and one that says nothing finds nothing.

        Raises:
            StorageUnavailable: the database does not answer.
        """
        text = storable(query.text).strip()
        if not text:
            return ()
        values = {**_parameters(query), "scope": scope, "text": text}
        async with self._database.connection() as connection, connection.transaction():
            await connection.execute(QUERIES["plan_once"])
            rows = await (await connection.execute(QUERIES["recall"], values)).fetchall()
        return [_scored(row) for row in rows]


def storable(text: str) -> str:
    """The text as the database holds it: without NUL, and with U+FFFD for halves of surrogate pairs."""
    return _UNSTORABLE.sub(lambda found: "" if found[0] == "\x00" else "\ufffd", text)


def _parameters(query: RecallQuery) -> dict[str, Any]:
    return {
        "limit": query.limit,
        "kinds": list(query.kinds),
        "names": list(map(storable, query.names)),
        "first_days": [first for first, _ in query.dates],
        "last_days": [last for _, last in query.dates],
        "vector": f"[{','.join(map(str, query.vector))}]" if query.vector is not None else None,
        "model": query.model,
        "sent_thread": query.sent_thread,
        "sent_from_turn": query.sent_from_turn,
        "besides": possible_ids(query.besides),
        "least_share": query.least_share,
        "least_similarity": query.least_similarity,
    }


def _scored(values: dict[str, Any]) -> ScoredRow:
    parts = {name: float(values.pop(f"{name}_part")) for name in PARTS}
    score = values.pop("score")
    row: dict[str, Any] = {**values, "id": MemoryId(str(values["id"]))}
    return ScoredRow(row=MemoryRow(**row), score=score, parts=parts)
