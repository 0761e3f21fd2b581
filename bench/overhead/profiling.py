"""What our warm turns spend their time on, as pyinstrument sees it."""

from importlib import import_module
from pathlib import Path
from typing import Any, Final

from bench.overhead.rounds import TURNS_MEASURED, Threads
from bench.turns.in_process import InProcess

PYINSTRUMENT: Final = "pyinstrument"
"""Imported when it is used: it is installed for measuring, not for development."""
INTERVAL_SECONDS: Final = 0.0002


async def profile_turns(side: InProcess, *, blocks: int) -> Any:
    """The profile of `blocks` times `TURNS_MEASURED` warm turns, those of our graph alone."""
    profiler: Any = import_module(PYINSTRUMENT).Profiler(interval=INTERVAL_SECONDS, async_mode="enabled")
    for _ in range(blocks):
        threads = Threads(side)
        await threads.begin()
        profiler.start()
        for _ in range(TURNS_MEASURED):
            await threads.turn("ours")
        profiler.stop()
        await threads.end()
    return profiler


def write_profile(profiler: Any, file: Path) -> None:
    """The call tree as text, of the client libraries too, because that is where the time goes."""
    file.write_text(profiler.output_text(unicode=True, show_all=True, time="percent_of_total"))
