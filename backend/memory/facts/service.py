"""The facts of one user: written under the user's lock, read through the cache (S0, S4)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from pydantic import ValidationError

from backend.errors import Duplicate, InvalidInput, NotFound, StaleVersion
from backend.ids import MemoryId, ThreadId, UserId
from backend.memory.exclusive import ExclusiveWrites
from backend.memory.facts.dedupe import content_hash, folded, same_key, same_text
from backend.memory.facts.limits import FactLimits, require_few, require_room
from backend.memory.facts.record import Fact, FactChanges, FactDraft, Origin
from backend.memory.recall_cache import RecallCache
from backend.memory.redaction import is_only_secret, redact, storable, without_blocks
from backend.memory.scope import scope_label
from backend.storage.memory_rows import Change, Kind, MemoryRow, NewMemory

ALL: Final = "all"
GONE: Final = "there is no such fact"


class FactRows(Protocol):
    """What facts need of storage."""

    async def facts(self, scope: str) -> Sequence[MemoryRow]: ...
    async def save(
        self, scope: str, *, added: Sequence[NewMemory] = (), changed: Sequence[Change] = (), at: datetime
    ) -> Sequence[MemoryRow]: ...
    async def remove(self, scope: str, kind: Kind, memory_id: MemoryId, *, version: int | None = None) -> bool: ...
    async def erase(self, scope: str, kind: Kind, *, at: datetime) -> int: ...
    async def erase_thread(self, scope: str, kind: Kind, thread_id: ThreadId, *, at: datetime) -> int: ...


FactCache = RecallCache[str, tuple[Fact, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Reads and changes raise StorageUnavailable when the database does not answer."""

    user_id: UserId
    rows: FactRows
    writes: ExclusiveWrites
    cache: FactCache
    limits: FactLimits
    clock: Callable[[], datetime]

    async def all(self) -> Sequence[Fact]:
        """The one that changed last first; a warm read asks nothing."""
        return await self.cache.get(self.user_id, ALL, self.stored)

    async def stored(self) -> tuple[Fact, ...]:
        """The same, past the cache."""
        return tuple(_fact(row) for row in await self.rows.facts(self._scope))

    async def create(self, drafts: Sequence[FactDraft], *, origin: Origin) -> Sequence[Fact]:
        """Keep all or none; the facts in the order of the drafts.

        A draft with a key that is known changes what is kept under it, but for what the draft leaves out; if it says
        nothing new, nothing changes.

        Raises:
            InvalidInput: none or too many at once, or nothing but a secret or a block of a prompt.
            Duplicate: another fact says the same; the message names its id.
            LimitReached: there is no room.
        """
        require_few(len(drafts))
        safe = [_safe(draft) for draft in drafts]
        async with self.writes.of(self.user_id):
            before = await self.stored()
            plan = _Plan(before)
            for draft in safe:
                plan.keep(draft, origin)
            require_room(self.limits, before=_contents(before), after=plan.contents)
            saved = await self.rows.save(self._scope, added=plan.added, changed=plan.changed, at=self.clock())
            now = {folded(fact.content): fact for fact in (*map(_fact, saved), *plan.unchanged)}
            return [now[folded(draft.content)] for draft in safe]

    async def change(self, fact_id: MemoryId, changes: FactChanges, *, version: int, origin: Origin) -> Fact:
        """Change what is named of a fact that was read in this version; if nothing is new, it stays in it.

        Raises:
            NotFound, StaleVersion: it is not there, or not any more as it was read.
            InvalidInput, Duplicate, LimitReached: as `create`.
        """
        async with self.writes.of(self.user_id):
            before = await self.stored()
            fact = _in_version(before, fact_id, version)
            draft = _safe(_changed(fact, changes))
            if _is(fact, draft):
                return fact
            others = [other for other in before if other.id != fact_id]
            _require_news(others, draft)
            if other := same_key(others, draft.key):
                raise Duplicate(f"the key {draft.key} is that of another fact, {other.id}; change or delete that one")
            require_room(self.limits, before=_contents(before), after=[*_contents(others), draft.content])
            change = Change(fact_id, version, _new(draft, origin))
            return _fact((await self.rows.save(self._scope, changed=[change], at=self.clock()))[0])

    async def delete(self, fact_id: MemoryId, *, version: int | None = None) -> None:
        """Delete a fact, if a version is named only as it was read. Raises NotFound, StaleVersion."""
        async with self.writes.of(self.user_id):
            _in_version(await self.stored(), fact_id, version)
            if not await self.rows.remove(self._scope, "fact", fact_id, version=version):
                raise NotFound(GONE)

    async def erase(self) -> int:
        """Delete all; how many."""
        async with self.writes.of(self.user_id):
            return await self.rows.erase(self._scope, "fact", at=self.clock())

    async def erase_thread(self, thread_id: ThreadId) -> int:
        """Delete all that were said in a thread; how many."""
        async with self.writes.of(self.user_id):
            return await self.rows.erase_thread(self._scope, "fact", thread_id, at=self.clock())

    @property
    def _scope(self) -> str:
        return scope_label(self.user_id)


class _Plan:
    """What a call makes of the facts that are there, one draft after the other."""

    def __init__(self, before: Sequence[Fact]) -> None:
        self._others = {fact.id: fact for fact in before}
        self.added: list[NewMemory] = []
        self.changed: list[Change] = []
        self.unchanged: list[Fact] = []

    @property
    def contents(self) -> list[str]:
        """Of all facts, as they would be."""
        written = [*self.added, *(change.to for change in self.changed)]
        return [*_contents(self._others.values()), *(memory.content for memory in written), *_contents(self.unchanged)]

    def keep(self, draft: FactDraft, origin: Origin) -> None:
        known = same_key(self._others.values(), draft.key)
        if known is not None:
            draft = _completed(draft, known)
            if _says(known, draft):
                self.unchanged.append(self._others.pop(known.id))
                return
        self._require_once(draft, known)
        if known is None:
            self.added.append(_new(draft, origin))
        else:
            del self._others[known.id]
            self.changed.append(Change(known.id, known.version, _new(draft, origin)))

    def _require_once(self, draft: FactDraft, known: Fact | None) -> None:
        others = [fact for fact in (*self._others.values(), *self.unchanged) if fact is not known]
        _require_news(others, draft)
        digest = content_hash(draft.content)
        for memory in (*self.added, *(change.to for change in self.changed)):
            if memory.content_hash == digest or (draft.key is not None and memory.key == draft.key):
                raise Duplicate("two facts of this call say the same or have the same key; send one of them")


def _require_news(others: Sequence[Fact], draft: FactDraft) -> None:
    if same := same_text(others, draft.content):
        raise Duplicate(f"this is kept already, as {same.id} in version {same.version}; there is nothing to do")


def _safe(draft: FactDraft) -> FactDraft:
    """The draft without credentials and blocks of a prompt; what is left must say something, and still fit."""
    content = _safe_text(draft.content)
    if not content or is_only_secret(content):
        raise InvalidInput("this is nothing but a password, key or token, or a part of a prompt; such is not kept")
    safe: dict[str, object] = {
        "content": content,
        "categories": [text for category in draft.categories if (text := _safe_text(category))],
        "key": _safe_text(draft.key or "") or None,
        "importance": draft.importance,
    }
    try:
        return FactDraft.model_validate({name: safe[name] for name in draft.model_fields_set})
    except ValidationError:
        raise InvalidInput("this is too long once the secrets in it are replaced; say it in fewer words") from None


def _safe_text(text: str) -> str:
    return redact(without_blocks(text)).strip()


def _completed(draft: FactDraft, known: Fact) -> FactDraft:
    """The draft with what it leaves out as it is kept."""
    kept = {"categories": tuple(known.categories), "importance": known.importance}
    return draft.model_copy(update={name: kept[name] for name in kept.keys() - draft.model_fields_set})


def _changed(fact: Fact, changes: FactChanges) -> FactDraft:
    """A key that is named as None goes; anything else that is None stays."""
    kept = {"content": fact.content, "categories": fact.categories, "key": fact.key, "importance": fact.importance}
    named = changes.model_dump(exclude_unset=True)
    return FactDraft.model_validate(
        {**kept, **{name: value for name, value in named.items() if value is not None or name == "key"}}
    )


def _is(fact: Fact, draft: FactDraft) -> bool:
    return (fact.content, fact.key) == (draft.content, draft.key) and _says(fact, draft)


def _says(fact: Fact, draft: FactDraft) -> bool:
    """Whether the draft brings nothing new, whatever its spelling."""
    same = folded(fact.content) == folded(draft.content) and tuple(fact.categories) == draft.categories
    return same and abs(fact.importance - draft.importance) < 1e-6  # noqa: PLR2004 - it is kept in four bytes


def _in_version(facts: Sequence[Fact], fact_id: MemoryId, version: int | None) -> Fact:
    fact = next((fact for fact in facts if fact.id == fact_id), None)
    if fact is None:
        raise NotFound(GONE)
    if version is not None and fact.version != version:
        raise StaleVersion(f"it was changed meanwhile and is in version {fact.version}; read it again and repeat")
    return fact


def _new(draft: FactDraft, origin: Origin) -> NewMemory:
    return NewMemory(
        kind="fact",
        content=draft.content,
        content_hash=content_hash(draft.content),
        key=draft.key,
        categories=draft.categories,
        importance=draft.importance,
        said_by=origin.said_by,
        thread_id=origin.thread_id,
        turn=origin.turn,
        message_ids=[storable(message_id) for message_id in origin.message_ids],
    )


def _fact(row: MemoryRow) -> Fact:
    return Fact(
        id=row.id,
        content=row.content,
        categories=tuple(row.categories),
        key=row.key,
        importance=row.importance,
        version=row.version,
        said_by=row.said_by,
        thread_id=row.thread_id,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _contents(facts: Iterable[Fact]) -> list[str]:
    return [fact.content for fact in facts]
