"""A file system of its own that is small, to be filled."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

MEGABYTES: Final = 160
"""A new database takes about 60 of them, and its log another 16 to 80."""
FILLER: Final = "filler"
PIECE: Final = 65_536


@contextmanager
def small_disk(folder: Path) -> Generator[Path]:
    """A tmpfs at `folder`; only root may mount one."""
    folder.mkdir()
    size = f"size={MEGABYTES}m,mode=755"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)], check=True)  # noqa: S603, S607
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S603, S607


def fill(folder: Path) -> int:
    """Write until there is no room for one more byte; the bytes written."""
    written = 0
    with (folder / FILLER).open("ab", buffering=0) as filler:
        for piece in (PIECE, 4096, 1):
            try:
                while True:
                    written += filler.write(b"\0" * piece)
            except OSError:
                continue
    return written


def make_room(folder: Path) -> None:
    (folder / FILLER).unlink(missing_ok=True)
