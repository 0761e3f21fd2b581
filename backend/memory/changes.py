"""Changes of users' memory, as those who watch one hear of them: that there was one, never what it was."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from backend.errors import LimitReached
from backend.ids import UserId

MAX_WATCHES: Final = 20
"""Of one user in this process. A page has one; more are pages that were left without a word, or a client gone wrong."""


class Watch:
    """One who watches a user's memory; changes that were not asked for yet count as one."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def tell(self) -> None:
        """Memory has changed."""
        self._changed.set()

    async def changed(self, *, within: float) -> bool:
        """Return True as soon as memory has changed since the last True, or False after so many seconds."""
        try:
            await asyncio.wait_for(self._changed.wait(), within)
        except TimeoutError:
            return False
        self._changed.clear()
        return True


class Changes:
    """Who watches whose memory in this process. All of it happens in one event loop: that of the server."""

    def __init__(self, *, max_watches: int = MAX_WATCHES) -> None:
        self._max_watches = max_watches
        self._watches: dict[UserId, set[Watch]] = {}

    @contextmanager
    def watch(self, user_id: UserId) -> Generator[Watch]:
        """Watch a user's memory while the block runs.

        Raises:
            LimitReached: there are as many watches of the user as there may be.
        """
        watches = self._watches.setdefault(user_id, set())
        if len(watches) >= self._max_watches:
            raise LimitReached(f"{self._max_watches} streams of events are open already; close one first")
        watch = Watch()
        watches.add(watch)
        try:
            yield watch
        finally:
            watches.discard(watch)
            if not watches:
                self._watches.pop(user_id, None)

    def tell(self, user_id: UserId | None) -> None:
        """The memory of a user has changed; None when it is not known whose."""
        told = [user_id] if user_id is not None else list(self._watches)
        for watch in [watch for one in told for watch in self._watches.get(one, ())]:
            watch.tell()

    def __len__(self) -> int:
        """How many watches there are."""
        return sum(len(watches) for watches in self._watches.values())
