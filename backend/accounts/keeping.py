"""Keeping what sign-ins say of users, for the overlay of the profile (S1)."""

from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from cachetools import TTLCache

from backend.accounts.authentication import Authenticator
from backend.accounts.identity import Identity
from backend.ids import UserId
from backend.observability.best_effort import best_effort

REMEMBERED_USERS: Final = 10_000
REMEMBERED_SECONDS: Final = 3_600


class AccountRows(Protocol):
    """What is needed of storage."""

    async def keep(
        self, user_id: UserId, *, name: str | None, email: str | None, avatar: str | None, socials: Sequence[str]
    ) -> bool: ...


class AccountKeeper:
    """Writes an identity that this process has not seen for an hour, or not so: most requests write nothing."""

    def __init__(self, *, rows: AccountRows, changed: Callable[[UserId], Awaitable[None]]) -> None:
        """`changed` is told of users whose overlay is another now."""
        self._rows = rows
        self._changed = changed
        self._kept = TTLCache[UserId, Identity](REMEMBERED_USERS, REMEMBERED_SECONDS)
        self._is_open = False

    @contextmanager
    def open(self) -> Generator[None]:
        """Identities are kept while the block runs, for which the database must be up to date."""
        self._is_open = True
        try:
            yield
        finally:
            self._is_open = False

    async def keep(self, identity: Identity) -> None:
        """Never fails a request: without the database the overlay stays as it was, and the next request tries again."""
        user_id = identity.user_id
        if not self._is_open or user_id is None or identity.is_service or self._kept.get(user_id) == identity:
            return
        self._kept[user_id] = identity  # before it is written, so that a drop meanwhile is not lost
        done = False
        try:
            async with best_effort("keep_account", user_id=user_id):
                await self._write(user_id, identity)
                done = True
        finally:
            if not done:
                self.drop(user_id)

    def drop(self, user_id: UserId | None) -> None:
        """What is stored of a user, or of somebody, may have changed or gone: the next sign-in is kept again."""
        if user_id is None:
            self._kept.clear()
        else:
            self._kept.pop(user_id, None)

    async def _write(self, user_id: UserId, identity: Identity) -> None:
        if await self._rows.keep(
            user_id, name=identity.name, email=identity.email, avatar=identity.avatar, socials=identity.socials
        ):
            await self._changed(user_id)


class KeepingAuthenticator:
    """Signs in as another authenticator does, and keeps what the sign-in says."""

    def __init__(self, authenticator: Authenticator, *, accounts: AccountKeeper) -> None:
        self._authenticator = authenticator
        self._accounts = accounts

    async def authenticate(self, authorization: str | None) -> Identity:
        identity = await self._authenticator.authenticate(authorization)
        await self._accounts.keep(identity)
        return identity
