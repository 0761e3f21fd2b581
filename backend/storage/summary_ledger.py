"""Which threads are summarized, who does it now, and which turns are fenced: the table `summarized_threads`."""

from collections.abc import Sequence
from typing import Any, Final

from backend.ids import ThreadId
from backend.storage.database import Database
from backend.storage.queries import load_queries

QUERIES: Final = load_queries("summary_ledger")


class SummaryLedger:
    """Every method raises StorageUnavailable when the database does not answer; `scope` is a scope's label."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, scope: str, thread_id: ThreadId, *, seconds: float) -> str | None:
        """The right to summarize this thread for so long, or None while another process has it."""
        row = await self._row("claim", scope=scope, thread_id=thread_id, seconds=seconds)
        return str(row["claim"]) if row else None

    async def renew(self, scope: str, thread_id: ThreadId, claim: str, *, seconds: float) -> None:
        """Let a claim that was not lost end so many seconds from now."""
        await self._run("renew", scope=scope, thread_id=thread_id, claim=claim, seconds=seconds)

    async def holds(self, scope: str, thread_id: ThreadId, claim: str) -> bool:
        """Whether the claim was not lost: it ends by its time only when another takes the thread over."""
        row = await self._row("holds", scope=scope, thread_id=thread_id, claim=claim)
        return bool(row and row["holds"])

    async def release(self, scope: str, thread_id: ThreadId, claim: str) -> None:
        await self._run("release", scope=scope, thread_id=thread_id, claim=claim)

    async def void(self, scope: str, thread_id: ThreadId) -> None:
        """Take the claim away from whoever has it: what it has under way must not be written."""
        await self._run("void", scope=scope, thread_id=thread_id)

    async def fence(self, scope: str, thread_id: ThreadId, message_ids: Sequence[str]) -> None:
        """Keep the turns of these human messages uncompressed from now on; takes the claim away too."""
        await self._run("fence", scope=scope, thread_id=thread_id, fenced=list(message_ids))

    async def fenced(self, scope: str, thread_id: ThreadId) -> Sequence[str]:
        """The ids of the human messages whose turns are fenced, as they were given."""
        row = await self._row("fenced", scope=scope, thread_id=thread_id)
        return row["fenced"] if row else ()

    async def forget(self, scope: str, thread_id: ThreadId) -> None:
        """Drop the thread with its claim and its fence."""
        await self._run("forget", scope=scope, thread_id=thread_id)

    async def threads_of(self, scope: str) -> Sequence[ThreadId]:
        return [ThreadId(row["thread_id"]) for row in await self._rows("threads_of", scope=scope)]

    async def scopes_of(self, thread_id: ThreadId) -> Sequence[str]:
        """The scopes in which a thread is known; one, unless a server without authentication names several users."""
        return [row["scope"] for row in await self._rows("scopes_of", thread_id=thread_id)]

    async def _run(self, query: str, **parameters: object) -> None:
        async with self._database.connection() as connection:
            await connection.execute(QUERIES[query], parameters)

    async def _row(self, query: str, **parameters: object) -> dict[str, Any] | None:
        rows = await self._rows(query, **parameters)
        return rows[0] if rows else None

    async def _rows(self, query: str, **parameters: object) -> list[dict[str, Any]]:
        async with self._database.connection() as connection:
            return await (await connection.execute(QUERIES[query], parameters)).fetchall()
