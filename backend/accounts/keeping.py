"""Keeping what sign-ins say of users, for the overlay of the profile (S1)."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from cachetools import TTLCache

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

    async def keep(self, identity: Identity) -> None:
        """Never fails a request: without the database the overlay stays as it was, and the next request tries again."""
        user_id = identity.user_id
        if user_id is None or identity.is_service or self._kept.get(user_id) == identity:
            return
        async with best_effort("keep_account", user_id=user_id):
            if await self._rows.keep(
                user_id, name=identity.name, email=identity.email, avatar=identity.avatar, socials=identity.socials
            ):
                await self._changed(user_id)
            self._kept[user_id] = identity

    def forget(self, user_id: UserId) -> None:
        """The user was erased: the next sign-in is kept again."""
        self._kept.pop(user_id, None)
