"""Bringing databases up to date."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from backend.errors import SettingsError
from backend.storage.database import Database
from backend.storage.migrate import MIGRATIONS, make_migration, prepare
from backend.storage.pool import Connection
from tests.support.postgres import TestServer, make_database

pytestmark = pytest.mark.anyio


@pytest.fixture
async def empty_url(postgres_server: TestServer) -> AsyncIterator[str]:
    """A database with nothing in it."""
    url = postgres_server.create_database(template="template0")
    yield url
    postgres_server.drop_database(url)


async def rows(connection: Connection, query: str) -> list[object]:
    found = await (await connection.execute(query.encode())).fetchall()
    return [next(iter(row.values())) for row in found]


TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
APPLIED = "SELECT name FROM afterthought_migrations ORDER BY 1"


async def test_an_empty_database_gets_all_that_is_needed(empty_url: str):
    database = make_database(empty_url)
    async with database.running():
        assert {"pg_trgm", "unaccent", "vector"} <= (await database.extensions()).keys()
        async with database.connection() as connection:
            assert await rows(connection, APPLIED) == [migration.name for migration in MIGRATIONS]
            expected = {
                "accounts",
                "checkpoint_blobs",
                "checkpoint_writes",
                "checkpoints",
                "store",
                "summarized_threads",
            }
            assert expected <= set(await rows(connection, TABLES))


async def test_many_may_prepare_a_database_at_once(empty_url: str):
    await asyncio.gather(*(make_database(empty_url).prepare() for _ in range(6)))


async def test_preparing_again_changes_nothing(database: Database):
    async with database.connection() as connection:
        before = await rows(connection, "SELECT applied_at FROM afterthought_migrations ORDER BY 1")
        await database.prepare()
        assert await rows(connection, "SELECT applied_at FROM afterthought_migrations ORDER BY 1") == before


async def test_vectors_of_a_version_that_kept_no_scope_with_them_are_made_again(database: Database):
    before = (
        "DROP TABLE memory_embeddings CASCADE",
        "CREATE TABLE memory_embeddings (memory_id uuid, model text, version integer, embedding halfvec)",
        """
        CREATE FUNCTION memory_meanings(of_scope text, of_model text, vector real[])
        RETURNS TABLE (memory_id uuid, similarity real) LANGUAGE sql STABLE
        BEGIN ATOMIC SELECT memory_id, 1::real FROM memory_embeddings WHERE model = of_model; END
        """,
    )
    async with database.connection() as connection:
        for statement in before:
            await connection.execute(statement.encode())
        await database.prepare()
        assert await rows(connection, "SELECT scope FROM memory_embeddings") == []
        assert await rows(connection, "SELECT memory_id FROM memory_meanings('ana', 'm', '[1, 0]', 8)") == []


async def test_a_migration_that_fails_leaves_nothing_and_can_be_put_right(database: Database):
    name = f"{len(MIGRATIONS) + 1:04}_next"
    wrong = make_migration(name, "CREATE TABLE next (a int); INSERT INTO no_such_table VALUES (1);")
    right = make_migration(name, "CREATE TABLE next (a int); INSERT INTO next VALUES (1);")
    async with await database.connect() as connection:
        with pytest.raises(psycopg.errors.UndefinedTable):
            await prepare(connection, [*MIGRATIONS, wrong])
        assert "next" not in await rows(connection, TABLES)
    async with await database.connect() as connection:
        await prepare(connection, [*MIGRATIONS, right])
        assert await rows(connection, "SELECT a FROM next") == [1]


async def test_a_database_of_a_newer_version_stops_the_start(database: Database, database_url: str):
    async with database.connection() as connection:
        await connection.execute("INSERT INTO afterthought_migrations (name, checksum) VALUES ('9999_later', '')")
    with pytest.raises(SettingsError, match="9999_later"):
        async with make_database(database_url).running():
            pass


async def test_a_user_who_may_not_create_tables_is_a_wrong_setting(postgres_server: TestServer, empty_url: str):
    with psycopg.connect(postgres_server.url, autocommit=True) as administrator:
        administrator.execute("DROP ROLE IF EXISTS reader")
        administrator.execute("CREATE ROLE reader LOGIN")
    with pytest.raises(SettingsError, match="DATABASE_URL: its user may not create tables"):
        await make_database(empty_url.replace("postgres@", "reader@")).prepare()


async def test_an_extension_that_is_not_permitted_stops_nothing(postgres_server: TestServer, empty_url: str):
    """An ordinary owner may create trusted extensions only, and `vector` is none in every version."""
    name = str(conninfo_to_dict(empty_url)["dbname"])
    with psycopg.connect(postgres_server.url, autocommit=True) as administrator:
        administrator.execute("DROP ROLE IF EXISTS owner")
        administrator.execute("CREATE ROLE owner LOGIN")
        administrator.execute(sql.SQL("ALTER DATABASE {} OWNER TO owner").format(sql.Identifier(name)))
    database = make_database(empty_url.replace("postgres@", "owner@"))
    async with database.running():
        assert await database.server_version()


async def test_times_come_back_aware_and_in_utc(database: Database):
    async with database.connection() as connection:
        await connection.execute("INSERT INTO accounts (user_id) VALUES ('ana')")
        (created_at,) = await rows(connection, "SELECT updated_at FROM accounts")
        assert str(getattr(created_at, "tzinfo", None)) in ("UTC", "Etc/UTC")
