"""The scripted summary model: one rule for everybody, whichever prompt its turns come in.

It writes the first `SIDE_WORDS` words of each side of a turn, behind what the prompt shows of an earlier summary, and
no more than `SUMMARY_WORDS` words in one answer, of which the oldest go, as from a model that was asked for a summary.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import unescape

from tests.support.model_requests import text_of
from tests.support.model_server import ModelRequest, Reply, structured, text

SIDE_WORDS: Final = 12
SUMMARY_WORDS: Final = 600

LANGCHAIN_SUMMARY: Final = "Here is a summary of the conversation to date:"
LANGCHAIN_MESSAGE: Final = re.compile(r'<message type="(human|ai)">(.*?)</message>', re.DOTALL)
LANGMEM_SUMMARY: Final = re.compile(
    r"This is summary of the conversation so far: (.*)\n\nExtend this summary", re.DOTALL
)


def summarize(request: ModelRequest) -> Reply:
    """Ours asks for entries, the others for a text."""
    if request.format == "json_schema":
        return structured(entries_of(text_of(request.messages[-1])))
    return text(capped(list(summary_lines(request.messages))))


def gist(text: str) -> str:
    """The first words."""
    return " ".join(text.split()[:SIDE_WORDS])


def capped(lines: Sequence[str], words: int = SUMMARY_WORDS) -> str:
    """The newest lines that have no more than so many words together; at least the last one."""
    kept: list[str] = []
    for line in reversed(lines):
        words -= len(line.split())
        if words < 0 and kept:
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def entries_of(transcript: str) -> dict[str, Any]:
    """The answer to our own summary prompt: one entry for each line of the transcript."""
    return {"entries": [_entry(json.loads(line)) for line in transcript.splitlines() if line.startswith("{")]}


def _entry(turn: Mapping[str, Any]) -> dict[str, Any]:
    question, answer = (
        " ".join(str(one.get("content", "")) for one in turn["messages"] if one["role"] == role)
        for role in ("human", "ai")
    )
    return {"question": gist(question), "answer": gist(answer), "refs": [turn["id"]]}


def summary_lines(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the summary is made of, oldest first: the lines of the earlier one, then one for each message."""
    last = text_of(messages[-1])
    if "<messages>" in last:
        for role, said in LANGCHAIN_MESSAGE.findall(last.rpartition("<messages>")[2]):
            yield from _langchain_lines(role, unescape(said))
        return
    for earlier in LANGMEM_SUMMARY.findall(last):
        yield from earlier.splitlines()
    roles = {"user": "human", "assistant": "ai"}
    yield from (f"{roles[one['role']]}: {gist(text_of(one))}" for one in messages[:-1] if one["role"] in roles)


def _langchain_lines(role: str, said: str) -> Sequence[str]:
    if said.startswith(LANGCHAIN_SUMMARY):
        return [line for line in said.removeprefix(LANGCHAIN_SUMMARY).splitlines() if line]
    return [f"{role}: {gist(said)}"]
