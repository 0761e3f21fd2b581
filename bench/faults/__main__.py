"""Faults: what is done to a running product, and whether all that was acknowledged is still there afterwards.

    python -m bench.faults [--only WORDS] [--quick]

Each fault has a PostgreSQL, a real `langgraph dev` and scripted models of its own. Four clients chat in eight threads
before, during and after it, and write down what they are told. A turn is acknowledged when its whole answer came
without an error, a save when its tool said so. Afterwards each thread takes one more turn, the background work is
waited for, and what the clients wrote down is compared with what is stored.

The small disk needs root, for a mount; the moved clock needs Debian's package `faketime`. Without them these two are
left out, and said to be.
"""

import argparse
import asyncio
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench.faults.clock import MovedClock
from bench.faults.kinds import FAULTS, Fault
from bench.faults.world import KEEP_RECENT, World, a_world
from bench.load.ledger import Check, Sent, Stored, checks
from bench.load.stored import episodes_kept, look, marks_in
from bench.turns.tables import print_table
from tests.support.model_server import ModelServer

SETTLE_SECONDS: Final = 30.0
CLAIM_SECONDS: Final = 61.0
"""So long a pass that died keeps others from its thread."""
COLUMNS: Final = ("fault", "answered", "failed", "what was looked for", "wrong", "of", "")


@dataclass(frozen=True, slots=True)
class Outcome:
    fault: Fault
    sent: Sequence[Sent]
    checks: Sequence[Check]

    @property
    def held(self) -> bool:
        return all(check.held for check in self.checks)


async def try_out(fault: Fault) -> Outcome:
    """Strike a world of its own while clients chat in it."""
    async with a_world(fault.needs) as world:
        ending = asyncio.Event()
        clients = [asyncio.ensure_future(world.traffic.keep_on(own, until=ending)) for own in world.chats]
        try:
            await world.answered(2)
            await fault.strike(world)
            await world.answered(2)
        finally:
            ending.set()
            await asyncio.gather(*clients)
        return Outcome(fault, world.traffic.sent, await _afterwards(world))


async def _afterwards(world: World) -> Sequence[Check]:
    last = await world.turn_each()
    stored = await _settled(world)
    found = checks(world.traffic.sent, stored, keep_recent=KEEP_RECENT)
    if not next(check for check in found if check.name == "threads with a summary due").held:
        await asyncio.sleep(CLAIM_SECONDS)
        last = [*last, *await world.turn_each()]
        stored = await _settled(world)
        found = checks(world.traffic.sent, stored, keep_recent=KEEP_RECENT)
    unusable = [f"{one.mark}: {one.error}" for one in last if not one.answered]
    return [
        *found,
        Check("turns failed afterwards", len(last), unusable),
        _unknown(world, last, stored),
        _refused(world.model),
    ]


async def _settled(world: World) -> Stored:
    """What is stored when nothing has been added for a while."""
    answered = sum(one.answered for one in world.traffic.sent)
    await episodes_kept(world.url, answered, within=SETTLE_SECONDS)
    await asyncio.sleep(3)  # a pass is the last thing that a background run does
    asked: dict[str, Sequence[str]] = {}
    answers: dict[str, Sequence[str]] = {}
    for place in world.places:
        own = [chat.thread_id for chat in world.all_chats if chat.url() == place.url]
        asked_here, answers_here = await marks_in(world.traffic.client(place.url), own)
        asked |= asked_here
        answers |= answers_here
    return await look(world.url, users={chat.user for chat in world.all_chats}, asked=asked, answers=answers)


def _unknown(world: World, last: Sequence[Sent], stored: Stored) -> Check:
    """What is in the profile is in the prompt of each thread's newest turn, on every server."""
    prompts = {request.last_human_text: request.system_text for request in world.model.for_model("chat")}
    newest = {one.thread_id: one for one in last if one.answered}.values()
    missing = [
        f"{one.mark}: {key}"
        for one in newest
        for text, prompt in prompts.items()
        if f"[{one.mark}]" in text
        for key in stored.keys.get(one.user, ())
        if key not in prompt
    ]
    return Check("keys that a prompt did not have", sum(map(len, map(list, stored.keys.values()))), missing)


def _refused(model: ModelServer) -> Check:
    """Requests that a provider would not take. They are forgotten here, because the server counts them as mistakes."""
    refused = [violation.message for _, violation in model.violations]
    count = len(model.requests)
    model.reset()
    return Check("requests that a provider refuses", count, refused)


def rows_of(outcome: Outcome) -> list[tuple[str, ...]]:
    """One row for each thing that was looked for; what is the same in all of them stands in the first."""
    answered = sum(one.answered for one in outcome.sent)
    heads = [(outcome.fault.name, str(answered), str(len(outcome.sent) - answered))]
    heads += [("", "", "")] * (len(outcome.checks) - 1)
    return [
        (*head, check.name, str(len(check.wrong)), str(check.of), "held" if check.held else "NOT HELD")
        for head, check in zip(heads, outcome.checks, strict=True)
    ]


def reason_to_skip(fault: Fault) -> str | None:
    if fault.needs.small_disk and os.geteuid() != 0:
        return "only root may mount a small disk"
    if fault.needs.moved_clock and MovedClock.library() is None:
        return "libfaketime is not installed"
    return None


async def run(*, quick: bool = False, only: str = "") -> Sequence[Outcome]:
    """Try the faults one after the other, and print what came of each as soon as it is known."""
    warnings.filterwarnings("ignore", message="Reconnecting")  # the SDK's, when a server has died under a stream
    outcomes: list[Outcome] = []
    for fault in FAULTS:
        if only not in fault.name or (quick and not fault.is_quick):
            continue
        if reason := reason_to_skip(fault):
            print(f"{fault.name}: left out, {reason}")
            continue
        outcomes.append(await try_out(fault))
        print_table("Faults", COLUMNS, rows_of(outcomes[-1]))
        for check in outcomes[-1].checks:
            if not check.held:
                print(f"{fault.name}: {check.name}: {'; '.join(check.wrong[:5])}", flush=True)
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORDS", help="the faults with these words in their names")
    parser.add_argument("--quick", action="store_true", help="three of the faults")
    options = parser.parse_args()
    asyncio.run(run(quick=options.quick, only=options.only))


if __name__ == "__main__":
    main()
