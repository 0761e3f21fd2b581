"""Search: what of a user's facts and episodes a text is about."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

from backend.ids import MemoryId, ThreadId, UserId
from backend.memory.cues import dates_in, names_in
from backend.memory.scope import scope_label
from backend.storage.memory_rows import KINDS, Kind
from backend.storage.recall_rows import RecallQuery, ScoredRow

MAX_CHARS: Final = 1_000
"""How much of a text is looked for. Of a longer one both ends count: a question stands before or behind a paste."""
LEAST_SHARE: Final = 0.17
LEAST_SIMILARITY: Final = 0.3
"""The floor below which a row is not relevant, see `RecallQuery`.

Chosen on the first five LoCoMo conversations: for 99 of 100 questions the best row holds a larger share than this; of
two dozen questions about other things, a quarter find nothing any more. A higher one costs more than it saves.
"""

Embed = Callable[[str], Awaitable[Sequence[float] | None]]
"""The vector of a text, or None when there is none to be had now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A fact or an episode, and why it was found: the score is the sum of its parts."""

    id: MemoryId
    kind: Kind
    content: str
    key: str | None
    categories: Sequence[str]
    created_at: datetime
    version: int
    score: float
    parts: Mapping[str, float]


class SearchRows(Protocol):
    """What a search needs of storage."""

    async def search(self, scope: str, query: RecallQuery) -> Sequence[ScoredRow]: ...


class Search:
    """Over one user's memory. Words alone find; vectors, where there are any, find more."""

    def __init__(self, user_id: UserId, rows: SearchRows, embed: Embed | None, model: str) -> None:
        """Nothing is read yet.

        Args:
            user_id: whose memory it is.
            rows: the table.
            embed: makes the vectors of queries; None where no embedding model is configured.
            model: the name under which the vectors of rows are stored.
        """
        self._scope = scope_label(user_id)
        self._rows = rows
        self._embed = embed
        self._model = model

    async def find(
        self,
        text: str,
        *,
        limit: int = 8,
        kinds: Sequence[Kind] = KINDS,
        sent_thread: ThreadId | None = None,
        sent_from_turn: int = 0,
        besides: Collection[MemoryId] = (),
    ) -> Sequence[Found]:
        """What is relevant to the text, best first; empty when nothing is. Any text will do.

        Args:
            text: what is asked or said, in any language.
            limit: so many at most.
            kinds: of facts, of episodes, or of both.
            sent_thread: episodes of this thread are left out, from `sent_from_turn` on.
            sent_from_turn: a human turn, 0-based.
            besides: what is known already and left out.

        Raises:
            StorageUnavailable: the database does not answer.
        """
        wanted = shortened(text)
        if not wanted.strip():
            return ()
        query = RecallQuery(
            text=wanted,
            limit=limit,
            kinds=kinds,
            names=names_in(wanted),
            dates=dates_in(wanted, today=datetime.now(UTC).date()),
            vector=await self._embed(wanted) if self._embed else None,
            model=self._model,
            sent_thread=sent_thread,
            sent_from_turn=sent_from_turn,
            besides=sorted(besides),
            least_share=LEAST_SHARE,
            least_similarity=LEAST_SIMILARITY,
        )
        return [_found(scored) for scored in await self._rows.search(self._scope, query)]


def shortened(text: str) -> str:
    """The text, or its beginning and its end when it is longer than `MAX_CHARS`."""
    half = MAX_CHARS // 2
    return text if len(text) <= MAX_CHARS else f"{text[:half]} {text[-half:]}"


def _found(scored: ScoredRow) -> Found:
    row = scored.row
    return Found(
        id=row.id,
        kind=row.kind,
        content=row.content,
        key=row.key,
        categories=row.categories,
        created_at=row.created_at,
        version=row.version,
        score=scored.score,
        parts=scored.parts,
    )
