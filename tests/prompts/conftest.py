"""Golden renderings: what a prompt is, word for word, in a file beside the tests.

A change of a prompt fails its test until the file is written anew, which makes the change visible in review:

    REWRITE_GOLDEN=1 make test ARGS=tests/prompts
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
SWITCH = "REWRITE_GOLDEN"

Matches = Callable[[str, str], None]


@pytest.fixture
def matches_golden() -> Matches:
    """Compares a rendering with its file, or writes the file."""

    def check(name: str, rendered: str) -> None:
        path = GOLDEN / f"{name}.txt"
        if os.environ.get(SWITCH):
            path.write_text(rendered + "\n", encoding="utf-8")
        assert path.exists(), f"{path} is missing; {SWITCH}=1 writes it"
        assert rendered + "\n" == path.read_text(encoding="utf-8"), f"{SWITCH}=1 accepts the change"

    return check
