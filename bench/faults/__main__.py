"""Faults: what is done to a running product, and whether all that was acknowledged is still there afterwards.

    python -m bench.faults [--only WORDS] [--quick]

Each fault has a PostgreSQL, a real `langgraph dev` and scripted models of its own. Four clients chat in eight threads
before, during and after it, and write down what they are told. A turn is acknowledged when its whole answer came
without an error, a save when its tool said so. Afterwards each thread takes one more turn, or up to three while
background work is late, and what the clients wrote down is compared with what is stored.

The small disk needs root, for a mount; the moved clock needs Debian's package `faketime`. Without them these two are
left out, and said to be.
"""

import argparse
import asyncio
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import httpx
import psycopg
from langgraph_sdk.errors import LangGraphError

from backend.errors import AfterthoughtError
from bench.faults.afterwards import look_back
from bench.faults.clock import MovedClock
from bench.faults.kinds import FAULTS, Fault
from bench.faults.world import a_world
from bench.load.ledger import Check, Sent
from bench.turns.quiet import only_warnings
from bench.turns.tables import print_table
from tests.support.langgraph_server import ServerStopped

BROKEN: Final = (
    AssertionError, TimeoutError, ServerStopped, AfterthoughtError, psycopg.Error, LangGraphError, httpx.HTTPError,
)  # fmt: skip
"""How a world ends that a fault has broken for good, or that the fault could not be done to."""


@dataclass(frozen=True, slots=True)
class Outcome:
    fault: Fault
    seconds: float
    sent: Sequence[Sent]
    checks: Sequence[Check]

    @property
    def wrong(self) -> Sequence[Check]:
        return [check for check in self.checks if not check.held]


async def try_out(fault: Fault) -> Outcome:
    """Strike a world of its own while clients chat in it."""
    began, sent = time.monotonic(), list[Sent]()
    try:
        async with a_world(fault.needs) as world:
            sent, ending = world.traffic.sent, asyncio.Event()
            clients = [asyncio.ensure_future(world.traffic.keep_on(own, until=ending)) for own in world.clients]
            try:
                await world.answered(2)
                await fault.strike(world)
                silent = await world.answered(2)
            finally:
                ending.set()
                await asyncio.gather(*clients)
            found = await look_back(world, silent)
    except BROKEN as error:
        found = [Check("broken", 1, [f"{type(error).__name__}: {error}"])]
    return Outcome(fault, time.monotonic() - began, sent, found)


def columns_of(outcomes: Sequence[Outcome]) -> Sequence[str]:
    """What was looked for in any of them."""
    return list(dict.fromkeys(check.name for outcome in outcomes for check in outcome.checks))


def row_of(outcome: Outcome, columns: Sequence[str]) -> Sequence[str]:
    """How much was wrong of all that was looked at, by column."""
    answered, told = sum(one.answered for one in outcome.sent), {check.name: str(check) for check in outcome.checks}
    turns = (f"{outcome.seconds:.0f} s", str(answered), str(len(outcome.sent) - answered))
    return (outcome.fault.name, *turns, *(told.get(name, "-") for name in columns), verdict(outcome))


def verdict(outcome: Outcome) -> str:
    return "NOT HELD" if outcome.wrong else "held"


def reason_to_skip(fault: Fault) -> str | None:
    if fault.needs.small_disk and os.geteuid() != 0:
        return "only root may mount a small disk"
    if fault.needs.moved_clock and MovedClock.library() is None:
        return "libfaketime is not installed"
    return None


def print_outcome(outcome: Outcome) -> None:
    print(f"{outcome.fault.name}: {verdict(outcome)} ({outcome.seconds:.0f} s)", flush=True)
    for check in outcome.wrong:
        print(f"  {check.name} {check}: {'; '.join(check.wrong[:5])}", flush=True)


async def main(*, quick: bool, only: str) -> None:
    """Try the faults one after the other, and say what came of each as soon as it is known."""
    warnings.filterwarnings("ignore", message="Reconnecting")  # the SDK's, when a server has died under a stream
    outcomes: list[Outcome] = []
    for fault in FAULTS:
        if only not in fault.name or (quick and not fault.is_quick):
            continue
        if reason := reason_to_skip(fault):
            print(f"{fault.name}: left out, {reason}", flush=True)
            continue
        outcomes.append(await try_out(fault))
        print_outcome(outcomes[-1])
    columns = columns_of(outcomes)
    rows = [row_of(outcome, columns) for outcome in outcomes]
    print_table("Faults: wrong of all that was looked at", ("fault", "took", "answered", "failed", *columns, ""), rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORDS", help="the faults with these words in their names")
    parser.add_argument("--quick", action="store_true", help="three of the faults")
    options = parser.parse_args()
    only_warnings()
    asyncio.run(main(quick=options.quick, only=options.only))
