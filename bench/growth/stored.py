"""How many bytes a database holds, by what they are for."""

from collections.abc import Mapping
from typing import Final

import psycopg

TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "checkpoints": ("checkpoints",),
    "checkpoint blobs": ("checkpoint_blobs",),
    "checkpoint writes": ("checkpoint_writes",),
    "store": ("store",),
    "memories": ("memories", "memory_embeddings"),
}


def stored_bytes(url: str, thread_id: str) -> dict[str, int]:
    """Of a thread's checkpoints, and of all memory: of rows as stored, without indexes and free space."""
    with psycopg.connect(url) as connection:
        return {name: sum(_bytes(connection, table, thread_id) for table in tables) for name, tables in TABLES.items()}


def _bytes(connection: psycopg.Connection, table: str, thread_id: str) -> int:
    condition = "WHERE thread_id = %s" if table.startswith("checkpoint") else ""
    statement = f"SELECT coalesce(sum(pg_column_size(t.*)), 0) FROM {table} AS t {condition}"
    row = connection.execute(statement.encode(), [thread_id] if condition else []).fetchone()
    assert row is not None
    return int(row[0])
