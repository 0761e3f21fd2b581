"""The two halves of a profile: what is stored, and what the account says where nothing is stored."""

from collections.abc import Iterable
from typing import Final

from backend.errors import ProfileTooLarge
from backend.ids import Json
from backend.memory.profile.record import AppliedPatch, Document
from backend.memory.redaction import compact_json

OVERLAY_KEYS: Final = ("name", "email", "avatar", "socials")
"""What an account can fill in, in the order in which it is shown (S1)."""


def merge(stored: Document, overlay: Document) -> dict[str, Json]:
    """The merged view: the account's keys first, then the other stored ones in their order; what is stored wins.

    A stored null counts as stored. An account value that is null, blank or empty fills nothing.
    """
    filled = {key: overlay[key] for key in filled_keys(stored, overlay)}
    known: dict[str, Json] = {**filled, **stored}
    first = [key for key in OVERLAY_KEYS if key in known]
    return {key: known[key] for key in (*first, *(key for key in stored if key not in OVERLAY_KEYS))}


def filled_keys(stored: Document, overlay: Document) -> list[str]:
    """The keys of the merged view that come from the account only, in its order."""
    return [key for key in OVERLAY_KEYS if key not in stored and key in overlay and not _is_blank(overlay[key])]


def store_only(after: Document, stored: Document, patches: Iterable[AppliedPatch]) -> dict[str, Json]:
    """What of a patched view is written back: keys that were stored or that a patch touched.

    Without this every save would copy the account into the store, where it would no longer follow the account (S1).
    """
    touched = {patch.path.removeprefix("/") for patch in patches}
    return {key: value for key, value in after.items() if key in stored or key in touched}


def size_bytes(document: Document) -> int:
    """The size that is limited: UTF-8 bytes of compact JSON, other scripts unescaped."""
    return len(compact_json(document).encode("utf-8"))


def check_size(document: Document, *, stored: Document, maximum_bytes: int) -> int:
    """The size of the document that is to replace `stored`, in bytes.

    Raises:
        ProfileTooLarge: it is over the maximum and does not make a profile smaller that was already over it.
    """
    attempted = size_bytes(document)
    if attempted <= maximum_bytes or attempted < size_bytes(stored):
        return attempted
    raise ProfileTooLarge(
        f"the profile would have {attempted} bytes and may have {maximum_bytes}, so nothing was changed. "
        "Save less, or remove or shorten other keys in the same call.",
        attempted_bytes=attempted,
        maximum_bytes=maximum_bytes,
    )


def _is_blank(value: Json) -> bool:
    return value is None or (isinstance(value, str) and not value.strip()) or value in ([], {}, ())
