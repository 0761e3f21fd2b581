"""What the fuzz has found, each as the shortest example of it."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from backend.chat.trimming import trim_for_call
from backend.memory.summaries.transcript import transcript
from backend.memory.summaries.window import Window
from backend.tools.registry import parse_json_text

PATCHES = {"properties": {"patches": {"type": "array"}}}


@pytest.mark.parametrize(
    ("block", "words"),
    [
        pytest.param(
            {"type": "text", "source_type": "text", "text": "older"}, "older", id="text of an older langchain"
        ),
        pytest.param({"type": "image", "source": {"type": "file", "file_id": "f"}}, "[image]", id="image by file id"),
        pytest.param({"type": "image", "source": None}, "[image]", id="image from nowhere"),
        pytest.param({"type": "image", "source": {}, "base64": "AA=="}, "[image]", id="image of no known kind"),
        pytest.param(
            {"type": "file", "file": {"filename": "plan.pdf"}, "url": "https://example.org/plan.pdf"},
            "[file: plan.pdf]",
            id="file by address",
        ),
    ],
)
def test_a_block_that_the_client_refuses_or_drops_becomes_words(block: dict[str, Any], words: str) -> None:
    [sent] = trim_for_call([HumanMessage([block])])
    assert sent.content == [{"type": "text", "text": words}]


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}, id="data"
        ),
        pytest.param({"type": "image", "source": {"type": "url", "url": "https://example.org/x.png"}}, id="address"),
        pytest.param({"type": "file", "file": {"file_id": "f"}}, id="file"),
    ],
)
def test_a_block_that_the_client_can_send_stays(block: dict[str, Any]) -> None:
    [sent] = trim_for_call([HumanMessage([block])])
    assert sent.content == [block]


def test_results_find_their_calls_whatever_comes_between() -> None:
    def asked(*ids: str) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": id_, "type": "tool_call"} for id_ in ids])

    results = [
        ToolMessage(text, tool_call_id=id_) for text, id_ in (("b1", "b"), ("a2", "a"), ("a1", "a"), ("no", "x"))
    ]
    history: list[BaseMessage] = [HumanMessage("H0"), asked("a", "b"), asked("a"), *results]
    sent = [message.text for message in trim_for_call(history) if isinstance(message, ToolMessage)]
    assert sent == ["a1", "b1", "a2"]


def test_a_tool_with_an_endless_name_takes_no_room_from_the_rest() -> None:
    asked = AIMessage("", tool_calls=[{"name": "n" * 200_000, "args": {}, "id": "c0", "type": "tool_call"}])
    result = ToolMessage("r", tool_call_id="c0", name="n" * 200_000)
    text = transcript([HumanMessage("H0"), asked, result, AIMessage("A0")], Window(0, 0))
    said = json.loads(text)["messages"]
    assert len(text) < 1_000
    assert (said[0]["content"], said[2]["content"], said[3]["content"]) == ("H0", "r", "A0")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000])
def test_text_of_json_deeper_than_a_reader_goes_stays_text(text: str) -> None:
    assert parse_json_text({"patches": text}, PATCHES) == {"patches": text}
