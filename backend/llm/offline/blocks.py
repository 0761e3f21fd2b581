"""Delimited parts of a prompt: `<memory>...</memory>` and the like, found, read and taken out."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

BLANK: Final = "\ufffc"
"""Neither a letter nor a space."""

_TAG: Final = re.compile(r"<(/?)([a-z][a-z_]{1,40})>")
_FENCE: Final = re.compile(r"```.*?(?:```|\Z)|^[ \t]*>.*?$", re.DOTALL | re.MULTILINE)
_NOTES: Final = frozenset({"fact_changes", "recalled"})
"""What memory adds behind the words of a human message."""
_QUOTATION: Final = re.compile(r'"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»')


@dataclass(frozen=True, slots=True)
class Block:
    tag: str
    start: int
    end: int
    inside: str


def find_blocks(text: str) -> list[Block]:
    """The outermost blocks in order. A tag that is only mentioned, without its partner, is none."""
    opened: list[re.Match[str]] = []
    waiting: Counter[str] = Counter()
    found: list[Block] = []
    for tag in _TAG.finditer(text):
        closes, name = tag.groups()
        if not closes:
            opened.append(tag)
            waiting[name] += 1
        elif waiting[name]:
            opening = _pop(opened, name, waiting)
            while found and found[-1].start > opening.start():
                found.pop()
            found.append(Block(name, opening.start(), tag.end(), text[opening.end() : tag.start()].strip()))
    return found


def _pop(opened: list[re.Match[str]], name: str, waiting: Counter[str]) -> re.Match[str]:
    """The latest opening tag of this name; the ones after it were mentions."""
    while True:
        opening = opened.pop()
        waiting[opening[2]] -= 1
        if opening[2] == name:
            return opening


def without_blocks(text: str) -> str:
    """The text with every block taken out, so that what a block quotes is not taken for what the user says."""
    kept: list[str] = []
    end = 0
    for block in find_blocks(text):
        kept.append(text[end : block.start])
        end = block.end
    return "\n".join([*kept, text[end:]]).strip()


def without_notes(text: str) -> str:
    """A human message without what memory added: its blocks, and the paragraph that introduces each."""
    kept: list[str] = []
    end = 0
    for block in find_blocks(text):
        before = text[end : block.start]
        if block.tag in _NOTES and (not before or before.endswith("\n")):
            kept.append(before.rpartition("\n\n")[0])
            end = block.end
    return "\n".join([*kept, text[end:]]).strip()


def without_quotations(text: str) -> str:
    """The text without code, quoted lines and quoted phrases of more than one word: they are somebody's words."""
    return _QUOTATION.sub(_unless_phrase, _FENCE.sub(" ", text))


def blank_quotations(text: str) -> str:
    """The text with `BLANK` for each character of those, so that places in it are those of the text itself."""
    return _QUOTATION.sub(_blank_unless_word, _FENCE.sub(_blank, text))


def without_tags(text: str) -> str:
    return _TAG.sub("", text)


def inside_of(texts: Sequence[str], tag: str) -> str:
    """What stands in the last block of this name; empty if there is none."""
    return next((block.inside for text in texts for block in reversed(find_blocks(text)) if block.tag == tag), "")


def _unless_phrase(quotation: re.Match[str]) -> str:
    quoted = quotation[0][1:-1]
    return quoted if len(quoted.split()) == 1 else " "


def _blank_unless_word(quotation: re.Match[str]) -> str:
    return quotation[0] if len(quotation[0][1:-1].split()) == 1 else _blank(quotation)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", BLANK, found[0])
