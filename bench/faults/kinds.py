"""The faults: what is done to a world in which clients are chatting, and undone again."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.faults.disk import fill, make_room
from bench.faults.model_front import GARBAGE
from bench.faults.world import Needs, World
from tests.support.model_server import ModelRequest

Strike = Callable[[World], Awaitable[None]]
WAIT_SECONDS: Final = 60.0


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


async def _killed_while(world: World, matching: Callable[[ModelRequest], bool]) -> None:
    """Kill the server as soon as the models have such requests in hand, and start it again."""
    gate = world.model.hold(matching)
    await world.model.wait_until(lambda: gate.waiting, timeout=WAIT_SECONDS)
    await world.places[0].kill()
    gate.release()
    await asyncio.sleep(1)
    await world.places[0].start()


async def server_killed_in_turns(world: World) -> None:
    """Before the model answers, right after a tool has saved, and wherever it is, twice."""
    await _killed_while(world, lambda request: request.model == "chat")
    await world.answered(1)
    await _killed_while(world, lambda request: request.model == "chat" and request.messages[-1]["role"] == "tool")
    for _ in range(2):
        await world.answered(1)
        await asyncio.sleep(random.uniform(0, 1))
        await world.places[0].kill()
        await world.places[0].start()


async def server_killed_in_passes(world: World) -> None:
    for _ in range(2):
        await _killed_while(world, lambda request: request.model == "summary")
        await world.answered(1)


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
    """A day forth, and back to two hours ago; then the server is started anew."""
    world.clock.move("+1d")
    await world.answered(2)
    world.clock.move("-2h")
    await world.answered(2)
    await world.places[0].stop()
    await world.places[0].start()
    await world.answered(2)


FAULTS: Final[Sequence[Fault]] = (
    Fault(name="PostgreSQL stopped for 5 s", strike=database_stopped(5), is_quick=True),
    Fault(name="PostgreSQL stopped for 60 s", strike=database_stopped(60)),
    Fault(name="PostgreSQL killed with -9", strike=database_killed),
    Fault(name="all connections killed, 40 times", strike=connections_killed, is_quick=True),
    Fault(name="server killed with -9 in turns, 4 times", strike=server_killed_in_turns),
    Fault(name="server killed with -9 in passes, twice", strike=server_killed_in_passes),
    Fault(name="models slow", strike=model_slow, needs=Needs(settings={"MODEL_TIMEOUT_SECONDS": "4"})),
    Fault(name="models down", strike=model_down),
    Fault(name="models talk garbage", strike=model_talks_garbage, is_quick=True),
    Fault(name="disk full, twice", strike=disk_full, needs=Needs(small_disk=True)),
    Fault(name="two servers, one profile", strike=nothing, needs=Needs(servers=2, users=1)),
    Fault(name="clock moved by a day", strike=clock_moved, needs=Needs(moved_clock=True)),
)
