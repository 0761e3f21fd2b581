"""The profile: one flat JSON document about the user, and what changing it gives back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from backend.ids import Json

Document = Mapping[str, Json]
"""Keys and values of a profile: as stored, or merged with what the account says."""

PatchOp = Literal["add", "replace", "remove"]


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """What the store held; not `readable` when it was no JSON object, which must not be overwritten unnoticed."""

    document: Document
    readable: bool = True


@dataclass(frozen=True, slots=True)
class AppliedPatch:
    """A patch that ran on the merged view, with what stood at its key just before."""

    op: PatchOp
    path: str
    value: Json
    old_value: Json
    existed: bool

    def as_json(self) -> dict[str, Json]:
        """`value` is missing for `remove`, `old_value` for an `add` of a new key: missing is not null."""
        new: dict[str, Json] = {} if self.op == "remove" else {"value": self.value}
        old: dict[str, Json] = {"old_value": self.old_value} if self.existed else {}
        return {"op": self.op, "path": self.path, **old, **new}


@dataclass(frozen=True, slots=True)
class SavedProfile:
    """What `save_memory` tells the model after a change (S1).

    `bytes` and `key_count` are of the stored document alone, `before` and `after` are merged views.
    """

    bytes: int
    key_count: int
    before: Document
    after: Document
    patches: Sequence[AppliedPatch]

    def as_json(self) -> dict[str, Json]:
        return {
            "ok": True,
            "bytes": self.bytes,
            "key_count": self.key_count,
            "before": self.before,
            "after": self.after,
            "patches": [patch.as_json() for patch in self.patches],
        }


def read_stored(stored: object) -> StoredProfile:
    """The profile in a value of the store; nothing stored is an empty profile, anything but an object is unreadable."""
    if stored is None:
        return StoredProfile({})
    if not isinstance(stored, Mapping):
        return StoredProfile({}, readable=False)
    return StoredProfile(dict(cast("Mapping[str, Json]", stored)))
