"""Thread summaries as they are stored and as a model writes them, and the text that people and prompts see of one."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from backend.ids import Json

TURN_BASED: Final = "turn_based"
MAX_NUMBER: Final = 2**31 - 1
"""A row with a larger sequence or index is damaged; the next row could not be counted on from it."""


class SummaryEntry(BaseModel):
    """One question of the conversation and what came of it."""

    model_config = ConfigDict(frozen=True)

    question: str = Field(description="What the user asked or told, in the conversation's language")
    answer: str = Field(description="What was answered, found or decided, with names, numbers and dates")
    refs: list[str] = Field(description='Labels of the turns this comes from, such as "#3"')


class SummaryEntries(BaseModel):
    """What a pass asks the model for, and what is stored of its answer, verbatim (S1)."""

    model_config = ConfigDict(frozen=True)

    entries: list[SummaryEntry] = Field(description="The turns compressed, in order; related turns in one entry")


def _in_utc(instant: datetime) -> datetime:
    """Stamps without a zone were written in UTC, whatever the zone of the machine that reads them."""
    try:
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except OverflowError:
        raise ValueError("is no time in UTC") from None


Number = Annotated[int, Field(ge=0, le=MAX_NUMBER)]


class SummaryRow(BaseModel):
    """One pass over the human turns `start_message_index` to `end_message_index` (0-based, both included).

    `message_ids` are the ids of those human messages in order; `excerpt_digest` stands for all that was read, so that
    an answer which was regenerated or edited under the same ids is noticed. Rows without one are judged by their ids.
    """

    model_config = ConfigDict(frozen=True)

    thread_id: str
    sequence: Number
    start_message_index: Number
    end_message_index: Number
    message_count: int
    message_ids: list[str]
    summary: SummaryEntries
    trigger_reason: str = TURN_BASED
    token_count_before: int = 0
    token_count_after: int = 0
    created_at: Annotated[datetime, AfterValidator(_in_utc)]
    excerpt_digest: str | None = None

    def as_json(self) -> dict[str, Json]:
        """The row as stored: JSON types, the stamp in UTC with its offset."""
        return self.model_dump(mode="json")


def read_rows(stored: Iterable[object]) -> list[SummaryRow]:
    """The rows that can be read, ordered by sequence as a number; the others are skipped."""
    rows = [row for value in stored if (row := read_row(value)) is not None]
    return sorted(rows, key=lambda row: (row.sequence, row.created_at))


def read_row(stored: object) -> SummaryRow | None:
    """One stored row, or None when it does not validate."""
    try:
        return SummaryRow.model_validate(stored)
    except ValidationError:
        return None


def next_sequence(rows: Iterable[SummaryRow], *, keys: Iterable[str] = ()) -> int:
    """A number above every row's and above those in `keys` (`<thread_id>:<sequence>`), whose rows may not read."""
    numbers = [key.rpartition(":")[2] for key in keys]
    known = [row.sequence for row in rows] + [int(number) for number in numbers if number.isdecimal()]
    return max(known, default=0) + 1


def entries_text(entries: Sequence[SummaryEntry]) -> str:
    """The entries of one pass as the prompt and the page show them: question and answer with their labels."""
    return "\n".join(_entry_text(entry) for entry in entries)


def _entry_text(entry: SummaryEntry) -> str:
    labels = f" ({', '.join(entry.refs)})" if entry.refs else ""
    return f"Q{labels}: {_without_blank_lines(entry.question)}\nA: {_without_blank_lines(entry.answer)}"


def _without_blank_lines(text: str) -> str:
    """A blank line stands between passes only."""
    return "\n".join(line for line in text.splitlines() if line.strip())
