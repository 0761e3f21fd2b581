"""How the scripted summary model summarizes, for everybody alike: the first words of what each side said in a turn.

The budget is `SIDE_WORDS` words for each side of a turn. What an earlier summary holds is carried over as it stands,
where a mechanism shows it to the model; of a text over `SUMMARY_WORDS` words the oldest go.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

SIDE_WORDS: Final = 12
SUMMARY_WORDS: Final = 600


def gist(text: str, words: int = SIDE_WORDS) -> str:
    """The first words."""
    return " ".join(text.split()[:words])


def capped(lines: Sequence[str], words: int = SUMMARY_WORDS) -> str:
    """The newest lines that have no more than so many words together; at least the last one."""
    kept: list[str] = []
    room = words
    for line in reversed(lines):
        room -= len(line.split())
        if room < 0 and kept:
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def entries_of(transcript: str) -> dict[str, Any]:
    """The answer to our own summary prompt: one entry for each line of the transcript."""
    return {"entries": [_entry(json.loads(line)) for line in transcript.splitlines() if line.startswith("{")]}


def _entry(turn: dict[str, Any]) -> dict[str, Any]:
    question, answer = (_said(turn, role) for role in ("human", "ai"))
    return {"question": gist(question), "answer": gist(answer), "refs": [turn["id"]]}


def _said(turn: dict[str, Any], role: str) -> str:
    return " ".join(str(one.get("content", "")) for one in turn["messages"] if one["role"] == role)
