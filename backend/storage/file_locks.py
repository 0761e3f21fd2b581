"""Locks on files, which the kernel takes back from a process however it ends."""

import fcntl
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def exclusively(path: Path, *, seconds: float) -> Generator[None]:
    """One process at a time is in the block.

    Raises:
        TimeoutError: another one was in it for so long.
    """
    end = time.monotonic() + seconds
    with path.open("a") as lock:
        while not _take(lock, fcntl.LOCK_EX):
            if time.monotonic() > end:
                raise TimeoutError(f"another process holds {path}")
            time.sleep(0.05)
        yield


def hold(path: Path) -> IO[str]:
    """Hold what the file stands for, together with others; closing the file lets it go."""
    held = path.open("a")
    fcntl.flock(held, fcntl.LOCK_SH)
    return held


def is_held(path: Path) -> bool:
    """Whether any process holds what the file stands for."""
    with path.open("a") as probe:
        return not _take(probe, fcntl.LOCK_EX)


def _take(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
