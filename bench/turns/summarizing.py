"""The scripted summary model: finds the turns in whichever prompt it gets, and follows the rule of `summary_rule`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import unescape

from bench.turns.summary_rule import capped, entries_of, gist
from tests.support.model_requests import text_of
from tests.support.model_server import ModelRequest, Reply, structured, text

LANGCHAIN_SUMMARY: Final = "Here is a summary of the conversation to date:"
LANGCHAIN_MESSAGE: Final = re.compile(r'<message type="(human|ai)">(.*?)</message>', re.DOTALL)
LANGMEM_SUMMARY: Final = re.compile(
    r"This is summary of the conversation so far: (.*)\n\nExtend this summary", re.DOTALL
)

Said = tuple[str, str]
"""Who (`human` or `ai`) and what."""


class Summarizing:
    """Answers summary prompts; of a summary that is written anew each time, `words` at most are kept."""

    def __init__(self, words: int) -> None:
        self.words = words

    def __call__(self, request: ModelRequest) -> Reply:
        if request.format == "json_schema":
            return structured(entries_of(text_of(request.messages[-1])))
        return text(capped(list(summary_lines(request.messages)), self.words))


def summary_lines(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the summary is made of, oldest first: the lines of the earlier one, then one for each message."""
    last = text_of(messages[-1])
    if "<messages>" in last:
        yield from _lines(LANGCHAIN_MESSAGE.findall(last.rpartition("<messages>")[2]))
        return
    for earlier in LANGMEM_SUMMARY.findall(last):
        yield from earlier.splitlines()
    roles = {"user": "human", "assistant": "ai"}
    yield from _lines([(roles[one["role"]], text_of(one)) for one in messages[:-1] if one["role"] in roles])


def _lines(said: Sequence[Said]) -> Iterator[str]:
    for role, content in said:
        if content.startswith(LANGCHAIN_SUMMARY):
            yield from (line for line in unescape(content.removeprefix(LANGCHAIN_SUMMARY)).splitlines() if line)
        else:
            yield f"{role}: {gist(unescape(content))}"
