"""The faults: what is done to a world in which clients are chatting, and undone again."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.faults.disk import fill, make_room
from bench.faults.model_front import GARBAGE
from bench.faults.world import Needs, Place, World
from tests.support.model_server import ModelRequest

Strike = Callable[[World], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    name: str
    strike: Strike
    """Does the harm, and ends it."""
    needs: Needs = field(default_factory=Needs)
    is_quick: bool = False
    """Whether it is among the few of a quick run."""


def database_stopped(seconds: float) -> Strike:
    async def strike(world: World) -> None:
        await asyncio.to_thread(world.postgres.stop)
        await asyncio.sleep(seconds)
        await asyncio.to_thread(world.postgres.start)

    return strike


async def database_killed(world: World) -> None:
    """With -9: it recovers from its log when it starts."""
    await asyncio.to_thread(world.postgres.kill)
    await asyncio.sleep(2)
    await asyncio.to_thread(world.postgres.start)


async def connections_killed(world: World) -> None:
    """All of them, 40 times in 10 seconds."""
    for _ in range(40):
        await asyncio.to_thread(world.postgres.kill_connections)
        await asyncio.sleep(0.25)


def before_an_answer(request: ModelRequest) -> bool:
    return request.model == "chat"


def after_a_save(request: ModelRequest) -> bool:
    return request.model == "chat" and request.messages[-1]["role"] == "tool"


def in_a_pass(request: ModelRequest) -> bool:
    return request.model == "summary"


async def server_killed(world: World) -> None:
    """As soon as the models have such requests in hand, and once wherever it is."""
    for moment in (before_an_answer, after_a_save, in_a_pass):
        gate = world.model.hold(moment)
        await world.model.wait_until(lambda gate=gate: gate.waiting, timeout=60)
        await _kill_and_start(world.places[0])
        gate.release()
        await world.answered(1)
    await asyncio.sleep(random.uniform(0, 2))
    await _kill_and_start(world.places[0])


async def _kill_and_start(place: Place) -> None:
    await place.kill()
    await place.start()


async def model_slow(world: World) -> None:
    """A second and a half for each answer, then longer than the four seconds that are waited for one."""
    for delay in (1.5, 6.0):
        world.script.delay = delay
        await asyncio.sleep(15)
    world.script.delay = 0


async def model_down(world: World) -> None:
    await world.front.close()
    await asyncio.sleep(15)
    await world.front.open()


async def model_talks_garbage(world: World) -> None:
    world.front.answer_with(GARBAGE)
    await asyncio.sleep(20)
    world.front.answer_with(())


async def disk_full(world: World) -> None:
    """A database that gives up is started again once there is room, as an operator would."""
    for _ in range(2):
        await asyncio.to_thread(fill, world.disk)
        await asyncio.sleep(12)
        await asyncio.to_thread(make_room, world.disk)
        await asyncio.to_thread(world.postgres.start)
        await world.answered(1)


async def nothing(world: World) -> None:
    """Two servers are the fault."""
    await world.answered(6)


async def clock_moved(world: World) -> None:
    """A day forth, and back to two hours ago; then the server is started anew.

    Between turns: `langgraph dev` begins no run, and none behind it, that was queued later than its clock says.
    """
    for difference in ("+1d", "-2h"):
        async with world.paused():
            world.clock.move(difference)
            await asyncio.sleep(2)  # until every program has seen it
        await world.answered(2)
    await world.places[0].stop()
    await world.places[0].start()


FAULTS: Final[Sequence[Fault]] = (
    Fault(name="PostgreSQL stopped for 5 s", strike=database_stopped(5), is_quick=True),
    Fault(name="PostgreSQL stopped for 60 s", strike=database_stopped(60)),
    Fault(name="PostgreSQL killed with -9", strike=database_killed),
    Fault(name="all connections killed, 40 times", strike=connections_killed),
    Fault(name="server killed with -9, 4 times", strike=server_killed, is_quick=True),
    Fault(name="models slow", strike=model_slow, needs=Needs(settings={"MODEL_TIMEOUT_SECONDS": "4"})),
    Fault(name="models down", strike=model_down),
    Fault(name="models talk garbage", strike=model_talks_garbage, is_quick=True),
    Fault(name="disk full, twice", strike=disk_full, needs=Needs(small_disk=True)),
    Fault(name="two servers, one profile", strike=nothing, needs=Needs(servers=2, users=1)),
    Fault(name="clock moved by a day", strike=clock_moved, needs=Needs(moved_clock=True)),
)
