"""The PostgreSQL of a measurement: embedded, as safe as the product runs it, and able to say what it was asked."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import psycopg

from tests.support.postgres import TestServer, prepare, temporary_directory

COUNTING: Final[Mapping[str, str]] = {
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.max": "5000",
}
MEMORY: Final = re.compile(r"\b(memories|memory_\w+|store|summarized_threads|accounts)\b", re.IGNORECASE)
CHECKPOINTS: Final = re.compile(r"\bcheckpoint(?:s|_blobs|_writes|_migrations)\b", re.IGNORECASE)
AROUND: Final = re.compile(r"^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SELECT set_config)\b", re.IGNORECASE)
SEEN: Final = (
    "SELECT query, calls FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = %s)"
)


@dataclass(frozen=True, slots=True)
class Statements:
    """How many statements there were, by what they were for."""

    memory: int
    checkpoints: int
    around: int
    """Begin, commit, settings of a transaction: each is a way to the server and back as well."""
    other: int

    @property
    def total(self) -> int:
        return self.memory + self.checkpoints + self.around + self.other


def kind_of(query: str) -> str:
    """What a statement is for: `checkpoints`, `memory`, `around` or `other`."""
    if AROUND.match(query):
        return "around"
    if CHECKPOINTS.search(query):
        return "checkpoints"
    return "memory" if MEMORY.search(query) else "other"


def tally(texts: Mapping[str, int]) -> Statements:
    """`texts` are statements with how often each was made."""
    counts = Counter[str]()
    for query, calls in texts.items():
        counts[kind_of(query)] += calls
    return Statements(counts["memory"], counts["checkpoints"], counts["around"], counts["other"])


@contextmanager
def bench_postgres() -> Generator[TestServer]:
    """A server with a prepared template; `create_database()` gives the DSN of a database of one's own.

    It syncs to disk, as the product's does: what is written must survive, and the time for it belongs to a turn.
    """
    with temporary_directory() as directory:
        server = TestServer(directory, COUNTING)
        try:
            prepare(server)
            yield server
        finally:
            server.close()


async def statements(url: str, work: Callable[[], Awaitable[object]]) -> Statements:
    """What was asked of the database at `url` while `work` ran; nobody else should be at it."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        connection.execute("SELECT pg_stat_statements_reset()")
        await work()
        rows = connection.execute(SEEN, [connection.info.dbname]).fetchall()
    return tally({query: calls for query, calls in rows if "pg_stat_statements" not in query})
