"""Locks that hold across processes, for reading, changing and writing back."""

import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from backend.storage.database import Database
from backend.storage.pool import SESSION, Connection

WAIT_SECONDS: Final = 3


@asynccontextmanager
async def scope_lock(database: Database, scope: str, *, thread_id: str | None = None) -> AsyncGenerator[Connection]:
    """One at a time, in all processes, for a scope, or for one thread of it; the two are different locks.

    The block is a transaction on the connection that it is given, and the lock ends with it. Never call a model in
    it, nor wait for anything but the database: others wait for the lock, each with a connection in its hand.

    Raises:
        StorageUnavailable: another holds it for longer than three seconds, or the database does not answer.
    """
    parts = ("scope", scope) if thread_id is None else ("thread", scope, thread_id)
    async with database.connection() as connection, connection.transaction():
        await connection.execute(SESSION["wait_at_most"], {"lock_timeout": f"{WAIT_SECONDS}s"})
        await connection.execute(SESSION["lock"], {"key": lock_key(*parts)})
        yield connection


def lock_key(*parts: str) -> int:
    """A number for PostgreSQL's advisory locks, 64 bits with sign; different parts have different ones.

    (Two of a million scopes share one with a chance of one in 37 million, and then wait for each other needlessly.)
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        text = part.encode("utf-8", "surrogatepass")
        digest.update(len(text).to_bytes(8, "big") + text)
    return int.from_bytes(digest.digest(), "big", signed=True)
