"""Facts and episodes for a turn: the standing block of the thread, what has changed since, and what a search finds.

What was sent once stays as it was; only what is new goes with the newest human message (S4).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from langchain_core.messages import BaseMessage, ToolMessage
from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from backend.ids import MemoryId, ThreadId
from backend.llm.messages import estimate_tokens, human_positions, shorten, text_of
from backend.memory.facts.record import Fact
from backend.memory.facts.standing import changes, reread
from backend.memory.redaction import guard_json
from backend.memory.scope import scope_label
from backend.memory.search import Found
from backend.memory.sent_memory import Note, SentItem, SentMemory
from backend.memory.user_memory import UserMemory
from backend.observability.best_effort import best_effort
from backend.observability.receipts import BlockReceipt, RecalledReceipt

MAX_RECALLED: Final = 8
"""Items for one turn."""
MAX_RECALLED_CHARS: Final = 24_000
"""What the items of all turns that are still sent may take together. A turn gets half of what is left of it ..."""
LEAST_RECALLED_CHARS: Final = 2_000
"""... or this much where less is left: no turn finds memory closed because others asked before it."""
MAX_SEARCHED: Final = 16
"""So many are read, for some may be longer than there is room for."""
FACT_TOOL: Final = "manage_memory"
"""The tool whose results tell of facts."""


class SentUpdate(TypedDict, total=False):
    """The channel of the state in which a thread keeps `SentMemory`."""

    sent_memory: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentTurn:
    """What is answered now."""

    thread_id: ThreadId | None
    cut: int
    """The turn from which messages are sent."""
    sent: Sequence[BaseMessage]
    human: BaseMessage | None
    """The one that is answered; None in a conversation in which no user has spoken."""

    @property
    def human_id(self) -> str | None:
        return self.human.id if self.human else None


def current_turn(messages: Sequence[BaseMessage], *, thread_id: ThreadId | None, cut: int) -> CurrentTurn:
    """The last turn of a conversation that is sent from turn `cut` on."""
    positions = human_positions(messages)
    if not positions:
        return CurrentTurn(thread_id=thread_id, cut=cut, sent=messages, human=None)
    return CurrentTurn(thread_id=thread_id, cut=cut, sent=messages[positions[cut] :], human=messages[positions[-1]])


@dataclass(frozen=True, slots=True)
class RecalledItems:
    """What is sent of facts and episodes, and how it went; `sent` is None when nobody speaks."""

    sent: SentMemory | None
    facts: BlockReceipt
    recalled: RecalledReceipt

    @property
    def notes(self) -> Mapping[str, Note]:
        return self.sent.notes if self.sent else {}

    def as_update(self) -> SentUpdate:
        """For the thread's state."""
        return {"sent_memory": self.sent.as_state()} if self.sent else {}


OFF: Final = RecalledItems(None, BlockReceipt("off"), RecalledReceipt("off"))


async def recall_items(memory: UserMemory | None, before: SentMemory | None, turn: CurrentTurn) -> RecalledItems:
    """What to send with this call. Within a turn it is decided once, however many calls the turn takes.

    What cannot be read is left out and said so in the receipt; what was sent before stays.
    """
    if memory is None:
        return OFF
    known = _same_user(before, memory)
    sent, facts = await _with_facts(memory, known, turn)
    human_id = turn.human_id
    if sent is None or human_id is None:
        return RecalledItems(sent, facts, RecalledReceipt("unavailable" if sent is None else "empty"))
    if known is not None and human_id in known.notes:
        return RecalledItems(sent, facts, _receipt(sent.notes[human_id]))
    found = await _found(memory, turn, besides=shown_ids(sent))
    items = _new_items(found or (), room=room_for_items(sent))
    sent = replace(
        sent,
        notes={**sent.notes, human_id: replace(sent.notes.get(human_id, Note()), recalled=items)},
        versions={**sent.versions, **{item.id: item.version for item in items if item.id in sent.versions}},
    )
    receipt = RecalledReceipt("unavailable") if found is None else _receipt(sent.notes[human_id])
    return RecalledItems(sent, facts, receipt)


def _same_user(before: SentMemory | None, memory: UserMemory) -> SentMemory | None:
    return before if before is not None and before.scope == scope_label(memory.user_id) else None


async def _with_facts(
    memory: UserMemory, known: SentMemory | None, turn: CurrentTurn
) -> tuple[SentMemory | None, BlockReceipt]:
    """What was sent, with this turn's changes of facts; what was erased since is not in it any more."""
    async with best_effort("recall_facts", user_id=memory.user_id):
        facts = await memory.facts.all()
        sent = await _checked(memory, known, turn)
        sent = _started(memory, sent, facts, turn) if _is_anew(sent, facts, turn) else _continued(sent, facts, turn)
        return sent, _facts_receipt(sent)
    return known, BlockReceipt("unavailable")


async def _checked(memory: UserMemory, known: SentMemory | None, turn: CurrentTurn) -> SentMemory | None:
    """What was sent, without recalled items that were erased since; asked only when the user's memory has changed."""
    if known is None:
        return None
    known = known.of_messages(message.id for message in turn.sent)
    now = await memory.token()
    if known.checked == now or not known.recalled_ids:
        return replace(known, checked=now)
    there = await memory.episodes.known(known.recalled_ids)
    return replace(known.without_items(known.recalled_ids - there), checked=now)


def _is_anew(sent: SentMemory | None, facts: Sequence[Fact], turn: CurrentTurn) -> bool:
    """Whether the block is to be read: for the first time, since the cut has moved, or since nothing of it is left."""
    return sent is None or sent.cut != turn.cut or (not facts and any(sent.versions.values()))


def _started(memory: UserMemory, before: SentMemory | None, facts: Sequence[Fact], turn: CurrentTurn) -> SentMemory:
    block, news = reread(before.versions if before else {}, facts, told=told_by_tools(turn.sent))
    notes = {key: replace(note, changes=()) for key, note in before.notes.items()} if before else {}
    sent = SentMemory(
        scope=scope_label(memory.user_id),
        cut=turn.cut,
        facts=block.lines,
        versions=news.versions,
        notes=notes,
        checked=before.checked if before else "",
    )
    return _noting(sent, turn, news.lines)


def _continued(sent: SentMemory | None, facts: Sequence[Fact], turn: CurrentTurn) -> SentMemory:
    assert sent is not None  # noqa: S101 - told by `_is_anew`
    human_id = turn.human_id
    if human_id in sent.notes:
        return sent
    news = changes(sent.versions, facts, told=told_by_tools(turn.sent))
    return _noting(replace(sent, versions=news.versions), turn, news.lines)


def _noting(sent: SentMemory, turn: CurrentTurn, lines: Sequence[str]) -> SentMemory:
    human_id = turn.human_id
    if not lines or human_id is None:
        return sent
    note = sent.notes.get(human_id, Note())
    return replace(sent, notes={**sent.notes, human_id: replace(note, changes=tuple(lines))})


async def _found(memory: UserMemory, turn: CurrentTurn, *, besides: frozenset[MemoryId]) -> Sequence[Found] | None:
    """What a search finds for the words of the turn; None when it cannot be made."""
    assert turn.human is not None  # noqa: S101 - told by the caller
    async with best_effort("recall_items", user_id=memory.user_id):
        return await memory.search.find(
            text_of(turn.human),
            limit=MAX_SEARCHED,
            sent_thread=turn.thread_id,
            sent_from_turn=turn.cut,
            besides=besides,
        )
    return None


def shown_ids(sent: SentMemory) -> frozenset[MemoryId]:
    """What stands in the prompt already, in the block of facts, in a change line or as a recalled item."""
    return frozenset(fact_id for fact_id, version in sent.versions.items() if version > 0) | sent.recalled_ids


def _new_items(found: Iterable[Found], *, room: int) -> tuple[SentItem, ...]:
    """The best, as far as there is room; where none is short enough, the beginning of the best."""
    best = list(found)
    items = _fitting(best, room=room)
    return items or _fitting([replace(one, content=shorten(one.content, room // 2)) for one in best[:1]], room=room)


def _fitting(found: Iterable[Found], *, room: int) -> tuple[SentItem, ...]:
    items: list[SentItem] = []
    for one in found:
        line = recalled_line(one)
        if len(items) < MAX_RECALLED and len(line) + 1 <= room:
            items.append(SentItem(one.id, one.version, line))
            room -= len(line) + 1
    return tuple(items)


def room_for_items(sent: SentMemory) -> int:
    """How many characters the items of one more turn may take, beside those that are still sent."""
    return max((MAX_RECALLED_CHARS - sent.recalled_chars) // 2, LEAST_RECALLED_CHARS)


def recalled_line(found: Found) -> str:
    """One item on one line: what it is, of which day, and its text as a JSON string."""
    return f"[{found.kind}] {found.created_at.date().isoformat()} {guard_json(found.content)}"


def told_by_tools(messages: Iterable[BaseMessage]) -> Mapping[MemoryId, int | None]:
    """The facts that results of `manage_memory` have told of: their version then, None for deleted."""
    told: dict[MemoryId, int | None] = {}
    for message in messages:
        if isinstance(message, ToolMessage) and message.name == FACT_TOOL:
            told |= _told_by(message)
    return told


class ToolFact(BaseModel):
    """The part of a fact that a result tells of."""

    id: MemoryId
    version: int


class ToolResult(BaseModel):
    """What `manage_memory` answers, as far as it matters here."""

    facts: list[ToolFact] = []
    fact: ToolFact | None = None
    deleted: MemoryId | None = None


def _told_by(message: ToolMessage) -> dict[MemoryId, int | None]:
    try:
        result = ToolResult.model_validate_json(text_of(message))
    except ValidationError:
        return {}
    facts = [*result.facts, *([result.fact] if result.fact else [])]
    told: dict[MemoryId, int | None] = {fact.id: fact.version for fact in facts}
    return {**told, result.deleted: None} if result.deleted else told


def _facts_receipt(sent: SentMemory) -> BlockReceipt:
    shown = sum(1 for version in sent.versions.values() if version > 0)
    lines = [line for note in sent.notes.values() for line in note.changes]
    if not sent.facts and not lines:
        return BlockReceipt("empty")
    return BlockReceipt("used", items=shown, tokens=estimate_tokens("\n".join([sent.facts, *lines])))


def _receipt(note: Note) -> RecalledReceipt:
    if not note.recalled:
        return RecalledReceipt("empty")
    tokens = estimate_tokens("\n".join(item.line for item in note.recalled))
    return RecalledReceipt("used", ids=[item.id for item in note.recalled], tokens=tokens)
