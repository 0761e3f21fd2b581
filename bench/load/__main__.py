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
from typing import Final

from bench.load.ledger import Check, Sent, checks
from bench.load.script import Script
from bench.load.stored import look, marks_in, remembered
from bench.load.traffic import Chat, Traffic, make_chats
from bench.turns.postgres import bench_postgres
from bench.turns.quiet import only_warnings
from bench.turns.served import served
from bench.turns.tables import Report, percentile, times
from tests.support.model_server import ModelServer
from tests.support.postgres import temporary_directory

PLAIN: Final = "plain"
OURS: Final = "agent"
KEEP_RECENT: Final = 10
"""MEMORY_THREAD_SUMMARY_KEEP_RECENT's default."""
DRAIN_SECONDS: Final = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much is sent to each graph. `turns` are those of all threads together."""

    clients: int = 8
    threads: int = 50
    turns: int = 2_000
    blocks: int = 4

    @property
    def turns_a_thread(self) -> int:
        """In one block."""
        return max(1, self.turns // self.threads // self.blocks)

    def chats(self, graph: str) -> Sequence[Sequence[Chat]]:
        """Of each client; no user has chats with both graphs."""
        users = max(1, self.clients // 2)
        return make_chats(clients=self.clients, threads=self.threads, users=users, graph=graph)


QUICK: Final = Load(clients=4, threads=8, turns=96, blocks=2)


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
    with temporary_directory() as folder, bench_postgres() as postgres, ModelServer() as model:
        Script().attach(model)
        url = postgres.create_database()
        with served(folder / "server", url, model.environment) as server:
            traffic = Traffic(lambda _: server.url)
            chats = {graph: load.chats(graph) for graph in (PLAIN, OURS)}
            measured = {graph: Measured() for graph in chats}
            for block in range(1, load.blocks + 1):
                for graph in chats if block % 2 else reversed(chats):
                    await _send(traffic, measured[graph], chats[graph], load.turns_a_thread)
                    if graph == OURS:
                        measured[OURS].behind.append(await _drain(url, load, block))
                    model.requests.clear()
            own = [chat for own in chats[OURS] for chat in own]
            asked, answers = await marks_in(traffic.client(server.url), [chat.thread_id for chat in own])
            stored = await look(url, users={chat.user for chat in own}, asked=asked, answers=answers)
            await traffic.close()
    return measured, checks(measured[OURS].sent, stored, keep_recent=KEEP_RECENT)


async def _send(traffic: Traffic, measured: Measured, chats: Sequence[Sequence[Chat]], turns: int) -> None:
    before, began = len(traffic.sent), time.monotonic()
    await asyncio.gather(*(traffic.rounds(own, turns=turns) for own in chats))
    measured.seconds += time.monotonic() - began
    measured.sent += traffic.sent[before:]


async def _drain(url: str, load: Load, block: int) -> float:
    """How long it takes until each turn has its episode and each summary is written."""
    turns = block * load.turns_a_thread
    due = load.threads * (turns // KEEP_RECENT) * KEEP_RECENT
    return await remembered(url, episodes=load.threads * turns, summarized=due, within=DRAIN_SECONDS)


def report_of(load: Load, measured: Mapping[str, Measured], found: Sequence[Check]) -> Report:
    plain, ours = measured[PLAIN], measured[OURS]
    table = Report(f"Load: {load.clients} clients, {load.threads} threads, {len(ours.sent)} turns to each graph")
    rate = times(ours.turns_a_second, plain.turns_a_second)
    table.figure("turns a second", f"{ours.turns_a_second:.1f}", f"{rate} of plain")
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        ratio = times(ours.at(share), plain.at(share))
        table.figure(f"{name} of a turn", f"{ours.at(share):.2f} s", f"{ratio} of plain")
    for name, one in (("plain", plain), ("ours", ours)):
        failed = [sent.error for sent in one.sent if not sent.answered]
        table.figure(f"errors, {name}", str(len(failed)), "; ".join(failed[:2]), wanted="0", reached=not failed)
    left = times(max(ours.behind), ours.seconds / load.blocks)
    table.figure("background work left when a block ends", f"{max(ours.behind):.1f} s", f"{left} of a block")
    for check in found:
        table.figure(check.name, str(check), "; ".join(check.wrong[:2]), wanted="0", reached=check.held)
    return table


def parse_load() -> Load:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=Load().clients)
    parser.add_argument("--threads", type=int, default=Load().threads)
    parser.add_argument("--turns", type=int, default=Load().turns)
    parser.add_argument("--quick", action="store_true", help="a twentieth of it, to see that all parts work")
    options = parser.parse_args()
    return QUICK if options.quick else Load(clients=options.clients, threads=options.threads, turns=options.turns)


async def main(load: Load) -> None:
    report_of(load, *await measure(load)).print()


if __name__ == "__main__":
    only_warnings()
    asyncio.run(main(parse_load()))
