"""The ways to find rows that are compared: the product's own service, and queries as they are often written."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from backend.ids import UserId
from backend.memory.search import Embed, Search
from backend.storage.database import Database
from backend.storage.queries import parse_queries
from backend.storage.recall_rows import QUERIES, RecallQuery, RecallRows, ScoredRow

BASELINES: Final = parse_queries(Path(__file__).with_name("baselines.sql").read_text(encoding="utf-8"))

FUSED: Final = 500
"""So many rows of each are put together."""

Method = Callable[[str, str, int], Awaitable[Sequence[str]]]
"""(scope, question, limit) to the ids of rows, best first."""

WEIGHTED: Final[Mapping[str, Mapping[str, float]]] = {
    "sum .5 text .25 trigram .15 recency": {"text_weight": 0.5, "trigram_weight": 0.25, "recency_weight": 0.15},
    "sum .6 text .35 trigram .05 recency": {"text_weight": 0.6, "trigram_weight": 0.35, "recency_weight": 0.05},
}


class RowsWithoutNames:
    """The product's rows, asked as in a private chat, where no question names who said something."""

    def __init__(self, rows: RecallRows) -> None:
        self._rows = rows

    async def search(self, scope: str, query: RecallQuery) -> Sequence[ScoredRow]:
        return await self._rows.search(scope, replace(query, names=()))


def product(database: Database, embed: Embed | None, model: str, *, speakers: bool = True) -> Method:
    """`Search.find` over our own statement, its floor included."""
    rows = RecallRows(database)

    async def find(scope: str, question: str, limit: int) -> Sequence[str]:
        search = Search(UserId(scope), rows if speakers else RowsWithoutNames(rows), embed, model)
        return [found.id for found in await search.find(question, limit=limit)]

    return find


def baseline(database: Database, query: str, weights: Mapping[str, float] | None = None) -> Method:
    """A query of `baselines.sql`, under the same settings as ours."""

    async def find(scope: str, question: str, limit: int) -> Sequence[str]:
        values = {**(weights or {}), "scope": scope, "text": question, "limit": limit}
        return [str(row["id"]) for row in await _rows(database, query, values)]

    return find


def baselines(database: Database) -> Mapping[str, Method]:
    return {
        "full text, words AND-ed": baseline(database, "text_and"),
        "full text, words OR-ed, ts_rank": baseline(database, "text_or"),
        "BM25": baseline(database, "bm25"),
        "trigram word_similarity": baseline(database, "trigram"),
        **{name: baseline(database, "weighted", weights) for name, weights in WEIGHTED.items()},
    }


Scores = Mapping[str, float]
Fusion = Callable[[Scores, Scores], Scores]


def baselines_with_vectors(database: Database, embed: Embed, model: str) -> Mapping[str, Method]:
    """Vectors alone, and the usual ways to put them together with BM25."""
    return {
        "vectors": fused(database, embed, model, lambda _, meaning: meaning),
        "BM25 and vectors, ranks (RRF, k = 60)": fused(database, embed, model, by_ranks),
        "BM25 and vectors, half of each": fused(database, embed, model, by_halves),
    }


def fused(database: Database, embed: Embed, model: str, fusion: Fusion) -> Method:
    async def find(scope: str, question: str, limit: int) -> Sequence[str]:
        values = {
            "scope": scope,
            "text": question,
            "limit": FUSED,
            "model": model,
            "vector": _written(await embed(question)),
        }
        words, meaning = [
            {str(row["id"]): float(row["score"]) for row in await _rows(database, query, values)}
            for query in ("bm25", "vectors")
        ]
        scores = fusion(words, meaning)
        return sorted(scores, key=lambda row: -scores[row])[:limit]

    return find


def _written(vector: Sequence[float] | None) -> str | None:
    return None if vector is None else str(list(vector))


def by_ranks(words: Scores, meaning: Scores) -> Scores:
    places = [{row: place for place, row in enumerate(scores, 1)} for scores in (words, meaning)]
    return {row: sum(1 / (60 + place[row]) for place in places if row in place) for row in (*words, *meaning)}


def by_halves(words: Scores, meaning: Scores) -> Scores:
    """The sum of both, each from 0 for its least to 1 for its best."""
    scaled = [_scaled(scores) for scores in (words, meaning)]
    return {row: sum(scores.get(row, 0) for scores in scaled) for row in (*words, *meaning)}


def _scaled(scores: Scores) -> Scores:
    least, most = min(scores.values(), default=0), max(scores.values(), default=1)
    return {row: (score - least) / (most - least or 1) for row, score in scores.items()}


async def _rows(database: Database, query: str, values: Mapping[str, object]) -> Sequence[Mapping[str, Any]]:
    async with database.connection() as connection, connection.transaction():
        await connection.execute(QUERIES["plan_once"])
        return await (await connection.execute(BASELINES[query], values)).fetchall()
