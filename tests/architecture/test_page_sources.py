"""The page's files hold nothing that could turn text into code, and nothing from elsewhere."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

WEB: Final = Path(__file__).parents[2] / "backend" / "web"
VENDOR: Final = WEB / "vendor"
TEXT: Final = {".js", ".html", ".css", ".svg"}
OWN_FILES: Final = [path for path in sorted(WEB.rglob("*")) if path.suffix in TEXT and VENDOR not in path.parents]

TURNS_TEXT_INTO_CODE: Final = re.compile(
    r"\b(innerHTML|outerHTML|insertAdjacentHTML|setHTMLUnsafe|createContextualFragment|DOMParser|"
    r"document\.write\w*|eval\s*\(|new\s+Function|Function\s*\(|importScripts|javascript:)"
    r"|\bsrcdoc\s*[:=]|set(?:Timeout|Interval)\(\s*[\"'`]"
)
INLINE: Final = re.compile(r"<style\b|\sstyle\s*=|<script(?![^>]*\bsrc=)|<[^>]+\son[a-z]+\s*=", re.IGNORECASE)
ELSEWHERE: Final = re.compile(r"(?:https?:)?//(?!www\.w3\.org/|127\.0\.0\.1\b)[\w-]+\.[\w.]+", re.IGNORECASE)
COMMENT: Final = re.compile(r"/\*.*?\*/|^\s*//.*?$|(?<=[;{}\s])//\s.*?$|<!--.*?-->", re.DOTALL | re.MULTILINE)


def found(pattern: re.Pattern[str], *suffixes: str) -> Iterator[str]:
    """Where a pattern is found outside of comments."""
    for path in OWN_FILES:
        if path.suffix in suffixes:
            for match in pattern.finditer(COMMENT.sub("", path.read_text())):
                yield f"{path.relative_to(WEB)}: {match[0].strip()}"


def test_there_is_a_page() -> None:
    assert WEB / "index.html" in OWN_FILES


def test_no_file_turns_text_into_code() -> None:
    assert list(found(TURNS_TEXT_INTO_CODE, ".js", ".html", ".svg")) == []


def test_no_markup_has_a_script_a_style_or_a_handler_in_itself() -> None:
    assert list(found(INLINE, ".html", ".svg")) == []


def test_no_file_names_an_outside_address() -> None:
    assert list(found(ELSEWHERE, *TEXT)) == []


def test_no_script_is_too_long_to_be_read() -> None:
    scripts = [path for path in OWN_FILES if path.suffix == ".js"]
    lines = {str(path.relative_to(WEB)): len(path.read_text().splitlines()) for path in scripts}
    assert {name: count for name, count in lines.items() if count > 300} == {}


@pytest.mark.parametrize(
    ("source", "pattern"),
    [
        ("box.innerHTML = text", TURNS_TEXT_INTO_CODE),
        ("new Function('a', text)", TURNS_TEXT_INTO_CODE),
        ("setTimeout('run()', 1)", TURNS_TEXT_INTO_CODE),
        ('<button onclick="run()">', INLINE),
        ('<p style="color: red">', INLINE),
        ("<script>run()</script>", INLINE),
        ("import x from 'https://cdn.example.org/x.js'", ELSEWHERE),
        ("@import '//fonts.example.org/css'", ELSEWHERE),
    ],
    ids=["markup", "function", "timer", "handler", "style", "script", "import", "no scheme"],
)
def test_what_is_forbidden_is_recognised(source: str, pattern: re.Pattern[str]) -> None:
    assert pattern.search(source)


@pytest.mark.parametrize("source", ['<script type="module" src="app/main.js"></script>', "<link rel=stylesheet>"])
def test_what_a_page_needs_is_allowed(source: str) -> None:
    assert not INLINE.search(source)
