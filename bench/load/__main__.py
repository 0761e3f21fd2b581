"""Load: many clients at once through a real `langgraph dev`, beside the plain graph on the same server.

    python -m bench.load [--clients 8] [--threads 50] [--turns 2000] [--quick]

The plain graph is the same sub-agent without memory: same router, tools, checkpointer and server. Both take turns in
blocks, so that what else the machine does falls on both. Models answer without delay, from this process. One turn in
ten saves a key of the profile and a fact through tool calls; two clients share a user. Turns a second of ours include
the background work that goes on beside the next turns; what is left of it when a block ends is waited for, and told.
"""

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.load.ledger import Check, Sent, checks
from bench.load.script import Script
from bench.load.stored import episodes_kept, look, marks_in
from bench.load.traffic import Chat, Traffic, make_chats
from bench.turns.postgres import bench_postgres
from bench.turns.served import served
from bench.turns.tables import Report, percentile, times
from tests.support.model_server import ModelServer
from tests.support.postgres import temporary_directory

GRAPHS: Final = ("plain", "agent")
KEEP_RECENT: Final = 10
"""MEMORY_THREAD_SUMMARY_KEEP_RECENT's default."""
DRAIN_SECONDS: Final = 300.0
SETTLE_SECONDS: Final = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much is sent to each graph. `turns` are those of all threads together."""

    clients: int = 8
    threads: int = 50
    turns: int = 2_000
    blocks: int = 4

    @property
    def turns_a_thread(self) -> int:
        return max(1, self.turns // self.threads // self.blocks)


QUICK: Final = Load(clients=4, threads=8, turns=192, blocks=2)


@dataclass(slots=True)
class Measured:
    """What one graph did."""

    sent: list[Sent] = field(default_factory=list[Sent])
    seconds: float = 0.0
    behind: list[float] = field(default_factory=list[float])
    """Seconds of background work that were left at the end of each block."""

    @property
    def turns_a_second(self) -> float:
        return sum(one.answered for one in self.sent) / self.seconds

    def at(self, share: float) -> float:
        return percentile([one.seconds for one in self.sent], share)


async def measure(load: Load) -> tuple[Mapping[str, Measured], Sequence[Check]]:
    """Serve, send, and look at what is stored."""
    script = Script()
    with temporary_directory() as folder, bench_postgres() as postgres, ModelServer() as model:
        script.attach(model)
        url = postgres.create_database()
        with served(Path(folder) / "server", url, model.environment) as server:
            return await _measure(load, url, server.url, model)


async def _measure(
    load: Load, url: str, server_url: str, model: ModelServer
) -> tuple[Mapping[str, Measured], Sequence[Check]]:
    chats = {
        graph: make_chats(
            [lambda: server_url],
            clients=load.clients,
            threads=load.threads,
            users=max(1, load.clients // 2),
            graph=graph,
            prefix=graph,
        )
        for graph in GRAPHS
    }
    measured = {graph: Measured() for graph in GRAPHS}
    for _ in range(load.blocks):
        for graph in GRAPHS:
            await _block(measured[graph], chats[graph], load.turns_a_thread)
            if graph == "agent":
                measured[graph].behind.append(await _left(url, measured[graph].sent))
            model.requests.clear()
    traffic = Traffic()
    users = {chat.user for own in chats["agent"] for chat in own}
    threads = [chat.thread_id for own in chats["agent"] for chat in own]
    await asyncio.sleep(SETTLE_SECONDS)  # a pass is the last thing that a background run does
    asked, answers = await marks_in(traffic.client(server_url), threads)
    stored = await look(url, users=users, asked=asked, answers=answers)
    await traffic.close()
    return measured, checks(measured["agent"].sent, stored, keep_recent=KEEP_RECENT)


async def _block(measured: Measured, chats: Sequence[Sequence[Chat]], turns: int) -> None:
    traffic, began = Traffic(), time.monotonic()
    await asyncio.gather(*(traffic.rounds(own, turns=turns) for own in chats))
    measured.seconds += time.monotonic() - began
    measured.sent += traffic.sent
    await traffic.close()


async def _left(url: str, sent: Sequence[Sent]) -> float:
    """How long it takes until each answered turn has its episode."""
    return await episodes_kept(url, sum(one.answered for one in sent), within=DRAIN_SECONDS)


def report(load: Load, measured: Mapping[str, Measured], found: Sequence[Check]) -> Report:
    plain, ours = measured["plain"], measured["agent"]
    table = Report(f"Load: {load.clients} clients, {load.threads} threads, {len(ours.sent)} turns to each graph")
    table.figure(
        "turns a second", f"{ours.turns_a_second:.1f}", f"{times(ours.turns_a_second, plain.turns_a_second)} of plain"
    )
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        table.figure(
            f"{name} of a turn", f"{ours.at(share):.2f} s", f"{times(ours.at(share), plain.at(share))} of plain"
        )
    for name, one in (("plain", plain), ("ours", ours)):
        failed = [sent.error for sent in one.sent if not sent.answered]
        table.figure(f"errors, {name}", str(len(failed)), "; ".join(failed[:2]), wanted="0", reached=not failed)
    table.figure(
        "background work left at a block's end", f"{max(ours.behind):.1f} s", f"of {ours.seconds / load.blocks:.0f} s"
    )
    for check in found:
        told = "; ".join(check.wrong[:2])
        table.figure(check.name, f"{len(check.wrong)} of {check.of}", told, wanted="0", reached=check.held)
    return table


async def run(*, quick: bool = False, load: Load | None = None) -> Report:
    """Measure, print, and give what was printed."""
    chosen = load or (QUICK if quick else Load())
    table = report(chosen, *await measure(chosen))
    table.print()
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=Load().clients)
    parser.add_argument("--threads", type=int, default=Load().threads)
    parser.add_argument("--turns", type=int, default=Load().turns)
    parser.add_argument("--quick", action="store_true", help="a tenth of it, to see that all parts work")
    options = parser.parse_args()
    load = None if options.quick else Load(clients=options.clients, threads=options.threads, turns=options.turns)
    asyncio.run(run(quick=options.quick, load=load))


if __name__ == "__main__":
    main()
