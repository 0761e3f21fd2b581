"""The tree drawn in `backend/errors.py` is what a reader trusts, so it must be the classes' own."""

import inspect
import re

import pytest

from backend import errors
from backend.errors import AfterthoughtError

DRAWN_LINE = re.compile(r"(?P<branch>[│├└─ ]*)(?P<name>[A-Z]\w+)(\s{2,}.*)?")
INDENT = 4

ClassName = str
Tree = list[tuple[int, ClassName]]
"""Depth and name of each class, from top to bottom."""


def drawn_tree() -> Tree:
    paragraphs = inspect.cleandoc(errors.__doc__ or "").split("\n\n")
    drawing = inspect.cleandoc(next(text for text in paragraphs if "├──" in text))
    lines = [DRAWN_LINE.fullmatch(line) for line in drawing.splitlines()]
    assert all(lines), "a line of the drawing is not understood"
    return [(len(line["branch"]) // INDENT, line["name"]) for line in lines if line]


def class_tree(cls: type[AfterthoughtError] = AfterthoughtError, depth: int = 0) -> Tree:
    return [(depth, cls.__name__), *(line for child in cls.__subclasses__() for line in class_tree(child, depth + 1))]


def test_the_drawn_tree_is_that_of_the_classes() -> None:
    assert drawn_tree() == class_tree()


def test_the_classes_stand_in_the_module_in_the_order_of_the_tree() -> None:
    defined = [
        name for name, value in vars(errors).items() if inspect.isclass(value) and value.__module__ == errors.__name__
    ]

    assert defined == [name for _, name in class_tree()]


@pytest.mark.parametrize("name", [name for _, name in class_tree()])
def test_an_error_without_a_message_says_the_first_line_of_its_docstring(name: ClassName) -> None:
    error: AfterthoughtError = getattr(errors, name)()

    assert error.message == inspect.cleandoc(type(error).__doc__ or "").splitlines()[0]
    assert error.message
