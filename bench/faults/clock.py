"""A wall clock that can be set for other programs, by libfaketime; their clocks for measuring spans stay right."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.langgraph_server import REPOSITORY

LIBRARIES: Final = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
)
"""Where Debian's package `faketime` puts it."""
SLEEP: Final = "import threading, time\ntime.sleep = lambda seconds: threading.Event().wait(seconds) and None\n"
"""For Python, whose own sleep fails under the library."""


class MovedClock:
    """The clock of all programs that are started with its `environment`."""

    def __init__(self, file: Path) -> None:
        """`file` holds the difference, and everybody may read it; beside it lies what Python is given."""
        self._file = file
        file.with_name("sitecustomize.py").write_text(SLEEP)
        self.move("+0")

    @staticmethod
    def library() -> str | None:
        """None where it is not installed."""
        return next((path for path in LIBRARIES if Path(path).exists()), None)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": self.library() or "",
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",  # in seconds; without it every look at the clock reads the file
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_RESET": "1",
            "PYTHONPATH": f"{self._file.parent}:{REPOSITORY}",
        }

    def move(self, difference: str) -> None:
        """Within a second the clock is so far off the right time: `+1d`, `-2h`, `+0`."""
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{difference}\n")
        fresh.chmod(0o644)
        fresh.replace(self._file)

    @contextmanager
    def for_children(self) -> Generator[None]:
        """What this process starts in the block has the clock too."""
        before = dict(os.environ)
        os.environ.update(self.environment)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
