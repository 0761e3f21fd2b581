"""What is in a database, looked at from outside."""

from collections.abc import Mapping
from typing import Final

import psycopg
from psycopg import sql

OF_A_THREAD: Final[Mapping[str, str]] = {
    "checkpoints": "thread_id = %(id)s",
    "checkpoint_blobs": "thread_id = %(id)s",
    "checkpoint_writes": "thread_id = %(id)s",
    "summarized_threads": "thread_id = %(id)s",
    "store": "key LIKE %(id)s || ':%%'",
}
"""Where something of a thread may be, and how it is found there."""


def kept_of_thread(url: str, thread_id: str) -> dict[str, int]:
    """How many rows each table has of a thread; tables without any are left out."""
    with psycopg.connect(url) as connection:
        counts = {
            table: connection.execute(
                sql.SQL(f"SELECT count(*) FROM {table} WHERE {condition}"),  # pyright: ignore[reportArgumentType]  # noqa: S608
                {"id": thread_id},
            ).fetchone()
            for table, condition in OF_A_THREAD.items()
        }
    return {table: count[0] for table, count in counts.items() if count and count[0]}


def tables_with(url: str, text: str) -> list[str]:
    """The tables in which a text stands, in any column and in the bytes of any blob."""
    found: list[str] = []
    with psycopg.connect(url) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (name,) in names:
            rows = connection.execute(sql.SQL("SELECT t::text FROM {} AS t").format(sql.Identifier(name))).fetchall()
            if any(text in row or text.encode().hex() in row for (row,) in rows):
                found.append(name)
    return found
