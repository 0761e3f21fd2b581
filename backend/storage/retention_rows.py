"""Deleting what is too old or too much, in all scopes: the one thing that is not asked for by a scope."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from backend.ids import MemoryId
from backend.storage.database import Database
from backend.storage.queries import load_queries

QUERIES: Final = load_queries("retention")

FIRST_ID: Final = MemoryId(str(UUID(int=0)))
LAST_ID: Final = MemoryId(str(UUID(int=2**128 - 1)))
STEP_PLACES: Final = 20_000
"""So many rows are counted in one statement."""


@dataclass(frozen=True, slots=True)
class OldestKept:
    """The episode from which on the newer ones stay; what is older goes."""

    created_at: datetime
    id: MemoryId = FIRST_ID
    """Which one, where several are of the same moment; left out, all of that moment stay."""


AFTER_ALL: Final = OldestKept(datetime.max.replace(tzinfo=UTC), LAST_ID)


@dataclass(frozen=True, slots=True)
class KeptOfScope:
    """A scope, by its label, and the oldest of the episodes that are kept of it; None where there are not so many."""

    scope: str
    oldest: OldestKept | None


class RetentionRows:
    """Every method raises StorageUnavailable when the database does not answer.

    What deletes does so in one short statement, at most `limit` rows, and says how many; fewer than `limit` means that
    there is no more to do. It waits for no row that another has locked, and locks none that stays.
    """

    def __init__(self, database: Database, *, step_places: int = STEP_PLACES) -> None:
        self._database = database
        self._step_places = step_places

    async def claim(self, name: str, *, at: datetime, since: datetime) -> bool:
        """Whether this caller is the first since then, of all processes, to take on what has this name.

        It counts as done from here on, whatever becomes of it: nobody waits for a process that died.
        """
        return await self._run("claim", name=name, at=at, since=since) > 0

    async def scopes(self, *, keep: int, after: str, limit: int) -> Sequence[KeptOfScope]:
        """So many scopes with what is kept when it is `keep` episodes, by their labels, from behind `after` on."""
        rows = await self._rows("scopes", keep=keep, after=after, limit=limit)
        return [KeptOfScope(row["scope"], _oldest(row) if row["id"] else None) for row in rows]

    async def oldest_kept(self, *, keep: int) -> OldestKept | None:
        """Of the `keep` newest episodes of all scopes together; None when there are not so many."""
        oldest = AFTER_ALL
        for counted in range(0, keep, self._step_places):
            places = min(self._step_places, keep - counted)
            rows = await self._rows("older_by", created_at=oldest.created_at, id=oldest.id, places=places)
            if not rows:
                return None
            oldest = _oldest(rows[0])
        return oldest

    async def prune(self, oldest: OldestKept, *, scope: str | None = None, limit: int) -> int:
        """Delete what is older, of all scopes or of one."""
        query = "prune" if scope is None else "prune_scope"
        return await self._run(query, scope=scope, created_at=oldest.created_at, id=oldest.id, limit=limit)

    async def drop_erasures(self, before: datetime, *, limit: int) -> int:
        """Delete erasure notes and tombstones of episodes that are so old that no background run comes from before."""
        return await self._run("drop_erasures", before=before, limit=limit)

    async def _run(self, query: str, **parameters: object) -> int:
        async with self._database.connection() as connection:
            return (await connection.execute(QUERIES[query], parameters)).rowcount

    async def _rows(self, query: str, **parameters: object) -> list[dict[str, Any]]:
        async with self._database.connection() as connection:
            return await (await connection.execute(QUERIES[query], parameters)).fetchall()


def _oldest(row: dict[str, Any]) -> OldestKept:
    return OldestKept(row["created_at"], MemoryId(str(row["id"])))
