"""The vectors of facts and episodes: the table `memory_embeddings`, which is there only where pgvector is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from backend.ids import MemoryId
from backend.storage.database import Database
from backend.storage.queries import load_queries

QUERIES: Final = load_queries("embeddings")
STEP: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RowToEmbed:
    """A fact or an episode without a usable vector."""

    id: MemoryId
    version: int
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowVector:
    """The vector of a row as it was in this version."""

    id: MemoryId
    version: int
    vector: Sequence[float]


class EmbeddingRows:
    """Every method raises StorageUnavailable when the database does not answer; `scope` is a scope's label.

    Without the table nothing is missing, and nothing is stored.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found = False

    async def available(self) -> bool:
        """Whether there is a table for vectors; asked until it is found."""
        if not self._found:
            async with self._database.connection() as connection:
                row = await (await connection.execute(QUERIES["table"])).fetchone()
                self._found = bool(row and row["found"])
        return self._found

    async def missing(self, scope: str, model: str, *, dimension: int | None, limit: int) -> Sequence[RowToEmbed]:
        """Rows that have no vector of this model for what they say now, what changed last first.

        A usable vector has `dimension` numbers; None where that is not known yet.
        """
        if not await self.available():
            return ()
        parameters = {"scope": scope, "model": model, "dimension": dimension, "limit": limit}
        async with self._database.connection() as connection:
            rows = await (await connection.execute(QUERIES["missing"], parameters)).fetchall()
        return [RowToEmbed(id=MemoryId(str(row["id"])), version=row["version"], content=row["content"]) for row in rows]

    async def put(self, scope: str, model: str, vectors: Sequence[RowVector]) -> int:
        """Store the vectors of rows that are still there in this version; how many.

        Raises:
            AfterthoughtError: the database cannot hold a vector: too many numbers, or too large ones.
        """
        if not vectors or not await self.available():
            return 0
        return await self._run(
            "put",
            scope=scope,
            model=model,
            ids=[vector.id for vector in vectors],
            versions=[vector.version for vector in vectors],
            vectors=[_text(vector.vector) for vector in vectors],
        )

    async def drop_others(self, model: str, *, step: int = STEP) -> int:
        """Delete the vectors of all other models, of all scopes, `step` in a statement; how many."""
        if not await self.available():
            return 0
        dropped = 0
        while now := await self._run("drop_others", model=model, limit=step):
            dropped += now
        return dropped

    async def _run(self, query: str, **parameters: object) -> int:
        async with self._database.connection() as connection:
            return (await connection.execute(QUERIES[query], parameters)).rowcount


def _text(vector: Sequence[float]) -> str:
    """As pgvector reads it."""
    return f"[{','.join(map(repr, vector))}]"
