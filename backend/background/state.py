"""The state of the background graph: what one finished turn leaves to be done."""

from typing import NotRequired

from typing_extensions import TypedDict


class SaidTurn(TypedDict):
    """A turn with what was said in it."""

    message_ids: list[str]
    """Ids of the turn's messages in the thread's state, the human one first."""
    human_count: int
    """Human turns of the thread so far, this one included."""
    user_text: str
    """In words, credentials redacted and cut; empty when there were none, only an image for one."""
    assistant_text: str
    """The same of what the user got to read."""
    finished_at: str
    """ISO 8601 with offset."""


class FinishedTurn(SaidTurn):
    """The input, as `backend.chat.finished_turn.finished_turn` makes it; nothing is ever written back."""

    thread_id: str
    covered_end: NotRequired[int]
    """The last turn that summaries covered in this branch when the turn ended, -1 for none; missing when unknown."""
    recalled_ids: NotRequired[list[str]]
    """The facts and episodes that the answer was given; missing when there were none."""
    earlier: NotRequired[list[SaidTurn]]
    """The turns before this one, the oldest first: their runs may have been lost."""


class NothingNew(TypedDict):
    """What background nodes return: they act on what is stored, never on a thread's state."""
