"""Turns of our graph and of the plain one in alternation, in threads of equal length."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, Literal, get_args

from backend.ids import ThreadId, UserId
from backend.memory.memories import announce_change
from bench.turns.in_process import USER, InProcess, Turn, Variant
from bench.turns.talk import said
from tests.support.conditions import eventually

TURNS_BEFORE: Final = 12
"""Enough for one summary of ten turns."""
TURNS_MEASURED: Final = 7
"""Then the next summary would be due."""
NOBODY: Final = ""

Kind = Literal["ours", "nobody", "plain"]
"""Our graph, our graph with nobody speaking and so without memory, the plain graph."""
KINDS: Final[Sequence[Kind]] = get_args(Kind)

Round = dict[Kind, Turn]
"""One turn of each kind, made directly after each other."""


@dataclass(slots=True)
class Talk:
    """One thread in which the script is said."""

    variant: Variant
    thread_id: str
    user_id: str
    numbers: "count[int]"

    async def turn(self) -> Turn:
        return await self.variant.turn(self.thread_id, said(next(self.numbers)), user_id=self.user_id)


class Threads:
    """A thread of each kind."""

    def __init__(self, side: InProcess) -> None:
        self._side = side
        self._talks: dict[Kind, Talk] = {
            "ours": Talk(side.ours, side.new_thread(), USER, count()),
            "nobody": Talk(side.ours, side.new_thread(), NOBODY, count()),
            "plain": Talk(side.plain, side.new_thread(), NOBODY, count()),
        }

    async def begin(self) -> None:
        """The turns before, with their background work, and one more that warms what those have dropped."""
        for _ in range(TURNS_BEFORE):
            for kind in KINDS:
                await self._side.remember(await self.turn(kind))
        for kind in KINDS:
            await self.turn(kind)

    async def turn(self, kind: Kind) -> Turn:
        return await self._talks[kind].turn()

    async def cold_turn(self, kind: Kind) -> Turn:
        await forget(self._side)
        return await self.turn(kind)

    async def end(self) -> None:
        """The user has the same past as before: these threads' episodes go, and what is left to be done is not done."""
        self._side.server.started.clear()
        memory = self._side.services.memories.of(UserId(USER))
        for talk in self._talks.values():
            await memory.episodes.erase_thread(ThreadId(talk.thread_id))


async def forget(side: InProcess) -> None:
    """Have every cache of the user dropped, as a change in another process does."""
    memory = side.services.memories.of(UserId(USER))
    before = await memory.token()

    async def is_dropped() -> bool:
        return await memory.token() != before

    await announce_change(side.services.database, UserId(USER))
    await eventually(is_dropped)


async def measure_rounds(side: InProcess, *, blocks: int, cold: bool) -> Sequence[Round]:
    """`blocks` times new threads with `TURNS_MEASURED` rounds; who comes first changes from round to round."""
    rounds: list[Round] = []
    for _ in range(blocks):
        threads = Threads(side)
        await threads.begin()
        turn = threads.cold_turn if cold else threads.turn
        rounds += [await _round(turn, number) for number in range(TURNS_MEASURED)]
        await threads.end()
    return rounds


async def _round(turn: Callable[[Kind], Awaitable[Turn]], number: int) -> Round:
    return {kind: await turn(kind) for kind in _order(number)}


def _order(number: int) -> Sequence[Kind]:
    first = number % len(KINDS)
    return [*KINDS[first:], *KINDS[:first]]
