"""Rows of the tables `memories` and `memory_embeddings`, written and read past the product."""

from datetime import UTC, datetime, timedelta

from backend.ids import MemoryId
from backend.storage.database import Database

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def remember(database: Database, content: str, scope: str, *, minutes: int = 0) -> MemoryId:
    """A new fact, so many minutes after noon."""
    async with database.connection() as connection:
        at = NOON + timedelta(minutes=minutes)
        cursor = await connection.execute(
            "INSERT INTO memories (scope, kind, content, content_hash, created_at, updated_at)"
            " VALUES (%s, 'fact', %s, sha256(%s::text::bytea), %s, %s) RETURNING id",
            (scope, content, content, at, at),
        )
        [row] = await cursor.fetchall()
        return MemoryId(str(row["id"]))


async def correct(database: Database, memory_id: MemoryId, content: str) -> None:
    """The row says something else, in its next version, an hour after its last change."""
    async with database.connection() as connection:
        await connection.execute(
            "UPDATE memories SET content = %s, version = version + 1, updated_at = updated_at + interval '1 hour'"
            " WHERE id = %s",
            (content, memory_id),
        )


async def forget(database: Database, memory_id: MemoryId) -> None:
    async with database.connection() as connection:
        await connection.execute("DELETE FROM memories WHERE id = %s", (memory_id,))


async def stored_vectors(database: Database) -> list[tuple[str, str, int, str]]:
    """Content, model, version and vector of each, in this order."""
    async with database.connection() as connection:
        found = await connection.execute(
            "SELECT content, model, e.version, embedding::text AS vector FROM memory_embeddings AS e"
            " JOIN memories ON id = memory_id ORDER BY content, model"
        )
        return [(row["content"], row["model"], row["version"], row["vector"]) for row in await found.fetchall()]
