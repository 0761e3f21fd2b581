"""Episodes: every finished turn with words on both sides, kept as it was said; never changed, only deleted (S0)."""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from backend.errors import InvalidInput, NotFound
from backend.ids import Json, MemoryId, ThreadId, UserId
from backend.llm.messages import shorten
from backend.memory.exclusive import ExclusiveWrites
from backend.memory.redaction import redact, storable, without_blocks
from backend.memory.scope import scope_label
from backend.storage.memory_rows import Kind, MemoryRow, NewMemory, Place

MAX_USER_CHARS: Final = 4_000
MAX_ASSISTANT_CHARS: Final = 8_000
ALL_PAGE: Final = 500
IMPORTANCE: Final = 0.3
"""Below a fact's: what happened to be said is worth less than what somebody chose to keep."""

RECORDED_WITHIN: Final = timedelta(hours=12)
"""After a turn. What says that it was deleted or erased is kept for longer, but not for ever."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CURSOR: Final = re.compile(r"\A(-?[0-9]{1,18})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\Z")


class EpisodeRows(Protocol):
    """What episodes need of storage."""

    async def episodes(self, scope: str, *, limit: int, after: Place | None = None) -> Sequence[MemoryRow]: ...
    async def record(self, scope: str, memory: NewMemory, *, at: datetime) -> bool: ...
    async def forget(self, scope: str, memory_id: MemoryId, *, at: datetime) -> bool: ...
    async def erase(self, scope: str, kind: Kind, *, at: datetime) -> int: ...
    async def erase_thread(self, scope: str, kind: Kind, thread_id: ThreadId, *, at: datetime) -> int: ...
    async def touch(self, scope: str, memory_ids: Sequence[MemoryId], *, at: datetime) -> None: ...
    async def known(self, scope: str, memory_ids: Sequence[MemoryId]) -> frozenset[MemoryId]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedWords:
    """What was said in a turn, and where."""

    thread_id: ThreadId
    turn: int
    """The human turn of the thread, 0-based."""
    message_ids: Sequence[str]
    user_text: str
    assistant_text: str
    finished_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    id: MemoryId
    content: str
    thread_id: str | None
    turn: int | None
    created_at: datetime

    def as_json(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "content": self.content,
            "thread_id": self.thread_id,
            "turn": self.turn,
            "created_at": self.created_at.isoformat(),
        }


@dataclass(frozen=True, slots=True)
class EpisodePage:
    episodes: Sequence[Episode]
    """The newest first."""
    next: str | None
    """What to ask for the page behind this one with, safe in a URL; None on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episodes:
    """Reads and changes raise StorageUnavailable when the database does not answer."""

    user_id: UserId
    rows: EpisodeRows
    writes: ExclusiveWrites
    clock: Callable[[], datetime]

    async def record(self, said: FinishedWords) -> bool:
        """Keep a turn; False when it is kept already, one side said nothing, or it was deleted or erased meanwhile.

        The last is known for longer than `RECORDED_WITHIN` after a turn; what comes later is not to be recorded.
        """
        user_text = _side(said.user_text, MAX_USER_CHARS)
        assistant_text = _side(said.assistant_text, MAX_ASSISTANT_CHARS)
        if not user_text or not assistant_text:
            return False
        content = f"User: {user_text}\nAssistant: {assistant_text}"
        episode = NewMemory(
            kind="episode",
            content=content,
            content_hash=_identity(content, said.message_ids),
            importance=IMPORTANCE,
            thread_id=said.thread_id,
            turn=said.turn,
            message_ids=[storable(message_id) for message_id in said.message_ids],
        )
        return await self.rows.record(self._scope, episode, at=said.finished_at)

    async def page(self, *, limit: int, after: str | None = None) -> EpisodePage:
        """So many of the newest, or of those behind the page that gave `after` as its `next`.

        What was deleted or pruned since does not matter: the page goes on behind the place where it stood.

        Raises:
            InvalidInput: no page gives such an `after`.
        """
        behind = _place_in(after) if after is not None else None
        rows = await self.rows.episodes(self._scope, limit=limit + 1, after=behind)
        more = len(rows) > limit
        return EpisodePage([_episode(row) for row in rows[:limit]], _cursor(_place(rows[limit - 1])) if more else None)

    async def all(self) -> Sequence[Episode]:
        """The newest first."""
        found: list[MemoryRow] = []
        while page := await self.rows.episodes(self._scope, limit=ALL_PAGE, after=_place(found[-1]) if found else None):
            found += page
        return [_episode(row) for row in found]

    async def delete(self, episode_id: MemoryId) -> None:
        """A run of its turn that comes late, or again, does not bring it back. Raises NotFound: there is none such."""
        async with self.writes.of(self.user_id):
            if not await self.rows.forget(self._scope, episode_id, at=self.clock()):
                raise NotFound("there is no such episode")

    async def erase(self) -> int:
        """Delete all; how many."""
        async with self.writes.of(self.user_id):
            return await self.rows.erase(self._scope, "episode", at=self.clock())

    async def erase_thread(self, thread_id: ThreadId) -> int:
        """Delete all of a thread; how many."""
        async with self.writes.of(self.user_id):
            return await self.rows.erase_thread(self._scope, "episode", thread_id, at=self.clock())

    async def touch(self, memory_ids: Sequence[MemoryId], *, at: datetime) -> None:
        """Note that these facts and episodes were used in the turn that was finished then, once for each."""
        if memory_ids:
            await self.rows.touch(self._scope, memory_ids, at=at)

    async def known(self, memory_ids: Iterable[MemoryId]) -> frozenset[MemoryId]:
        """Those of these facts and episodes that are there."""
        return await self.rows.known(self._scope, list(memory_ids))

    @property
    def _scope(self) -> str:
        return scope_label(self.user_id)


def _identity(content: str, message_ids: Sequence[str]) -> bytes:
    """Two turns in which the same is said are two episodes; one turn that is recorded twice is one."""
    return hashlib.sha256("\0".join([content, *message_ids]).encode("utf-8", "surrogatepass")).digest()


def _side(text: str, limit: int) -> str:
    # blocks first: what stood on both sides of one may be a credential together
    return shorten(redact(without_blocks(storable(text))).strip(), limit)


def _place(row: MemoryRow) -> Place:
    return Place(row.created_at, row.id)


def _cursor(place: Place) -> str:
    return f"{(place.created_at - _EPOCH) // timedelta(microseconds=1)}-{place.id}"


def _place_in(cursor: str) -> Place:
    try:
        [(microseconds, memory_id)] = _CURSOR.findall(cursor)
        return Place(_EPOCH + timedelta(microseconds=int(microseconds)), MemoryId(memory_id))
    except (ValueError, OverflowError):
        raise InvalidInput("after is not what a page gave as next") from None


def _episode(row: MemoryRow) -> Episode:
    return Episode(id=row.id, content=row.content, thread_id=row.thread_id, turn=row.turn, created_at=row.created_at)
