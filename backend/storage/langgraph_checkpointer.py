"""LangGraph's checkpointer on our connections: where threads keep their state."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import structlog
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointTuple, get_checkpoint_id
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool

from backend.errors import AfterthoughtError
from backend.storage.checkpoint_order import number_from
from backend.storage.cursors import open_cursor
from backend.storage.database import Database, process_database
from backend.storage.messages_channel import CHANNEL, replay
from backend.storage.queries import load_queries

log = structlog.stdlib.get_logger(__name__)

QUERIES: Final = load_queries("checkpoints")


class PostgresSaver(AsyncPostgresSaver):
    """Upstream's saver, without the one lock that upstream takes around every operation of all threads: each
    operation has a connection of its own, so there is nothing to guard. The pool's size bounds how many run at once.
    """

    def __init__(self, database: Database, pool: AsyncConnectionPool[AsyncConnection[DictRow]]) -> None:
        super().__init__(pool)
        self._database = database
        self._deletions: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncGenerator[AsyncCursor[DictRow]]:
        async with open_cursor(self._database, pipeline=pipeline) as cursor:
            yield cursor

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = await super().aget_tuple(config)
        if found:
            number_from(found.checkpoint["id"])
        if found and get_checkpoint_id(config):
            # a fork goes on from an earlier checkpoint, and must come behind the latest
            await self._number_from_latest(found.config)
        return found and await self._with_messages(found)

    async def _number_from_latest(self, config: RunnableConfig) -> None:
        place = config.get("configurable", {})
        async with self._cursor() as cursor:
            await cursor.execute(QUERIES["latest_id"], {key: place[key] for key in ("thread_id", "checkpoint_ns")})
            for row in await cursor.fetchall():
                number_from(row["checkpoint_id"])

    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncGenerator[CheckpointTuple]:
        # Read first and given then: upstream's generator keeps its connection while it is looked through.
        for found in [found async for found in super().alist(config, **options)]:
            yield await self._with_messages(found)

    async def _with_messages(self, found: CheckpointTuple) -> CheckpointTuple:
        """The checkpoint with its messages in it, where it holds but their latest changes.

        LangGraph would ask for those itself, but `langgraph dev` puts an adapter before the saver, which hides
        `aget_delta_channel_history` behind the base class's: that one reads the ancestors with a call for each.
        """
        checkpoint = found.checkpoint
        values = checkpoint["channel_values"]
        if CHANNEL in values or CHANNEL not in checkpoint["channel_versions"]:
            return found
        histories = await self.aget_delta_channel_history(config=found.config, channels=[CHANNEL])
        whole: Checkpoint = {**checkpoint, "channel_values": {**values, CHANNEL: replay(histories[CHANNEL])}}
        return found._replace(checkpoint=whole)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread whole: every checkpoint, because a value is replayed from its ancestors' writes.

        The copies belong to no run, so that rolling back a run leaves them alone.
        """
        threads = {"source": source_thread_id, "target": target_thread_id}
        async with self._database.connection() as connection, connection.transaction():
            for name in ("copy_checkpoints", "copy_blobs", "copy_writes"):
                await connection.execute(QUERIES[name], threads)

    async def adelete_thread(self, thread_id: str) -> None:
        """Have a thread's checkpoints deleted; `settle` waits until they are.

        It never gives way to other work. The dev server finds a thread's place in a list, awaits this, and then removes
        what stands at that place: while it waited for a database, other deletions would move another thread there, be
        it another user's. See docs/decisions/0008-deleting-without-waiting.md.
        """
        task = asyncio.get_running_loop().create_task(self._delete_logged(thread_id))
        self._deletions.add(task)
        task.add_done_callback(self._deletions.discard)

    async def settle(self) -> None:
        """Wait for the deletions that are under way."""
        if self._deletions:
            await asyncio.wait(self._deletions)

    async def _delete_logged(self, thread_id: str) -> None:
        try:
            await delete_checkpoints(self._database, thread_id)
        except AfterthoughtError as error:
            log.warning("delete_checkpoints_failed", thread_id=thread_id, code=error.code)

    async def adelete_for_runs(self, run_ids: Iterable[str]) -> None:
        """Roll runs back: their threads are as they were before, as if the runs had never started.

        A checkpoint from which another run has gone on stays, for without it that run's thread could not be read.
        """
        async with self._database.connection() as connection, connection.transaction():
            rows = await connection.execute(QUERIES["delete_of_runs"], {"runs": [str(run_id) for run_id in run_ids]})
            deleted: defaultdict[tuple[str, str], list[DictRow]] = defaultdict(list)
            async for row in rows:
                deleted[row["thread_id"], row["checkpoint_ns"]].append(row)
            for (thread_id, checkpoint_ns), checkpoints in deleted.items():
                place = {"thread_id": thread_id, "checkpoint_ns": checkpoint_ns}
                for name, parameters in _clearing(checkpoints):
                    await connection.execute(QUERIES[name], {**place, **parameters})


async def delete_checkpoints(database: Database, thread_id: str) -> None:
    """Delete all that a thread's checkpoints hold; of one that is not there, nothing.

    Raises:
        StorageUnavailable: the database does not answer; some of it may be left.
    """
    async with database.connection() as connection, connection.transaction():
        for name in ("delete_checkpoints", "delete_blobs", "delete_writes"):
            await connection.execute(QUERIES[name], {"thread_id": thread_id})


def _clearing(checkpoints: Iterable[Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """The statements, with parameters, that remove what only the deleted checkpoints of one namespace needed."""
    gone = [row["checkpoint_id"] for row in checkpoints]
    parents = {row["parent_checkpoint_id"] for row in checkpoints} - {None, *gone}
    versions = sorted(_blobs(checkpoints))
    return [
        ("delete_writes_of", {"ids": gone}),
        ("delete_writes_onto", {"ids": sorted(parents)}),
        (
            "delete_unused_blobs",
            {"channels": [channel for channel, _ in versions], "versions": [version for _, version in versions]},
        ),
    ]


def _blobs(checkpoints: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    pairs: set[tuple[str, str]] = set()
    for row in checkpoints:
        versions: Mapping[str, str] = row["versions"] or {}
        pairs.update(versions.items())
    return pairs


@asynccontextmanager
async def open_checkpointer(database: Database | None = None) -> AsyncGenerator[PostgresSaver]:
    """The checkpointer for the running event loop; `langgraph.json` names this function, the server calls it bare.

    Raises:
        SettingsError: the database cannot be used.
        StorageUnavailable: it does not answer; later operations raise it too, within a few seconds.
    """
    database = database or await asyncio.to_thread(process_database)
    async with database.running():
        saver = PostgresSaver(database, await database.pool())
        try:
            yield saver
        finally:
            await saver.settle()
