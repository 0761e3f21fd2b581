"""What a long thread costs by how its messages are stored: bytes in PostgreSQL, and milliseconds to load its state.

    python -m bench.messages_channel [--turns 200] [--every 10 20 50 100]

`ours` is our saver behind what `langgraph dev` puts before it, `upstream` is LangGraph's own saver there, which is then
read ancestor by ancestor. The times are those after each of the last twenty turns, because they depend on how far back
the last full copy lies: their median, and the longest.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict, cast

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import add_messages

from backend.settings import Settings
from backend.storage.database import Database
from backend.storage.langgraph_checkpointer import PostgresSaver
from backend.storage.messages_channel import merge_messages
from tests.support.echo_graph import EchoGraph, in_thread, make_echo_graph
from tests.support.server_adapter import ServerAdapter

SIZE = """
SELECT
  (SELECT coalesce(sum(pg_column_size(c.*)), 0) FROM checkpoints AS c WHERE thread_id = %(thread)s) AS checkpoints,
  (SELECT coalesce(sum(pg_column_size(b.*)), 0) FROM checkpoint_blobs AS b WHERE thread_id = %(thread)s) AS blobs,
  (SELECT coalesce(sum(pg_column_size(w.*)), 0) FROM checkpoint_writes AS w WHERE thread_id = %(thread)s) AS writes
"""
LAST = 20
ANSWER = " and here is what a patient assistant would say about it at some length." * 8


def state_with(every: int | None) -> type[Any]:
    """The state with a full copy of the messages after so many updates; None: LangGraph's default, a copy each time."""
    channel = cast("Any", add_messages if every is None else DeltaChannel(merge_messages, snapshot_frequency=every))
    return TypedDict("State", {"messages": Annotated[list[AnyMessage], channel], "subagent": str}, total=False)


async def milliseconds_to_load(graph: EchoGraph, thread: str) -> float:
    began = time.perf_counter()
    await graph.aget_state(in_thread(thread))
    return (time.perf_counter() - began) * 1000


async def measure(database: Database, every: int | None, turns: int) -> None:
    pool = await database.pool()
    state, thread = state_with(every), f"every-{every}"
    graph = make_echo_graph(ServerAdapter(PostgresSaver(database, pool)), state=state, text=ANSWER)
    upstream_graph = make_echo_graph(ServerAdapter(AsyncPostgresSaver(pool)), state=state, text=ANSWER)
    ours: list[float] = []
    upstream: list[float] = []
    began = time.perf_counter()
    for turn in range(turns):
        await graph.ainvoke({"messages": [HumanMessage(f"question {turn}")]}, in_thread(thread))
        if turn >= turns - LAST:
            ours.append(await milliseconds_to_load(graph, thread))
            upstream.append(await milliseconds_to_load(upstream_graph, thread))
    seconds = time.perf_counter() - began
    async with database.connection() as connection:
        row = await (await connection.execute(SIZE, {"thread": thread})).fetchone()
    assert row is not None
    print(
        f"{every or 'each time':>9} {turns:5d} {sum(row.values()) / 1e6:8.2f} {row['blobs'] / 1e6:8.2f}"
        f" {row['writes'] / 1e6:8.2f} {row['checkpoints'] / 1e6:8.2f}"
        f" {statistics.median(ours):8.1f} {max(ours):6.1f} {statistics.median(upstream):8.1f} {max(upstream):6.1f}"
        f" {seconds / turns * 1000:8.1f}"
    )


async def main(turns: int, frequencies: list[int | None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, Any] = {"data_dir": Path(folder)}
        database = Database(Settings(**settings))
        async with database.running():
            print("full copy turns       MB    blobs   writes  checkpt     ours  worst upstream  worst  ms/turn")
            for every in frequencies:
                await measure(database, every, turns)
        database.release()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--every", type=int, nargs="*", default=[10, 20, 50, 100])
    options = parser.parse_args()
    asyncio.run(main(options.turns, [*options.every, None]))
