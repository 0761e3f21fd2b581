"""Vectors for what is remembered: made in the background, a few at a time, for rows that have none that can be used."""

from collections.abc import Sequence
from typing import Final, Protocol

import structlog

from backend.ids import UserId
from backend.llm.embeddings import Embedder
from backend.memory.scope import scope_label
from backend.storage.embedding_rows import RowToEmbed, RowVector

log = structlog.stdlib.get_logger(__name__)

BATCH: Final = 32


class VectorRows(Protocol):
    """What vectors need of storage."""

    async def available(self) -> bool: ...
    async def missing(self, scope: str, model: str, *, dimension: int | None, limit: int) -> Sequence[RowToEmbed]: ...
    async def put(self, scope: str, model: str, vectors: Sequence[RowVector]) -> int: ...


class Vectors:
    """Keeps the vectors of the configured model up to date; with no embedder there is nothing to do."""

    def __init__(self, *, rows: VectorRows, embedder: Embedder | None) -> None:
        self._rows = rows
        self._embedder = embedder
        self._dimension: int | None = None

    async def announce(self) -> None:
        """Log, at the start, whether memories are found by their meaning. Raises StorageUnavailable."""
        if self._embedder is None:
            return
        if await self._rows.available():
            log.info("embeddings_on", model=self._embedder.model)
        else:
            log.warning(
                "embeddings_unavailable",
                model=self._embedder.model,
                reason="the database has no pgvector; memories are found by their words alone",
                fix="install pgvector on the database's machine and start again, or set MEMORY_EMBEDDINGS=off",
            )

    async def fill(self, user_id: UserId, *, limit: int = 256) -> int:
        """Give the newest rows without a usable vector one, at most `limit` of them; how many were stored.

        What one call leaves, the next ones do: after a change of the model that is everything. May run twice, late or
        beside itself; a row that is changed or deleted meanwhile is left alone. Takes as long as the model takes.

        Raises:
            ModelUnavailable, BadModelOutput: as `Embedder.embed`; what was stored before stays.
            StorageUnavailable: the database does not answer.
        """
        if self._embedder is None:
            return 0
        scope, asked, stored = scope_label(user_id), 0, 0
        while asked < limit:
            rows = await self._missing(scope, self._embedder.model, limit=min(BATCH, limit - asked))
            if not rows:
                break
            asked += len(rows)
            stored += await self._embed(scope, rows, self._embedder)
        return stored

    async def _missing(self, scope: str, model: str, *, limit: int) -> Sequence[RowToEmbed]:
        return await self._rows.missing(scope, model, dimension=self._dimension, limit=limit)

    async def _embed(self, scope: str, rows: Sequence[RowToEmbed], embedder: Embedder) -> int:
        vectors = await embedder.embed([row.content for row in rows])
        self._dimension = len(vectors[0])  # what a server gives under one name may change
        named = [RowVector(id=row.id, version=row.version, vector=one) for row, one in zip(rows, vectors, strict=True)]
        return await self._rows.put(scope, embedder.model, named)
