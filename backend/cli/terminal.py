"""What a command shows a person: lines, an answer as it comes, complaints; colour only where a terminal shows it."""

import re
from typing import TextIO

from rich.console import Console

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The text without what would steer the terminal: no answer may move the cursor or rename the window."""
    return _CONTROL.sub("", text)


class Terminal:
    """Writes to two streams as they are: no wrapping, no markup, so that a pipe reads what a person sees."""

    def __init__(self, *, out: TextIO, err: TextIO) -> None:
        self._out = Console(file=out, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._err = Console(file=err, highlight=False, markup=False, emoji=False, soft_wrap=True)

    @property
    def is_interactive(self) -> bool:
        return self._out.is_terminal

    def say(self, line: str = "") -> None:
        """One line."""
        self._out.print(printable(line))

    def stream(self, text: str) -> None:
        """A part of a line or of several, at once."""
        self._out.print(printable(text), end="")

    def aside(self, line: str) -> None:
        """One line about what happens beside the answer, dimmed."""
        self._out.print(printable(line), style="dim")

    def complain(self, line: str) -> None:
        """One line on the error stream."""
        self._err.print(printable(line), style="red")
