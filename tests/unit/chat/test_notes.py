"""Notes go with messages as they are sent."""

from langchain_core.messages import BaseMessage, HumanMessage

from backend.chat.notes import with_notes
from backend.memory.sent_memory import Note


def test_a_message_without_a_note_is_sent_as_it_is_and_nothing_is_rendered_for_it() -> None:
    rendered: list[Note] = []

    def render(note: Note) -> str:
        rendered.append(note)
        return "a note"

    messages: list[BaseMessage] = [HumanMessage("one", id="1"), HumanMessage("two", id="2"), HumanMessage("three")]
    sent = with_notes(messages, {"2": Note(changes=("new: x",)), "1": Note()}, text_of_note=render)
    assert [message.content for message in sent] == ["one", "two\n\na note", "three"]
    assert len(rendered) == 1
