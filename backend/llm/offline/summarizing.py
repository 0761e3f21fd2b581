"""A summary by extraction: one entry a turn, in the conversation's own words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from backend.llm.messages import clip, text_of
from backend.llm.offline.blocks import without_tags
from backend.llm.offline.json_text import as_list, as_object, json_object
from backend.llm.offline.replies import OFFLINE_NOTICE

MAX_QUESTION_CHARS: Final = 160
MAX_ANSWER_CHARS: Final = 240
NOTHING: Final = "…"

HUMAN: Final = frozenset({"human", "user"})
AI: Final = frozenset({"ai", "assistant"})


def summarize(prompt: str) -> dict[str, Any]:
    """`{entries: [{question, answer, refs}]}` from the JSONL transcript that stands somewhere in the prompt."""
    return {"entries": [entry for turn in _turns(prompt) if (entry := _entry(turn)) is not None]}


def _turns(prompt: str) -> Iterator[Mapping[str, Any]]:
    # `splitlines` would also break at characters that stand unescaped inside JSON strings, such as U+2028.
    for line in prompt.split("\n"):
        turn = json_object(line)
        if isinstance(turn.get("id"), str) and isinstance(turn.get("messages"), list):
            yield turn


def _entry(turn: Mapping[str, Any]) -> dict[str, Any] | None:
    messages = [as_object(message) for message in as_list(turn["messages"])]
    question = _plain(_texts(messages, HUMAN)[:1], MAX_QUESTION_CHARS)
    answer = _plain(_texts(messages, AI)[-1:], MAX_ANSWER_CHARS)
    if not question and not answer:
        return None
    return {"question": question or NOTHING, "answer": answer or NOTHING, "refs": [turn["id"]]}


def _texts(messages: Sequence[Mapping[str, Any]], roles: frozenset[str]) -> list[str]:
    texts = (text_of(message.get("content")) for message in messages if message.get("role") in roles)
    return [text for text in texts if text.strip()]


def _plain(texts: Sequence[str], limit: int) -> str:
    text = without_tags("\n".join(texts).replace(OFFLINE_NOTICE, ""))
    return clip(" ".join(text.split()), limit)
