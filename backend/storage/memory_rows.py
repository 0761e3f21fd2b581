"""Facts and episodes: the table `memories`, whose every statement names the scope."""

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args

from backend.errors import StaleVersion
from backend.ids import MemoryId, ThreadId
from backend.storage.database import Database
from backend.storage.locks import lock_key
from backend.storage.notifications import notify_episode
from backend.storage.pool import SESSION, Connection
from backend.storage.queries import load_queries

QUERIES: Final = load_queries("memories")

Kind = Literal["fact", "episode"]
KINDS: Final[Sequence[Kind]] = get_args(Kind)

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """What a row is made from."""

    kind: Kind
    content: str
    content_hash: bytes
    """Of what makes two rows the same, see the unique indexes."""
    key: str | None = None
    categories: Sequence[str] = ()
    importance: float = 0.5
    said_by: str = "user"
    thread_id: str | None = None
    turn: int | None = None
    """The human turn of the thread, 0-based."""
    message_ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """What a fact, as it was read in this version, is to become."""

    id: MemoryId
    version: int
    to: NewMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """A row as stored; times are aware and in UTC."""

    id: MemoryId
    scope: str
    kind: Kind
    key: str | None
    categories: Sequence[str]
    content: str
    importance: float
    said_by: str
    thread_id: str | None
    turn: int | None
    message_ids: Sequence[str]
    version: int
    status: str
    created_at: datetime
    updated_at: datetime
    accessed_at: datetime | None
    access_count: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where an episode stands, or stood, among those of its scope, which go from the newest to the oldest."""

    created_at: datetime
    id: MemoryId


class MemoryRows:
    """Every method raises StorageUnavailable when the database does not answer; `scope` is a scope's label."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def facts(self, scope: str) -> Sequence[MemoryRow]:
        """All facts of a scope, the one that changed last first; services bound how many there can be."""
        return await self._rows("facts", scope=scope)

    async def episodes(self, scope: str, *, limit: int, after: Place | None = None) -> Sequence[MemoryRow]:
        """The newest first, from behind `after` on, whether or not there is still one in that place."""
        return await self._rows(
            "episodes",
            scope=scope,
            limit=limit,
            after_id=after.id if after else None,
            after_created_at=after.created_at if after else None,
        )

    async def save(
        self, scope: str, *, added: Sequence[NewMemory] = (), changed: Sequence[Change] = (), at: datetime
    ) -> Sequence[MemoryRow]:
        """Store all or, after an error, none; the rows as they are then, the changed ones first.

        Raises:
            Duplicate: a unique index knows one of them already.
            StaleVersion: one that is to be changed is not there in the version that was read.
        """
        queries = [("change", {**_values(change.to), "id": change.id, "version": change.version}) for change in changed]
        queries += [("add", _values(memory)) for memory in added]
        saved: list[MemoryRow] = []
        async with self._database.connection() as connection, connection.transaction():
            for query, values in queries:
                cursor = await connection.execute(QUERIES[query], {**values, "scope": scope, "at": at})
                row = await cursor.fetchone()
                if row is None:
                    raise StaleVersion
                saved.append(_row(row))
        return saved

    async def record(self, scope: str, memory: NewMemory, *, at: datetime) -> bool:
        """Store a turn that was finished then and tell of it; False when it is there, was deleted or erased since."""
        async with self._holding("share_lock", scope) as connection:
            values = {**_values(memory), "scope": scope, "at": at}
            recorded = (await connection.execute(QUERIES["record"], values)).rowcount > 0
            if recorded:
                await notify_episode(connection, scope)
        return recorded

    async def remove(self, scope: str, kind: Kind, memory_id: MemoryId, *, version: int | None = None) -> bool:
        """Delete one row, of this version if one is named; whether it was there. An episode goes with `forget`."""
        if not _is_id(memory_id):
            return False
        return await self._run("remove", scope=scope, kind=kind, id=memory_id, version=version) > 0

    async def forget(self, scope: str, memory_id: MemoryId, *, at: datetime) -> bool:
        """Delete one episode, which is not recorded again; whether it was there."""
        return _is_id(memory_id) and await self._alone("forget", scope=scope, id=memory_id, at=at) > 0

    async def erase(self, scope: str, kind: Kind, *, at: datetime) -> int:
        """Delete all rows of a kind; how many. After episodes, turns that were finished before are not recorded."""
        return await self._alone("erase", scope=scope, kind=kind, at=at)

    async def erase_thread(self, scope: str, kind: Kind, thread_id: ThreadId, *, at: datetime) -> int:
        """The same for what came from one thread."""
        return await self._alone("erase_thread", scope=scope, kind=kind, thread_id=thread_id, at=at)

    async def touch(self, scope: str, memory_ids: Sequence[MemoryId], *, at: datetime) -> None:
        """Note that these were used in an answer; once for each time, and for none before the last one."""
        await self._run("touch", scope=scope, ids=possible_ids(memory_ids), at=at)

    async def known(self, scope: str, memory_ids: Sequence[MemoryId]) -> frozenset[MemoryId]:
        """Those of the ids that are there."""
        async with self._database.connection() as connection:
            cursor = await connection.execute(QUERIES["known"], {"scope": scope, "ids": possible_ids(memory_ids)})
            return frozenset(MemoryId(str(row["id"])) for row in await cursor.fetchall())

    async def count(self, scope: str, kind: Kind) -> int:
        async with self._database.connection() as connection:
            row = await (await connection.execute(QUERIES["count"], {"scope": scope, "kind": kind})).fetchone()
            return row["count"] if row else 0

    @asynccontextmanager
    async def _holding(self, lock: Literal["lock", "share_lock"], scope: str) -> AsyncGenerator[Connection]:
        """For what records, forgets or erases: many record side by side, but the others have none beside.

        Without it a turn could be recorded by a statement that began before its erasure and ended after it. The lock
        is not the scope's: who holds that one waits for a connection, and those that wait for it would have them all.
        """
        async with self._database.connection() as connection, connection.transaction():
            await connection.execute(SESSION[lock], {"key": lock_key("recording", scope)})
            yield connection

    async def _alone(self, query: str, *, scope: str, **parameters: object) -> int:
        """Run a statement that forgets or erases; how many rows."""
        async with self._holding("lock", scope) as connection:
            return (await connection.execute(QUERIES[query], {"scope": scope, **parameters})).rowcount

    async def _run(self, query: str, **parameters: object) -> int:
        async with self._database.connection() as connection:
            return (await connection.execute(QUERIES[query], parameters)).rowcount

    async def _rows(self, query: str, **parameters: object) -> list[MemoryRow]:
        async with self._database.connection() as connection:
            return [_row(row) for row in await (await connection.execute(QUERIES[query], parameters)).fetchall()]


def _is_id(text: str) -> bool:
    """Whether it can be an id at all; the database refuses the whole statement where it cannot."""
    return _ID.fullmatch(text) is not None


def possible_ids(texts: Iterable[str]) -> list[str]:
    """Those that can be ids of rows."""
    return list(filter(_is_id, texts))


def _values(memory: NewMemory) -> dict[str, Any]:
    return {
        "kind": memory.kind,
        "key": memory.key,
        "categories": list(memory.categories),
        "content": memory.content,
        "content_hash": memory.content_hash,
        "importance": memory.importance,
        "said_by": memory.said_by,
        "thread_id": memory.thread_id,
        "turn": memory.turn,
        "message_ids": list(memory.message_ids),
    }


def _row(values: dict[str, Any]) -> MemoryRow:
    lists = {name: tuple(values[name]) for name in ("categories", "message_ids")}
    named: dict[str, Any] = {**values, **lists, "id": MemoryId(str(values["id"]))}
    return MemoryRow(**named)
