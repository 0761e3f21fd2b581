"""How much of facts a scope may keep."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from backend.errors import InvalidInput, LimitReached

MAX_IN_ONE_CALL: Final = 5


@dataclass(frozen=True, slots=True)
class FactLimits:
    count: int
    chars: int
    """Of the contents of all facts together."""


def require_room(limits: FactLimits, *, before: Sequence[str], after: Sequence[str]) -> None:
    """Whether the contents `after` a change may be kept; one that makes an excess smaller always may.

    Raises:
        LimitReached: the message says which limit, and what to do.
    """
    if len(after) > max(limits.count, len(before)):
        raise LimitReached(f"there is room for {limits.count} facts; delete or change one that is not needed any more")
    chars = _chars(after)
    if chars > max(limits.chars, _chars(before)):
        raise LimitReached(
            f"all facts together may have {limits.chars} characters and would have {chars}; shorten or delete some"
        )


def require_few(count: int) -> None:
    """Raises InvalidInput: not between one fact and `MAX_IN_ONE_CALL` at once."""
    if not 1 <= count <= MAX_IN_ONE_CALL:
        raise InvalidInput(f"between 1 and {MAX_IN_ONE_CALL} facts can be saved at once, not {count}")


def _chars(contents: Sequence[str]) -> int:
    return sum(map(len, contents))
