"""What an answer must not repeat: the blocks of the prompt, removed from text that may come in pieces of any size.

What counts as a repeated block, by where its opening tag stands:

- at the beginning of a line: always. It goes up to its closing tag; without one, to the end of the answer.
- elsewhere in prose: when it is closed. What follows the tag waits for the closing tag; if none comes, the tag was only
  spoken of, and all of it is given out at the end.
- in code (a fenced block, or a code span on one line): when it begins as a block of this prompt does. Everything else
  in code is the user's subject, an XML document with an element `<memory>` for one, and stays.

A closing tag in prose that closes nothing is removed; one in code stays. A block that began a line takes the end of its
last line along, and does not leave two blank lines where it stood. Everything else stays as it is, and text goes out at
once: only what may still become a tag of ours waits.
"""

import re
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Final

from backend.memory.redaction import BLOCK_NAMES, UNSEEN, letters_of, spelled

COMPARED_CHARS: Final = 40
"""So many characters of a block, blanks not counted, decide whether it is one of the prompt's."""
LOOK_AHEAD_CHARS: Final = 400
"""How far behind a tag in code those characters are looked for."""
MAX_INDENTATION: Final = 80
"""Indentation deeper than this is cut, behind a removed block only."""

_OPEN, _CLOSE = "<＜﹤", ">＞﹥"
_LEAD: Final = rf"[{_OPEN}](?P<lead>[\s/／{UNSEEN}]{{0,40}})"
_REST: Final = rf"(?:[\s/／{UNSEEN}][^{_OPEN}{_CLOSE}]{{0,200}})?"
_BRACKET: Final = re.compile(f"[{_OPEN}]")


def _begun(name: str) -> str:
    """Matches every beginning of a tag with this name, from no letter of it up to its last attribute."""
    beginning = _REST
    for letter in reversed(letters_of(name)):
        beginning = rf"(?:{letter}[{UNSEEN}]{{0,8}}{beginning})?"
    return beginning


_TAG: Final = re.compile(
    rf"{_LEAD}(?:{'|'.join(f'(?P<{name}>{spelled(name)})' for name in BLOCK_NAMES)})(?P<rest>{_REST})[{_CLOSE}]",
    re.IGNORECASE,
)
_BEGUN: Final = re.compile(rf"{_LEAD}(?:{'|'.join(map(_begun, BLOCK_NAMES))})", re.IGNORECASE)
_OF_PROMPT: Final = re.compile(rf"^<(?P<name>{'|'.join(BLOCK_NAMES)})>\n", re.MULTILINE)


def without_blocks(text: str, sent: Iterable[str] = ()) -> str:
    """A whole answer without the blocks that it repeats; `sent` as for `ReplyFilter`."""
    reply = ReplyFilter(sent)
    return reply.feed(text) + reply.finish()


def blocks_in(prompt: str) -> Iterator[tuple[str, str]]:
    """The blocks that a prompt of ours opens: the name of each, and how its content begins."""
    for found in _OF_PROMPT.finditer(prompt):
        content = prompt[found.end() : found.end() + LOOK_AHEAD_CHARS].partition(f"\n</{found['name']}>")[0]
        yield found["name"], content


@dataclass(frozen=True, slots=True)
class _Tag:
    text: str
    name: str
    closes: bool
    opens: bool
    """Neither, for a tag that is empty by itself."""


def _read_tag(text: str, position: int) -> _Tag | None:
    """The tag of ours that begins here; None too for what only looks like one, such as `a <memory and b> c`."""
    found = _TAG.match(text, position)
    if not found:
        return None
    rest = re.sub(rf"[\s{UNSEEN}]", "", found["rest"])
    if rest.strip("/／") and "=" not in rest:
        return None
    closes = not {"/", "／"}.isdisjoint(found["lead"])
    name = next(name for name in BLOCK_NAMES if found[name])
    return _Tag(found[0], name, closes=closes, opens=not closes and not rest.endswith(("/", "／")))


class _Place:
    """Where in a Markdown text one is: at the beginning of a line, in a fenced block, in a code span of this line."""

    _PIECES: Final = re.compile(r"\n|`+|~+|[^\n`~]+")

    def __init__(self) -> None:
        self._fence = ""
        self._marks = ""
        self.follows_blank_line = True
        self._start_of_line()

    def _start_of_line(self) -> None:
        self.begins_line = True
        self._first = ""
        self._more = False
        self._span = 0

    @property
    def in_code(self) -> bool:
        """Asked where a tag stands, so that marks before it are all there."""
        self._end_marks()
        return bool(self._fence or self._span)

    def follow(self, text: str) -> None:
        """Go on to the end of `text`, which may end anywhere."""
        for piece in self._PIECES.findall(text):
            if self._marks and piece[0] == self._marks[0]:
                self._marks += piece
                continue
            self._end_marks()
            self._take(piece)

    def _take(self, piece: str) -> None:
        if piece == "\n":
            self._end_line()
        elif piece[0] in "`~":
            self._marks = piece
        elif piece.strip():
            self.begins_line, self._more = False, True

    def _end_marks(self) -> None:
        marks, self._marks = self._marks, ""
        if not marks:
            return
        if self.begins_line:
            self._first = marks
        else:
            self._more = True
        self.begins_line = False
        if marks[0] == "`" and not self._fence:
            self._span = len(marks) if not self._span else 0 if self._span == len(marks) else self._span

    def _end_line(self) -> None:
        first = self._first
        if self._fence:
            if first.startswith(self._fence) and not self._more:
                self._fence = ""
        elif len(first) >= 3 and (first[0] == "~" or self._span):  # noqa: PLR2004
            self._fence = first
        self.follows_blank_line = self.begins_line
        self._start_of_line()


@dataclass(slots=True)
class _Removed:
    """Inside a block that is removed. Nested ones of its name are counted."""

    name: str
    whole_line: bool
    depth: int = 1


@dataclass(slots=True)
class _Waiting:
    """Behind an opening tag in the middle of a line: all that followed it, until it is closed."""

    tag: _Tag
    place: _Place
    """Where the tag stood."""
    opened: list[bool]
    """What is open: for each, whether it began a line."""
    pieces: list[str] = field(default_factory=list[str])
    removed: int = 0
    """So many pieces belong to blocks in it that were closed."""


class ReplyFilter:
    """One answer: `feed` its text as it comes, then `finish` once; what both return, joined, is the filtered text.

    The result does not depend on how the text is cut into pieces. `sent` are the contents of the prompt's blocks, or
    how they begin.
    """

    def __init__(self, sent: Iterable[str] = ()) -> None:
        self._sent = tuple(beginning for beginning in map(_squeezed, sent) if beginning)
        self._pending = ""
        self._place = _Place()
        self._inside: _Removed | _Waiting | None = None
        self._gap: str | None = None
        self._unclosed: set[str] = set()

    def feed(self, text: str) -> str:
        self._pending += text
        return self._advance(final=False)

    def finish(self) -> str:
        shown = self._advance(final=True)
        return shown + self._give_back(self._inside) if isinstance(self._inside, _Waiting) else shown

    def _advance(self, *, final: bool) -> str:
        text, position = self._pending, 0
        shown: list[str] = []
        while position < len(text):
            step = self._step(text, position, final=final)
            if step is None:
                break
            shown.append(step[0])
            position += step[1]
        self._pending = text[position:]
        return "".join(shown)

    def _step(self, text: str, position: int, *, final: bool) -> tuple[str, int] | None:
        """What is shown next, and for how many characters; None when more text has to come first."""
        found = _BRACKET.search(text, position)
        plain = text[position : found.start() if found else len(text)]
        if plain:
            return self._text(plain), len(plain)
        tag = _read_tag(text, position)
        if tag is None:
            undecided = not final and _BEGUN.fullmatch(text, position)
            return None if undecided else (self._text(text[position]), 1)
        end = position + len(tag.text)
        shown = self._tag(tag, text[end : end + LOOK_AHEAD_CHARS], final=final)
        return None if shown is None else (shown, len(tag.text))

    def _text(self, text: str) -> str:
        if isinstance(self._inside, _Removed):
            return ""
        if self._gap is not None:
            text = self._past_gap(self._gap + text)
        self._place.follow(text)
        if self._inside is None:
            return text
        self._inside.pieces.append(text)
        return ""

    def _past_gap(self, text: str) -> str:
        """Behind a removed block: one blank line at most, none behind another; the next line keeps its indentation."""
        rest = text.lstrip()
        lines = text[: len(text) - len(rest)].split("\n")
        indentation = lines[-1][:MAX_INDENTATION] if len(lines) > 1 else ""
        self._gap = None if rest else "\n" * min(len(lines) - 1, 2) + indentation
        blank_line = "\n" if len(lines) > 2 and not self._place.follows_blank_line else ""  # noqa: PLR2004
        return blank_line + indentation + rest if rest else ""

    def _tag(self, tag: _Tag, ahead: str, *, final: bool) -> str | None:
        if isinstance(self._inside, _Removed):
            return self._tag_in_removed(self._inside, tag)
        if self._inside is not None:
            return self._tag_in_waiting(self._inside, tag)
        return self._tag_in_code(tag, ahead, final=final) if self._place.in_code else self._tag_in_prose(tag)

    def _tag_in_removed(self, block: _Removed, tag: _Tag) -> str:
        if tag.name == block.name:
            block.depth += tag.opens - tag.closes
        if not block.depth:
            self._inside = None
            self._gap = self._gap or "" if block.whole_line else None
        return ""

    def _tag_in_waiting(self, block: _Waiting, tag: _Tag) -> str:
        if self._place.in_code or tag.name != block.tag.name or not (tag.opens or tag.closes):
            return self._text(tag.text)
        if tag.opens:
            block.opened.append(self._place.begins_line)
            return self._text(tag.text)
        began_line = block.opened.pop()
        if not block.opened:
            self._inside, self._place = None, block.place
            return ""
        self._text(tag.text)
        block.removed = block.removed if began_line else len(block.pieces)
        return ""

    def _tag_in_code(self, tag: _Tag, ahead: str, *, final: bool) -> str | None:
        repeated = self._is_repeated(ahead, whole=final or len(ahead) == LOOK_AHEAD_CHARS) if tag.opens else False
        if repeated is None:
            return None
        if not repeated:
            return self._text(tag.text)
        self._inside = _Removed(tag.name, whole_line=self._place.begins_line)
        return ""

    def _tag_in_prose(self, tag: _Tag) -> str:
        if not tag.opens:
            self._gap = self._gap or "" if self._place.begins_line else None
        elif self._place.begins_line:
            self._inside = _Removed(tag.name, whole_line=True)
        elif tag.name in self._unclosed:
            return self._text(tag.text)
        else:
            self._inside = _Waiting(tag, place=copy(self._place), opened=[False])
        return ""

    def _is_repeated(self, ahead: str, *, whole: bool) -> bool | None:
        """Whether content begins as a block of the prompt does; None while it may and more of it is to come."""
        said = _squeezed(ahead)
        if any(said.startswith(beginning) for beginning in self._sent):
            return True
        return None if not whole and any(beginning.startswith(said) for beginning in self._sent) else False

    def _give_back(self, block: _Waiting) -> str:
        """The answer ended and the tag was not closed, nor is any later one of its name in the middle of a line."""
        self._inside, self._place = None, block.place
        self._unclosed.add(block.tag.name)
        shown = "" if block.removed else self._text(block.tag.text)
        return shown + self.feed("".join(block.pieces[block.removed :])) + self.finish()


def _squeezed(text: str) -> str:
    return "".join(text[:LOOK_AHEAD_CHARS].split())[:COMPARED_CHARS]
