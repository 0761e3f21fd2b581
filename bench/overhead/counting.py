"""How often a turn asks the database, and for what."""

from collections.abc import Mapping
from typing import Final

from bench.overhead.rounds import Kind, Threads
from bench.turns.in_process import InProcess
from bench.turns.postgres import Statements, statements

TURNS: Final = 2
"""Of each kind, in threads that are left before a summary is due again."""
COUNTED: Final[Mapping[str, tuple[Kind, bool]]] = {
    "plain": ("plain", False),
    "ours, nobody speaks": ("nobody", False),
    "ours, warm": ("ours", False),
    "ours, cold": ("ours", True),
}
"""The names of rows, with the kind of turn and whether it is cold."""


async def count_statements(side: InProcess, url: str) -> Mapping[str, Statements]:
    """The statements of `TURNS` turns of each kind."""
    threads = Threads(side)
    await threads.begin()
    counted = {name: await _count(threads, url, kind, cold=cold) for name, (kind, cold) in COUNTED.items()}
    await threads.end()
    return counted


async def _count(threads: Threads, url: str, kind: Kind, *, cold: bool) -> Statements:
    turn = threads.cold_turn if cold else threads.turn

    async def work() -> None:
        for _ in range(TURNS):
            await turn(kind)

    return await statements(url, work)
