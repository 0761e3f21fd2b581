"""Facts: one sentence each, worth keeping, in the words in which it was told (S0, S4)."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from backend.ids import Json, MemoryId
from backend.memory.redaction import storable

MAX_CONTENT_CHARS: Final = 2_000
MAX_CATEGORIES: Final = 3
MAX_CATEGORY_CHARS: Final = 60
MAX_KEY_CHARS: Final = 128


def _clean(value: object) -> object:
    return storable(value).strip() if isinstance(value, str) else value


def _label(value: object) -> object:
    """Keys and categories are compared, so each has one spelling: composed characters, single spaces."""
    return " ".join(unicodedata.normalize("NFC", storable(value)).split()) if isinstance(value, str) else value


def _without_slash(category: str) -> str:
    if "/" in category:
        raise ValueError("a category has no slash")
    return category


def _each_once(categories: Sequence[str]) -> tuple[str, ...]:
    return tuple({category.casefold(): category for category in reversed(categories)}.values())[::-1]


Content = Annotated[str, BeforeValidator(_clean), StringConstraints(min_length=1, max_length=MAX_CONTENT_CHARS)]
Category = Annotated[
    str,
    BeforeValidator(_label),
    StringConstraints(min_length=1, max_length=MAX_CATEGORY_CHARS),
    AfterValidator(_without_slash),
]
Categories = Annotated[tuple[Category, ...], Field(max_length=MAX_CATEGORIES), AfterValidator(_each_once)]
Key = Annotated[str, BeforeValidator(_label), StringConstraints(min_length=1, max_length=MAX_KEY_CHARS)]
Importance = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class FactDraft(BaseModel):
    """What a fact is made from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: Content
    categories: Categories = ()
    key: Key | None = None
    importance: Importance = 0.5


class FactChanges(BaseModel):
    """What of a fact becomes something else; what is not named stays, and a key that is named as None goes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: Content | None = None
    categories: Categories | None = None
    key: Key | None = None
    importance: Importance | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Who said it, and where."""

    said_by: str
    """`user`, or `assistant` for what the model saved."""
    thread_id: str | None = None
    turn: int | None = None
    message_ids: Sequence[str] = ()


ON_THE_PAGE: Final = Origin(said_by="user")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact as it is kept; its version counts its changes."""

    id: MemoryId
    content: str
    categories: Sequence[str]
    key: str | None
    importance: float
    version: int
    said_by: str
    thread_id: str | None
    created_at: datetime
    updated_at: datetime

    def as_json(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "content": self.content,
            "categories": list(self.categories),
            "key": self.key,
            "importance": self.importance,
            "version": self.version,
            "said_by": self.said_by,
            "thread_id": self.thread_id,
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
        }
