"""How work grows with its input, counted and not timed: a busy machine makes no difference."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def growth(work: Callable[[Any], object], smaller: object, larger: object) -> float:
    """How many times as many lines of Python the larger input runs through."""
    return _lines(work, larger) / _lines(work, smaller)


def _lines(work: Callable[[Any], object], given: object) -> int:
    count = 0

    def note(_frame: FrameType, _event: str, _argument: object) -> Any:
        nonlocal count
        count += 1
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        work(given)
    finally:
        sys.settrace(before)
    return count
