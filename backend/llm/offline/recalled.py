"""Items of `<recalled>`: what a search found, each with its kind and day."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from backend.llm.offline.blocks import inside_of, without_blocks
from backend.llm.offline.json_text import json_string

_ITEM: Final = re.compile(r"\[(?P<kind>fact|episode)\] (?P<day>\d{4}-\d\d-\d\d) (?P<text>.+)")
_USER: Final = "User: "
_ASSISTANT: Final = "\nAssistant: "


@dataclass(frozen=True, slots=True)
class RecalledItem:
    kind: Literal["fact", "episode"]
    day: str
    """As YYYY-MM-DD."""
    text: str
    """The fact, or what the user said in the turn, without blocks that it quotes."""


def items_in(text: str) -> Iterator[RecalledItem]:
    """The items that stand in the last `<recalled>` of a human message as sent."""
    for line in inside_of([text], "recalled").split("\n"):
        if item := _ITEM.fullmatch(line.strip()):
            yield _item(item)


def _item(item: re.Match[str]) -> RecalledItem:
    text = json_string(item["text"])
    if item["kind"] == "fact":
        return RecalledItem("fact", item["day"], without_blocks(text))
    # The first place where the assistant may begin, so that its words are never taken for the user's.
    said = text.removeprefix(_USER).partition(_ASSISTANT)[0] if text.startswith(_USER) else ""
    return RecalledItem("episode", item["day"], without_blocks(said))
