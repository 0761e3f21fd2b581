"""What hypothesis-jsonschema 0.23, under schemathesis, asks of hypothesis and newer ones have in another form only."""

from collections.abc import Iterator
from typing import Any

from hypothesis.internal.conjecture import utils

_ITERATORS = "_of_more"


def allow_more() -> None:
    """Give `many` back its `more()`: whether another element is to be drawn. To be deleted once nobody asks for it."""
    drawing: Any = utils.many
    if not hasattr(drawing, "more"):
        drawing.more = _more


def _more(elements: Any) -> bool:
    if not hasattr(elements, _ITERATORS):
        setattr(elements, _ITERATORS, iter(elements.__enter__()))
    drawn: Iterator[None] = getattr(elements, _ITERATORS)
    for _ in drawn:
        return True
    elements.__exit__(None, None, None)
    return False
