import io

import pytest

from backend.cli.terminal import Terminal, printable


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("Grüße, 東京 🙂", "Grüße, 東京 🙂", id="letters of all kinds"),
        pytest.param("a\n\tb", "a\n\tb", id="lines and tabs"),
        pytest.param("a\x1b[2Jb", "a[2Jb", id="a sequence that clears the screen"),
        pytest.param("\x1b]0;title\x07x", "]0;titlex", id="a sequence that renames the window"),
        pytest.param("a\x9b31mb", "a31mb", id="the one-byte form of a sequence"),
        pytest.param("a\rb\x08c\x00", "abc", id="carriage return, backspace, NUL"),
        pytest.param("pay\u202eeil", "payeil", id="an override of the direction"),
    ],
)
def test_nothing_that_steers_the_terminal_is_shown(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_pipe_gets_the_text_as_it_is() -> None:
    out, err = io.StringIO(), io.StringIO()
    terminal = Terminal(out=out, err=err)

    terminal.say("[bold]x[/bold] :smile: " + "long " * 100)
    terminal.aside("aside")
    terminal.stream("no line")
    terminal.complain("wrong")

    assert out.getvalue() == "[bold]x[/bold] :smile: " + "long " * 100 + "\naside\nno line"
    assert err.getvalue() == "wrong\n"
    assert not terminal.is_interactive


def test_a_terminal_gets_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Screen()
    terminal = Terminal(out=out, err=Screen())

    terminal.aside("aside")

    assert out.getvalue() == "\x1b[2maside\x1b[0m\n"
    assert terminal.is_interactive
