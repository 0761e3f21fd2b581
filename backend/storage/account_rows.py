"""What sign-ins said of users: the table `accounts`."""

from collections.abc import Mapping, Sequence
from typing import Final

from psycopg.types.json import Jsonb

from backend.ids import Json, UserId
from backend.storage.database import Database
from backend.storage.queries import load_queries

QUERIES: Final = load_queries("accounts")


class AccountRows:
    """Every method raises StorageUnavailable when the database does not answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def overlay(self, user_id: UserId) -> Mapping[str, Json]:
        """The keys `name`, `email`, `avatar` and `socials` (names of providers); empty for a user not seen yet."""
        async with self._database.connection() as connection:
            row = await (await connection.execute(QUERIES["overlay"], {"user_id": user_id})).fetchone()
            return row or {}

    async def keep(
        self, user_id: UserId, *, name: str | None, email: str | None, avatar: str | None, socials: Sequence[str]
    ) -> bool:
        """Keep what a sign-in says; whether it was news."""
        values = {"user_id": user_id, "name": name, "email": email, "avatar": avatar, "socials": Jsonb(list(socials))}
        async with self._database.connection() as connection:
            return await (await connection.execute(QUERIES["keep"], values)).fetchone() is not None

    async def forget(self, user_id: UserId) -> None:
        async with self._database.connection() as connection:
            await connection.execute(QUERIES["forget"], {"user_id": user_id})

    async def users(self) -> Sequence[UserId]:
        """Everybody who has signed in and was not erased since."""
        async with self._database.connection() as connection:
            rows = await (await connection.execute(QUERIES["users"])).fetchall()
            return [UserId(row["user_id"]) for row in rows]
