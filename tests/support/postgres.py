"""A real PostgreSQL for tests: one server for the session, a database for each test, copied from a prepared one."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from backend.settings import Settings
from backend.storage.database import Database
from backend.storage.embedded import EmbeddedPostgres

UNSAFE_BUT_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""For a server whose data nobody wants back after a crash."""
TEMPLATE = "afterthought"


class TestServer:
    """An embedded server in a directory of its own, which a test may also harm."""

    __test__ = False

    def __init__(self, directory: Path, options: Mapping[str, str] | None = None) -> None:
        self.data = directory / "postgres"
        self._embedded = EmbeddedPostgres(self.data, options=options)
        self.url = self._embedded.start()

    @property
    def pid(self) -> int:
        return int((self.data / "postmaster.pid").read_text().splitlines()[0])

    def start(self) -> None:
        self._embedded.start()

    def stop(self) -> None:
        """As an administrator does."""
        self._embedded.stop()

    def kill(self) -> None:
        """As the kernel does when memory is short."""
        os.kill(self.pid, signal.SIGKILL)

    def freeze(self) -> None:
        """It keeps its connections, takes new ones, and answers nothing."""
        for pid in self._processes():
            os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in self._processes():
            os.kill(pid, signal.SIGCONT)

    def kill_connections(self) -> None:
        """End all sessions but the one that says so."""
        self._execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")

    def create_database(self, template: str = TEMPLATE) -> str:
        """A database that nobody else uses, a prepared one unless told otherwise; its DSN."""
        name = f"test_{uuid4().hex}"
        self._execute("CREATE DATABASE {} TEMPLATE {}", name, template)
        return self.url.replace(f"/{TEMPLATE}?", f"/{name}?")

    def drop_database(self, url: str) -> None:
        self._execute("DROP DATABASE {} WITH (FORCE)", str(conninfo_to_dict(url)["dbname"]))

    def close(self) -> None:
        self._embedded.release()

    def _execute(self, statement: str, *names: str) -> None:
        administrator = self.url.replace(f"/{TEMPLATE}?", "/postgres?")
        with psycopg.connect(administrator, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))  # pyright: ignore[reportArgumentType]

    def _processes(self) -> list[int]:
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, children)]


def make_database(url: str, *, timeout_seconds: float = 3.0, pool_size: int = 5) -> Database:
    """The product's database object over the given server."""
    settings: dict[str, Any] = {
        "database_url": url,
        "database_timeout_seconds": timeout_seconds,
        "database_pool_size": pool_size,
    }
    return Database(Settings(**settings))


def prepare(server: TestServer) -> None:
    with ThreadPoolExecutor(1) as thread:  # a fixture may be asked for where an event loop runs already
        thread.submit(asyncio.run, make_database(server.url).prepare()).result()


@contextmanager
def temporary_directory() -> Generator[Path]:
    """Short enough for a socket in it, and away from home folders, which the server's user could not pass through."""
    directory = Path(tempfile.mkdtemp(prefix="afterthought-"))
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[TestServer]:
    """The server of the session; its database `afterthought` is there to be copied from."""
    with temporary_directory() as directory:
        server = TestServer(directory, UNSAFE_BUT_FAST)
        prepare(server)
        yield server
        server.close()


@pytest.fixture
def database_url(postgres_server: TestServer) -> Iterator[str]:
    """A prepared database of the test's own."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = make_database(database_url)
    async with database.running():
        yield database


@pytest.fixture(scope="session")
def prepared_data() -> Iterator[Path]:
    """The data directory of a server that was prepared and stopped."""
    with temporary_directory() as directory:
        server = TestServer(directory)
        prepare(server)
        server.close()
        yield server.data


@pytest.fixture
def own_server(prepared_data: Path) -> Iterator[TestServer]:
    """A server of the test's own, with a prepared database, to stop, kill and freeze."""
    with temporary_directory() as directory:
        subprocess.run(["cp", "-a", prepared_data, directory], check=True)  # noqa: S603, S607
        server = TestServer(directory)
        yield server
        server.close()
