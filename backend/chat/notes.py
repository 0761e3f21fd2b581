"""Notes: what memory adds to human messages as they are sent, behind the user's own words; the state has none of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from langchain_core.messages import BaseMessage

from backend.llm.prompts import Prompts
from backend.memory.sent_memory import Note

EMPTY: Final = Note()


def with_notes(
    messages: Sequence[BaseMessage], notes: Mapping[str, Note], *, text_of_note: Callable[[Note], str]
) -> list[BaseMessage]:
    """The messages as sent, each with the note that is kept for its id; the others as they are."""
    return [_with_note(message, notes.get(message.id or "", EMPTY), text_of_note) for message in messages]


def note_text(note: Note, *, prompts: Prompts) -> str:
    """The note's blocks; empty for an empty note."""
    return prompts.render(
        "chat/note", changes="\n".join(note.changes), recalled="\n".join(item.line for item in note.recalled)
    ).strip()


def _with_note(message: BaseMessage, note: Note, text_of_note: Callable[[Note], str]) -> BaseMessage:
    text = text_of_note(note) if note.changes or note.recalled else ""
    if not text:
        return message
    content = message.content
    added = f"{content}\n\n{text}" if isinstance(content, str) else [*content, {"type": "text", "text": text}]
    return message.model_copy(update={"content": added})
