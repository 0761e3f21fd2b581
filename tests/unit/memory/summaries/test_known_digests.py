"""Digests that are kept between calls: whatever a message is, they are those that would be made anew (S1)."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ChatMessage, HumanMessage, ToolMessage

from backend.memory.summaries.transcript import KnownDigests, digests_of, excerpt_digest
from backend.memory.summaries.window import Window

QUESTION = HumanMessage("q", id="h0")
CALL: Any = {"name": "search", "args": {"q": "tea"}, "id": "c1", "type": "tool_call"}
BROKEN: Any = {"name": "search", "args": "{", "id": "c1", "error": None, "type": "invalid_tool_call"}
ANSWERS: Sequence[BaseMessage] = [
    AIMessage("a", id="a0"),
    AIMessage("b", id="a0"),
    AIMessageChunk(content="a", id="a0"),
    AIMessage([{"type": "text", "text": "c"}], id="a0"),
    AIMessage("", id="a0"),
    AIMessage("", id="a0", additional_kwargs={"refusal": "no"}),
    AIMessage("", id="a0", additional_kwargs={"refusal": "never"}),
    AIMessage("a", id="a0", tool_calls=[CALL]),
    AIMessage("a", id="a0", tool_calls=[{**CALL, "args": {"q": "coffee"}}]),
    AIMessage("a", id="a0", invalid_tool_calls=[BROKEN]),
    AIMessage("a", id="a0", additional_kwargs={"hide_from_ui": True}),
    ToolMessage("a", id="a0", tool_call_id="c1"),
    ChatMessage(role="assistant", content="a", id="a0"),
    ChatMessage(role="developer", content="a", id="a0"),
    HumanMessage("a", id="a0", additional_kwargs={"hide_from_ui": True}),
]


@pytest.mark.parametrize("answer", range(len(ANSWERS)))
def test_one_that_is_known_is_the_one_that_would_be_made(answer: int) -> None:
    known: KnownDigests = {}
    for before in (*ANSWERS, ANSWERS[answer]):
        messages = [QUESTION, before]
        assert digests_of(messages, known=known)(Window(0, 0)) == excerpt_digest(messages, Window(0, 0))


def test_turns_are_not_looked_through_again_while_they_say_the_same() -> None:
    known: KnownDigests = {}
    thread = [QUESTION, ANSWERS[0], HumanMessage("q2", id="h1"), ANSWERS[1]]
    digests_of(thread, known=known)(Window(0, 1))
    [kept] = known
    known[kept] = "known"
    again = [message.model_copy() for message in thread]
    assert digests_of(again, known=known)(Window(0, 1)) == "known"
    assert digests_of([*again[:3], ANSWERS[0]], known=known)(Window(0, 1)) != "known"


@pytest.mark.parametrize("window", [Window(0, 4), Window(1, 2), Window(5, 6)])
def test_turns_that_are_not_there_make_no_difference(window: Window) -> None:
    messages = [QUESTION, ANSWERS[0]]
    assert digests_of(messages, known={})(window) == excerpt_digest(messages, window)
