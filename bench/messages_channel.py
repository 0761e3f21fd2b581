"""What a long thread costs by how its messages are stored: bytes in PostgreSQL, and milliseconds to load its state.

    python -m bench.messages_channel [--turns 200] [--every 10 20 50 100]

`loop` is the time when the graph talks to our saver; `server` is the time through `langgraph dev`, whose adapter hides
our reading of the replay and reads ancestor by ancestor. The median is over loads after every turn of the last twenty,
because it depends on how far behind the last full copy lies; the worst is the most that one of them took.
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
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import add_messages

from backend.settings import Settings
from backend.storage.database import Database
from backend.storage.langgraph_checkpointer import PostgresSaver
from backend.storage.messages_channel import merge_messages
from tests.support.echo_graph import EchoGraph, in_thread, make_echo_graph

SIZE = """
SELECT
  (SELECT coalesce(sum(pg_column_size(c.*)), 0) FROM checkpoints AS c WHERE thread_id = %(thread)s) AS checkpoints,
  (SELECT coalesce(sum(pg_column_size(b.*)), 0) FROM checkpoint_blobs AS b WHERE thread_id = %(thread)s) AS blobs,
  (SELECT coalesce(sum(pg_column_size(w.*)), 0) FROM checkpoint_writes AS w WHERE thread_id = %(thread)s) AS writes
"""
LAST = 20
ANSWER = " and here is what a patient assistant would say about it at some length." * 8


class AncestorByAncestor(BaseCheckpointSaver[Any]):
    """Reads as the adapter of `langgraph dev` does: each ancestor by a call of its own."""

    def __init__(self, inner: PostgresSaver) -> None:
        super().__init__(serde=inner.serde)
        self.inner = inner

    async def aget_tuple(self, config: Any) -> Any:
        return await self.inner.aget_tuple(config)

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return await self.inner.aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        await self.inner.aput_writes(config, writes, task_id, task_path)

    def get_next_version(self, current: Any, channel: None) -> Any:
        return self.inner.get_next_version(current, channel)


def state_with(every: int | None) -> type[Any]:
    """The state with a full copy of the messages after so many updates; None: LangGraph's default, a copy each time."""
    channel = cast("Any", add_messages if every is None else DeltaChannel(merge_messages, snapshot_frequency=every))
    return TypedDict("State", {"messages": Annotated[list[AnyMessage], channel], "subagent": str}, total=False)


async def milliseconds_to_load(graph: EchoGraph, thread: str) -> float:
    began = time.perf_counter()
    await graph.aget_state(in_thread(thread))
    return (time.perf_counter() - began) * 1000


async def measure(database: Database, every: int | None, turns: int) -> None:
    saver = PostgresSaver(database, await database.pool())
    state, thread = state_with(every), f"every-{every}"
    graph = make_echo_graph(saver, state=state, text=ANSWER)
    as_server = make_echo_graph(AncestorByAncestor(saver), state=state, text=ANSWER)
    loop: list[float] = []
    server: list[float] = []
    began = time.perf_counter()
    for turn in range(turns):
        await graph.ainvoke({"messages": [HumanMessage(f"question {turn}")]}, in_thread(thread))
        if turn >= turns - LAST:
            loop.append(await milliseconds_to_load(graph, thread))
            server.append(await milliseconds_to_load(as_server, thread))
    seconds = time.perf_counter() - began
    async with database.connection() as connection:
        row = await (await connection.execute(SIZE, {"thread": thread})).fetchone()
    assert row is not None
    print(
        f"{every or 'each time':>9} {turns:5d} {sum(row.values()) / 1e6:8.2f} {row['blobs'] / 1e6:8.2f}"
        f" {row['writes'] / 1e6:8.2f} {row['checkpoints'] / 1e6:8.2f}"
        f" {statistics.median(loop):8.1f} {max(loop):6.1f} {statistics.median(server):8.1f} {max(server):6.1f}"
        f" {seconds / turns * 1000:8.1f}"
    )


async def main(turns: int, frequencies: list[int | None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, Any] = {"data_dir": Path(folder)}
        database = Database(Settings(**settings))
        async with database.running():
            print("full copy turns    total    blobs   writes  checkpt     loop  worst   server  worst  ms/turn")
            for every in frequencies:
                await measure(database, every, turns)
        database.release()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--every", type=int, nargs="*", default=[10, 20, 50, 100])
    options = parser.parse_args()
    asyncio.run(main(options.turns, [*options.every, None]))
