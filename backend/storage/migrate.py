"""Bringing a database up to date: LangGraph's tables, the extensions that can be had, and our own migrations.

Our migrations are the files `migrations/NNNN_<name>.sql`, applied once each, in order and in a transaction of their
own. A file that was applied is never changed: what is wrong in it is put right by a new one.
"""

import asyncio
import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, cast

import structlog
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.store.postgres.aio import AsyncPostgresStore
from psycopg.errors import InsufficientPrivilege

from backend.errors import SettingsError, StorageUnavailable
from backend.storage.pool import SESSION, Connection
from backend.storage.queries import load_queries

log = structlog.stdlib.get_logger(__name__)

OLDEST_SERVER: Final = 150_000
LOCK_KEY: Final = 0x61_66_74_65_72  # "after"
LOCK_SECONDS: Final = 120

WITHOUT: Final[Mapping[str, str]] = {
    "btree_gin": "recall reads the words of all users together and slows down as they become many",
    "pg_trgm": "recall does not find words with typos",
    "vector": "recall goes by words alone, without embeddings (version 0.7 or newer is needed)",
}
"""The extensions that recall can use, and what it does without each."""
EXTENSIONS: Final = (*WITHOUT, "unaccent")

QUERIES: Final = load_queries("migrate")


@dataclass(frozen=True, slots=True)
class Migration:
    """One file of `migrations/`; the checksum does not depend on how a checkout ends its lines."""

    name: str
    sql: bytes
    checksum: str


def load_migrations() -> Sequence[Migration]:
    """All migrations in the order in which they apply."""
    texts = {
        file.name.removesuffix(".sql"): file.read_text(encoding="utf-8")
        for file in files("backend.storage").joinpath("migrations").iterdir()
        if file.name.endswith(".sql")
    }
    return [make_migration(name, texts[name]) for name in sorted(texts)]


def make_migration(name: str, text: str) -> Migration:
    sql = "\n".join(text.splitlines()).encode()
    return Migration(name=name, sql=sql, checksum=hashlib.sha256(sql).hexdigest())


MIGRATIONS: Final = load_migrations()


async def prepare(
    connection: Connection, migrations: Sequence[Migration] = MIGRATIONS, *, extensions: Sequence[str] = EXTENSIONS
) -> None:
    """Make the database ready to serve; several processes may do so at once, and on a ready one it takes milliseconds.

    The connection must not be a pooled one: the lock is let go of when it closes. Of the extensions named, those are
    created that can be had; what depends on them is made to fit those that are there.

    Raises:
        SettingsError: the server is too old, its user may not create tables, or a newer version was here.
        StorageUnavailable: another process holds the lock for two minutes.
        psycopg.Error: as the driver raises it.
    """
    connection.patience = None  # an index over much data takes long
    await _require_server(connection)
    await _lock(connection)
    try:
        await connection.execute(QUERIES["want_extensions"], {"names": list(extensions)})
        await connection.execute(QUERIES["create_extensions"])
        await _prepare_langgraph(connection)
        await _migrate(connection, migrations)
        await _fit_to_extensions(connection)
    except InsufficientPrivilege:
        raise SettingsError("DATABASE_URL: its user may not create tables in this database") from None


async def _require_server(connection: Connection) -> None:
    row = await (await connection.execute(SESSION["server_version"])).fetchone()
    if row is not None and row["number"] < OLDEST_SERVER:
        raise SettingsError(f"DATABASE_URL: PostgreSQL 15 or newer is needed, this is {row['version']}")


async def _lock(connection: Connection) -> None:
    """Asked for again and again, not waited for: a statement that waits keeps a snapshot, and the indices that are
    built concurrently under the lock wait for every snapshot, this one too.
    """
    end = time.monotonic() + LOCK_SECONDS
    while True:
        row = await (await connection.execute(QUERIES["try_lock"], {"key": LOCK_KEY})).fetchone()
        if row is not None and row["locked"]:
            return
        if time.monotonic() > end:
            raise StorageUnavailable("Another process has been preparing the database for two minutes.")
        await asyncio.sleep(0.05)


async def _prepare_langgraph(connection: Connection) -> None:
    await AsyncPostgresSaver(connection).setup()
    store = AsyncPostgresStore(connection)
    try:
        await store.setup()
    finally:
        await stop_queue(store)


async def stop_queue(store: AsyncPostgresStore) -> None:
    """End the task that every store starts with its construction."""
    task = cast("asyncio.Task[None] | None", store._task)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
    if task is not None:
        task.cancel()
        await asyncio.wait([task])


async def _migrate(connection: Connection, migrations: Sequence[Migration]) -> None:
    await connection.execute(QUERIES["create_journal"])
    rows = await (await connection.execute(QUERIES["applied"])).fetchall()
    applied: Mapping[str, str] = {row["name"]: row["checksum"] for row in rows}
    for migration in outstanding(migrations, applied):
        async with connection.transaction():
            await connection.execute(migration.sql, prepare=False)  # only so may it be several statements
            await connection.execute(QUERIES["record"], {"name": migration.name, "checksum": migration.checksum})
        log.info("migration_applied", name=migration.name)


def outstanding(migrations: Sequence[Migration], applied: Mapping[str, str]) -> Sequence[Migration]:
    """Those that are still to be applied; `applied` is the checksum of each one that was, by name.

    Raises:
        SettingsError: what was applied is not what this program knows.
    """
    known = {migration.name: migration for migration in migrations}
    if unknown := sorted(applied.keys() - known.keys()):
        raise SettingsError(
            f"DATABASE_URL: this database was used by a newer version (it has the migration {unknown[-1]}); "
            "install that version or use another database"
        )
    if changed := sorted(name for name, checksum in applied.items() if known[name].checksum != checksum):
        raise SettingsError(
            f"DATABASE_URL: the migration {changed[0]} is not the one that was applied to this database; "
            "undo the change to its file and add a new migration"
        )
    return [migration for migration in migrations if migration.name not in applied]


async def _fit_to_extensions(connection: Connection) -> None:
    """Functions, table and index of recall as the extensions allow; one line in the log for each that is missing."""
    await connection.execute(QUERIES["fit_to_extensions"])
    rows = await (await connection.execute(QUERIES["usable_extensions"])).fetchall()
    usable = {row["name"] for row in rows}
    for name, effect in WITHOUT.items():
        if name not in usable:
            log.warning("extension_missing", name=name, effect=effect)
