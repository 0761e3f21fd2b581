"""The state of the background graph: what one finished turn leaves to be done."""

from typing import NotRequired

from typing_extensions import TypedDict


class EarlierTurn(TypedDict):
    """A turn that was handed over before, once more; the fields are those of `FinishedTurn`."""

    message_ids: list[str]
    human_count: int
    user_text: str
    assistant_text: str
    finished_at: str


class FinishedTurn(TypedDict):
    """The input, as `backend.chat.dispatch.finished_turn` makes it; nothing is ever written back."""

    thread_id: str
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
    covered_end: NotRequired[int]
    """The last turn that summaries covered in this branch when the turn ended, -1 for none; missing when unknown."""
    recalled_ids: NotRequired[list[str]]
    """The facts and episodes that the answer was given; missing when there were none."""
    earlier: NotRequired[list[EarlierTurn]]
    """The turns before this one, the oldest first: their runs may have been lost."""


class NothingNew(TypedDict):
    """What background nodes return: they act on what is stored, never on a thread's state."""
