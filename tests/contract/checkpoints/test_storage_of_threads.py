"""What threads cost: bytes, and waiting for one another."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from langchain_core.messages import HumanMessage
from psycopg import AsyncCursor
from psycopg.rows import DictRow

from backend.storage.database import Database
from backend.storage.langgraph_checkpointer import PostgresSaver
from tests.support.echo_graph import in_thread, make_echo_graph
from tests.support.server_adapter import ServerAdapter

pytestmark = pytest.mark.anyio

BYTES = b"""
SELECT
  (SELECT sum(pg_column_size(c.*)) FROM checkpoints AS c)
  + (SELECT sum(pg_column_size(b.*)) FROM checkpoint_blobs AS b)
  + (SELECT sum(pg_column_size(w.*)) FROM checkpoint_writes AS w) AS bytes
"""


async def test_twice_the_turns_take_about_twice_the_room(database: Database, saver: PostgresSaver):
    graph = make_echo_graph(saver, text=" and a few words more, as an assistant has them" * 4)
    sizes: list[int] = []
    for half in range(2):
        for turn in range(100):
            question = HumanMessage(f"question {turn} of half {half}")
            await graph.ainvoke({"messages": [question]}, in_thread("a thread"))
        async with database.connection() as connection:
            row = await (await connection.execute(BYTES)).fetchone()
            assert row is not None
            sizes.append(row["bytes"])
    assert sizes[1] / sizes[0] < 2.2


async def test_the_servers_adapter_reads_a_thread_with_one_call(saver: PostgresSaver):
    adapter = ServerAdapter(saver)
    graph = make_echo_graph(adapter)
    for turn in range(8):
        await graph.ainvoke({"messages": [HumanMessage(f"turn {turn}")]}, in_thread("a thread"))
    adapter.tuples_read = 0
    await graph.aget_state(in_thread("a thread"))
    assert adapter.tuples_read == 1


class MeetingSaver(PostgresSaver):
    """Waits, inside of an operation, until another one is inside of its own."""

    meeting: asyncio.Barrier

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncGenerator[AsyncCursor[DictRow]]:
        async with super()._cursor(pipeline=pipeline) as cursor:
            await self.meeting.wait()
            yield cursor


async def test_operations_of_two_threads_run_at_the_same_time(database: Database):
    saver = MeetingSaver(database, await database.pool())
    saver.meeting = asyncio.Barrier(2)
    async with asyncio.timeout(5):
        found = await asyncio.gather(saver.aget_tuple(in_thread("one")), saver.aget_tuple(in_thread("two")))
    assert found == [None, None]
