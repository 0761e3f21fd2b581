"""What was read for the prompt, kept for a short while: a warm turn asks the database nothing.

Three rules keep it honest. Age counts from the load and reads do not renew it, because a renewed entry would stay stale
for ever in a second process. A write drops the entry, here and by NOTIFY elsewhere. A load that began before a drop
never fills the cache after it.
"""

import threading
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

from cachetools import TTLCache

from backend.ids import UserId

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=object)

MAX_ENTRIES: Final = 1_000
MAX_AGE_SECONDS: Final = 60.0


class RecallCache(Generic[K, V]):
    """A cache of what belongs to users; `K` tells a user's things apart. None and failed loads are not kept."""

    def __init__(
        self,
        *,
        max_entries: int = MAX_ENTRIES,
        max_age_seconds: float = MAX_AGE_SECONDS,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._entries: TTLCache[tuple[UserId, K], V] = TTLCache(max_entries, max_age_seconds, timer)
        self._loading: dict[object, UserId] = {}
        # a server may run graphs in several threads, and two at once would break the cache for good
        self._lock = threading.Lock()

    async def get(self, user_id: UserId, key: K, load: Callable[[], Awaitable[V]]) -> V:
        """The kept value, or what `load` gives; an error of `load` passes."""
        ticket = object()
        with self._lock:
            kept = self._entries.get((user_id, key))
            if kept is not None:
                return kept
            self._loading[ticket] = user_id
        try:
            value = await load()
            with self._lock:
                if ticket in self._loading:
                    self._entries[user_id, key] = value
            return value
        finally:
            with self._lock:
                self._loading.pop(ticket, None)

    def drop(self, user_id: UserId | None) -> None:
        """Forget what is kept of a user, or of all when it is not known what has changed."""
        with self._lock:
            for ticket in [ticket for ticket, owner in self._loading.items() if user_id in (None, owner)]:
                del self._loading[ticket]
            for entry in [entry for entry in self._entries if user_id in (None, entry[0])]:
                self._entries.pop(entry, None)
