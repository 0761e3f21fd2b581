"""A look at the database that changes nothing in it: what `doctor` reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import psycopg

from backend.errors import SettingsError, StorageUnavailable
from backend.storage.database import Database
from backend.storage.migrate import MIGRATIONS, OLDEST_SERVER, WITHOUT, outstanding
from backend.storage.migrate import QUERIES as MIGRATE
from backend.storage.pool import SESSION, Connection
from backend.storage.queries import load_queries

EXTENSIONS: Final = tuple(WITHOUT)

QUERIES: Final = load_queries("inspection")


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found.

    Attributes:
        version: PostgreSQL's, such as "18.1".
        is_new_enough: whether that is one we run on.
        extensions: of those that we can use, the ones the server has, with their versions.
        pending: names of the migrations that the next start applies.
    """

    version: str
    is_new_enough: bool
    extensions: Mapping[str, str]
    pending: Sequence[str]


async def inspect(database: Database) -> Inspection:
    """Look at the database; the embedded server is started for it if it does not run.

    Raises:
        SettingsError: DATABASE_URL or DATA_DIR cannot be used, or a newer version of this program was here.
        StorageUnavailable: the database does not answer; the message says why.
    """
    try:
        async with await database.connect() as connection:
            return await _inspect(connection)
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise StorageUnavailable(f"the database does not answer: {reason}") from error
    except psycopg.ProgrammingError as error:
        if error.sqlstate is not None:
            raise
        raise SettingsError("DATABASE_URL: it is not the address of a PostgreSQL database") from None


async def _inspect(connection: Connection) -> Inspection:
    (server,) = await (await connection.execute(SESSION["server_version"])).fetchall()
    found = await (await connection.execute(QUERIES["extensions"], {"names": list(EXTENSIONS)})).fetchall()
    applied = await _applied(connection)
    return Inspection(
        version=server["version"],
        is_new_enough=server["number"] >= OLDEST_SERVER,
        extensions={row["name"]: row["version"] for row in found},
        pending=[migration.name for migration in outstanding(MIGRATIONS, applied)],
    )


async def _applied(connection: Connection) -> Mapping[str, str]:
    (journal,) = await (await connection.execute(QUERIES["journal"])).fetchall()
    if not journal["found"]:
        return {}
    rows = await (await connection.execute(MIGRATE["applied"])).fetchall()
    return {row["name"]: row["checksum"] for row in rows}
