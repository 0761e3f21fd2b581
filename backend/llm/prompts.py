"""Prompts: text in files, read once, rendered with values that stay text.

A template is a mustache file under `prompts/`, named by its path without the ending: `chat/base` is the file
`prompts/chat/base.mustache`. Used are `{{{name}}}` or `{{&name}}` for a value, `{{#name}}...{{/name}}` for a list (its
item is `{{{.}}}`) or a condition, `{{^name}}...{{/name}}` for the opposite, and `{{! a comment }}`. What chevron would
take silently is refused when the files are read: `{{name}}`, which escapes HTML; partials; other delimiters.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import chevron
from chevron.tokenizer import ChevronError, tokenize

from backend.errors import PromptError

PROMPTS_DIRECTORY = Path(__file__).resolve().parents[2] / "prompts"

PromptValue = str | bool | Sequence["PromptValue"] | Mapping[str, "PromptValue"]
"""What a template can be given. Numbers are formatted by the caller, who knows how."""

_SUFFIX = ".mustache"
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REFUSED = {
    "variable": "{{%s}} escapes HTML; write {{{%s}}}",
    "partial": "the partial {{>%s}} is not supported",
    "set delimiter": "changing the delimiters to %s is not supported",
    "no escape?": "{{{%s}} lacks its third closing brace",
}

_Token = tuple[str, str]


class Prompts:
    """All templates of a directory. Building one reads files, so it happens at start, outside of async code."""

    def __init__(self, directory: Path = PROMPTS_DIRECTORY) -> None:
        """Read every template.

        Raises:
            PromptError: the directory is missing, or a file has a tag that is refused; names the file and the tag.
        """
        if not directory.is_dir():
            raise PromptError(f"there is no directory of prompts: {directory}")
        paths = {_name_of(path, directory): path for path in sorted(directory.rglob(f"*{_SUFFIX}"))}
        self._templates = MappingProxyType({name: _parse(name, _read(path)) for name, path in paths.items()})

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._templates)

    def render(self, name: str, /, **values: PromptValue) -> str:
        """The text of a template, without the line break at the end of its file. Values are never read as templates.

        An empty item of a list leaves nothing, not even the text around it in the section.

        Raises:
            PromptError: the template needs a value that was not given, for a section too, or there is no such template.
        """
        if name not in self._templates:
            raise PromptError(f"there is no prompt {name!r}; there are: {', '.join(self._templates)}")
        scope = _Values(name, {key: _inert(value) for key, value in values.items()})
        return chevron.render(self._templates[name], scope, partials_path=None)


class _Values(dict[str, PromptValue]):
    """The outermost scope, in which chevron looks last; what is not here either is missing."""

    def __init__(self, template: str, values: Mapping[str, PromptValue]) -> None:
        super().__init__(values)
        self._template = template

    def __missing__(self, key: str) -> PromptValue:
        raise PromptError(f"prompt {self._template!r} needs a value for {key!r}")


class _Text(str):
    """A string without named parts: chevron looks a key up in the item of a list first, and `"".title` is there."""

    __slots__ = ()

    def __getitem__(self, key: object) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise KeyError(key)


def _inert(value: PromptValue) -> PromptValue:
    if isinstance(value, str):
        return _Text(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        return {key: _inert(part) for key, part in value.items()}
    return [_inert(item) for item in value]


def _name_of(path: Path, directory: Path) -> str:
    return path.relative_to(directory).as_posix().removesuffix(_SUFFIX)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8").removesuffix("\n")


def _parse(name: str, text: str) -> tuple[_Token, ...]:
    try:
        tokens: tuple[_Token, ...] = tuple(tokenize(text))
    except (ChevronError, IndexError) as error:  # the latter for a tag without anything in it
        raise PromptError(f"prompt {name!r}: {' '.join(str(error).split())}") from error
    for kind, key in tokens:
        if kind in _REFUSED:
            raise PromptError(f"prompt {name!r}: {_REFUSED[kind].replace('%s', key)}")
        if kind != "literal" and key != "." and not _is_name(key):
            raise PromptError(f"prompt {name!r}: {key!r} cannot be the name of a value")
    return tokens


def _is_name(key: str) -> bool:
    """Inside of a condition chevron asks True for the key first, so that `real` or `numerator` would be found there."""
    return bool(_KEY.fullmatch(key)) and key not in dir(bool)
