"""What must be true after a fault, beside what the ledger asks of all that is stored."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bench.faults.world import KEEP_RECENT, World
from bench.load.ledger import Check, Sent, checks
from bench.load.script import mark_in

PATIENCE: Final = (20.0, 160.0, 20.0)
"""Seconds for background work after each of up to three more turns in every thread: that of the turn itself; retries
after an outage, and the claim of a pass that died; that of a turn after those.
"""
LATE_SECONDS: Final = 3.0
"""What is done a second time comes late."""


async def look_back(world: World, silent: Sequence[str]) -> Sequence[Check]:
    """`silent` are the threads that did not answer again after the fault."""
    last: list[Sent] = []
    for seconds in PATIENCE:
        last += await world.turn_each()
        if await _is_remembered(world, seconds):
            break
    await asyncio.sleep(LATE_SECONDS)
    stored = await world.stored()
    prompts = {mark_in(request.last_human_text) or "": request.system_text for request in world.model.for_model("chat")}
    return [
        *checks(world.traffic.sent, stored, keep_recent=KEEP_RECENT),
        Check("silent threads", len(world.chats), silent),
        failed_turns(last),
        unknown_keys(last, prompts, stored.keys),
        _refused_requests(world),
    ]


async def _is_remembered(world: World, within: float) -> bool:
    """Whether in that time all background work was done."""
    end = asyncio.get_running_loop().time() + within
    while asyncio.get_running_loop().time() < end:
        found = checks(world.traffic.sent, await world.stored(), keep_recent=KEEP_RECENT)
        if all(check.held for check in found if check.waits):
            return True
        await asyncio.sleep(1)
    return False


def failed_turns(last: Iterable[Sent]) -> Check:
    """None fails once the fault is over."""
    turns = list(last)
    return Check("failed afterwards", len(turns), [f"{one.mark}: {one.error}" for one in turns if not one.answered])


def unknown_keys(last: Iterable[Sent], prompts: Mapping[str, str], keys: Mapping[str, Sequence[str]]) -> Check:
    """What is in the profile is in the prompt of each thread's newest turn, on every server. `prompts` are by mark."""
    newest = {one.thread_id: one for one in last if one.answered}.values()
    wanted = [(one.mark, key) for one in newest for key in keys.get(one.user, ())]
    missing = [f"{mark}: {key}" for mark, key in wanted if f'"{key}"' not in prompts.get(mark, "")]
    return Check("unknown keys", len(wanted), missing)


def _refused_requests(world: World) -> Check:
    """Those that no provider would take; the models forget them, for which they are mistakes of the script."""
    refused = [violation.message for _, violation in world.model.violations]
    world.model.violations.clear()
    return Check("refused requests", len(world.model.requests), refused)
