"""What a thread's calls were sent of facts and recalled items, kept with the thread so that it is sent the same again.

A provider's cache holds only while a prompt begins as the one before (S4). So nothing that was sent is taken back or
moved: what is new goes to the newest human message, and the rest stays where it was.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import TypeAdapter, ValidationError

from backend.ids import MemoryId
from backend.memory.redaction import guard_text


@dataclass(frozen=True, slots=True)
class SentItem:
    """A recalled fact or episode, and the line that was sent of it."""

    id: MemoryId
    version: int
    line: str


@dataclass(frozen=True, slots=True)
class Note:
    """What goes with one human message as it is sent, behind the user's own words."""

    changes: Sequence[str] = ()
    """What has become of facts since the block of facts was read, a line each."""
    recalled: Sequence[SentItem] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMemory:
    scope: str
    """Whose memory it is; with another user, all is read anew."""
    cut: int
    """The turn from which messages were sent when the block of facts was read."""
    facts: str
    """The lines of the block of facts; empty for no block."""
    versions: Mapping[MemoryId, int]
    """The facts that were there, in the version last sent; negative for those that were left out for space, 0
    for those that the thread was told have gone.
    """
    notes: Mapping[str, Note]
    """By the id of the human message; an empty one says that nothing was found for it."""
    checked: str
    """The state of the user's memory in which the recalled items were last known to be there."""

    @property
    def recalled_ids(self) -> frozenset[MemoryId]:
        return frozenset(item.id for note in self.notes.values() for item in note.recalled)

    @property
    def recalled_chars(self) -> int:
        """What the lines of recalled items take, their line breaks included."""
        return sum(len(item.line) + 1 for note in self.notes.values() for item in note.recalled)

    def without_items(self, gone: Iterable[MemoryId]) -> "SentMemory":
        """The same, without what was erased: that is not sent again, whatever it costs."""
        lost = frozenset(gone)
        return replace(self, notes={key: _without(note, lost) for key, note in self.notes.items()}) if lost else self

    def of_messages(self, message_ids: Iterable[str | None]) -> "SentMemory":
        """The same, with the notes of these messages only."""
        kept = frozenset(message_ids)
        return replace(self, notes={key: note for key, note in self.notes.items() if key in kept})

    def as_state(self) -> dict[str, object]:
        """Plain JSON, for a channel of a graph's state."""
        return SENT_MEMORY.dump_python(self, mode="json")


SENT_MEMORY: Final = TypeAdapter(SentMemory)


def sent_memory_in(value: object) -> SentMemory | None:
    """What `as_state` gave; None for anything else, since clients may write a thread's state.

    Lines are guarded when they are made, so what could open or close a block was not made here.
    """
    if value is None:
        return None
    try:
        sent = SENT_MEMORY.validate_python(value)
    except ValidationError:
        return None
    return sent if all(guard_text(line) == line for line in _lines(sent)) else None


def _lines(sent: SentMemory) -> Iterator[str]:
    yield sent.facts
    for note in sent.notes.values():
        yield from note.changes
        yield from (item.line for item in note.recalled)


def _without(note: Note, gone: frozenset[MemoryId]) -> Note:
    return replace(note, recalled=[item for item in note.recalled if item.id not in gone])
