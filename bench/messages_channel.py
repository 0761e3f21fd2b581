"""What a long thread costs by how its messages are stored: bytes in PostgreSQL, and milliseconds to load its state.

    python -m bench.messages_channel [--turns 200] [--every 10 20 50 100] [--share 2 4 8] [--only-ours]

A full copy is stored after every so many updates, or after as many as a share of the messages: `1/4` is what we do.

`ours` is our saver behind what `langgraph dev` puts before it, `upstream` is LangGraph's own saver there, which is then
read ancestor by ancestor; in a long thread that takes longer than all the rest, so it can be left out. The times are
those after each of the last twenty turns, because they depend on how far back the last full copy lies: their median,
and the longest.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict, cast

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import add_messages

from backend.settings import Settings
from backend.storage.database import Database
from backend.storage.langgraph_checkpointer import PostgresSaver
from backend.storage.messages_channel import GrowingDeltaChannel, merge_messages
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


Channels = Mapping[str, Any]
"""Ways to store the messages, by what they are called in the table."""


def channels_of(every: Sequence[int], shares: Sequence[int]) -> Channels:
    fixed = {str(number): cast("Any", DeltaChannel(merge_messages, snapshot_frequency=number)) for number in every}
    return fixed | {f"1/{share}": growing_by(share) for share in shares} | {"each time": add_messages}


def growing_by(number: int) -> Any:
    class Growing(GrowingDeltaChannel):
        share = number

    return Growing(merge_messages)


def state_with(channel: Any) -> type[Any]:
    return TypedDict("State", {"messages": Annotated[list[AnyMessage], channel], "subagent": str}, total=False)


async def milliseconds_to_load(graph: EchoGraph, thread: str) -> float:
    began = time.perf_counter()
    await graph.aget_state(in_thread(thread))
    return (time.perf_counter() - began) * 1000


async def measure(database: Database, name: str, channel: Any, *, turns: int, only_ours: bool) -> None:
    pool = await database.pool()
    state, thread = state_with(channel), f"copies {name}"
    graph = make_echo_graph(ServerAdapter(PostgresSaver(database, pool)), state=state, text=ANSWER)
    upstream_graph = make_echo_graph(ServerAdapter(AsyncPostgresSaver(pool)), state=state, text=ANSWER)
    ours: list[float] = []
    upstream: list[float] = []
    began = time.perf_counter()
    for turn in range(turns):
        await graph.ainvoke({"messages": [HumanMessage(f"question {turn}")]}, in_thread(thread))
        if turn >= turns - LAST:
            ours.append(await milliseconds_to_load(graph, thread))
            if not only_ours:
                upstream.append(await milliseconds_to_load(upstream_graph, thread))
    seconds = time.perf_counter() - began
    async with database.connection() as connection:
        row = await (await connection.execute(SIZE, {"thread": thread})).fetchone()
    assert row is not None
    print(
        f"{name:>9} {turns:5d} {sum(row.values()) / 1e6:8.2f} {row['blobs'] / 1e6:8.2f}"
        f" {row['writes'] / 1e6:8.2f} {row['checkpoints'] / 1e6:8.2f}"
        f" {_median_and_worst(ours)} {_median_and_worst(upstream)} {seconds / turns * 1000:8.1f}"
    )


def _median_and_worst(times: Sequence[float]) -> str:
    return f"{statistics.median(times):8.1f} {max(times):6.1f}" if times else f"{'-':>8} {'-':>6}"


async def main(channels: Channels, *, turns: int, only_ours: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, Any] = {"data_dir": Path(folder)}
        database = Database(Settings(**settings))
        async with database.running():
            print("full copy turns       MB    blobs   writes  checkpt     ours  worst upstream  worst  ms/turn")
            for name, channel in channels.items():
                await measure(database, name, channel, turns=turns, only_ours=only_ours)
        database.release()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--every", type=int, nargs="*", default=[10, 20, 50, 100])
    parser.add_argument("--share", type=int, nargs="*", default=[2, 4, 8])
    parser.add_argument("--only-ours", action="store_true")
    options = parser.parse_args()
    channels = channels_of(options.every, options.share)
    asyncio.run(main(channels, turns=options.turns, only_ours=options.only_ours))
