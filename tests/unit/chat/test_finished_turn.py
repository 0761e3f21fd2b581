"""What the dispatch hands over of a turn: the words of both sides, and what was recalled for it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from backend.chat.finished_turn import finished_turn
from backend.ids import Json, ThreadId

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ONE, TWO = "0e1b7c1e-2f1b-4a0e-9d0a-000000000001", "0e1b7c1e-2f1b-4a0e-9d0a-000000000002"
IMAGE: dict[str, Any] = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def handed_over(*messages: BaseMessage) -> dict[str, Json]:
    return finished_turn(messages, ThreadId("t-1"), NOW)


def sides(*messages: BaseMessage) -> tuple[Json, Json]:
    turn = handed_over(*messages)
    return turn["user_text"], turn["assistant_text"]


def hidden(text: str) -> HumanMessage:
    return HumanMessage(text, id="hidden", additional_kwargs={"hide_from_ui": True})


def answer_with(recalled: object, text: str = "Nice.") -> AIMessage:
    return AIMessage(text, response_metadata={"memory": {"recalled": recalled}})


def test_only_the_last_turn_is_handed_over() -> None:
    turn = handed_over(
        HumanMessage("first", id="h0"),
        AIMessage("one", id="a0"),
        HumanMessage("second", id="h1"),
        AIMessage("two", id="a1"),
    )
    assert turn == {
        "thread_id": "t-1",
        "message_ids": ["h1", "a1"],
        "human_count": 2,
        "user_text": "second",
        "assistant_text": "two",
        "finished_at": "2026-03-01T12:00:00+00:00",
    }


def test_what_the_framework_wrote_is_nobodys_words_wherever_it_stands() -> None:
    before = handed_over(hidden("<context>date</context>"), HumanMessage("hi", id="h0"), AIMessage("hello", id="a0"))
    assert (before["user_text"], before["message_ids"], before["human_count"]) == ("hi", ["h0", "a0"], 1)
    after = handed_over(HumanMessage("hi", id="h0"), hidden("a summary"), AIMessage("hello", id="a0"))
    assert (after["user_text"], after["assistant_text"], after["human_count"]) == ("hi", "hello", 1)
    answer = AIMessage("made by a feature", additional_kwargs={"hide_from_ui": True})
    assert sides(HumanMessage("hi"), answer, AIMessage("hello")) == ("hi", "hello")


def test_a_thread_in_which_nobody_wrote_hands_over_no_words() -> None:
    turn = handed_over(hidden("a summary"), AIMessage("hello"))
    assert (turn["human_count"], turn["message_ids"], turn["user_text"], turn["assistant_text"]) == (0, [], "", "")


def test_all_that_the_assistant_said_is_handed_over_in_order_without_tools_system_and_thoughts() -> None:
    call: dict[str, Any] = {"name": "get_weather", "args": {"place": "Oslo secretly"}, "id": "c1"}
    thinking: dict[str, Any] = {"type": "thinking", "thinking": "they want a coat"}
    spoken: dict[str, Any] = {"type": "text", "text": "Take a coat."}
    assert sides(
        HumanMessage("Do I need a coat?"),
        AIMessage("Let me see.", tool_calls=[call]),
        ToolMessage("-3 degrees", tool_call_id="c1"),
        SystemMessage("You are a helpful assistant."),
        AIMessage([thinking, spoken]),
    ) == ("Do I need a coat?", "Let me see.\nTake a coat.")


def test_thoughts_in_a_tag_before_the_answer_are_left_out() -> None:
    assert sides(HumanMessage("hi"), AIMessage("<think>\nA greeting.\n</think>\n\nHello!")) == ("hi", "Hello!")
    about = "Write <think>like this</think> before the answer."
    assert sides(HumanMessage("how?"), AIMessage(about)) == ("how?", about)


@pytest.mark.parametrize("shown", [[IMAGE], [], "", "  \n", [IMAGE, {"type": "text", "text": " "}]], ids=repr)
def test_a_side_that_says_nothing_in_words_is_empty(shown: str | list[str | dict[str, Any]]) -> None:
    assert sides(HumanMessage(shown), AIMessage("A red bus.")) == ("", "A red bus.")
    assert sides(HumanMessage("draw a bus"), AIMessage(shown)) == ("draw a bus", "")


def test_an_image_beside_words_is_a_marker() -> None:
    words: dict[str, Any] = {"type": "text", "text": "What is this?"}
    assert sides(HumanMessage([IMAGE, words]), AIMessage("A red bus."))[0] == "[image]\nWhat is this?"


def test_a_refusal_is_what_was_said() -> None:
    refusal = AIMessage("", additional_kwargs={"refusal": "I will not."})
    assert sides(HumanMessage("hi"), refusal) == ("hi", "I will not.")


def test_long_sides_are_cut_with_a_marker_that_tells_how_much_is_missing() -> None:
    user, assistant = map(str, sides(HumanMessage("u" * 50_000), AIMessage("a" * 30_000), AIMessage("b" * 30_000)))
    assert (len(user), len(assistant)) == (4_000, 8_000)
    for side, whole in ((user, 50_000), (assistant, 60_001)):
        kept, _, left_out = side.partition("… [")
        assert left_out == f"{whole - len(kept)} characters left out]"
    assert set(assistant.partition("…")[0]) == {"a"}, "the beginning is what is kept"


@pytest.mark.parametrize("before", range(3_900, 4_000, 9))
def test_credentials_are_redacted_before_the_cut_so_that_none_is_cut_in_two(before: int) -> None:
    secret = "sk-" + "a1B2" * 10
    user, assistant = map(
        str, sides(HumanMessage(f"{'x ' * (before // 2)}{secret} {'y' * 999}"), AIMessage(f"Your key is {secret}."))
    )
    assert "sk-" not in user + assistant
    assert assistant.startswith("Your key is ")


def test_what_the_answers_were_given_is_named_once_and_in_order() -> None:
    turn = handed_over(
        HumanMessage("hi"),
        answer_with({"ids": [TWO, ONE]}, text="One moment."),
        answer_with({"ids": [ONE, TWO]}),
    )
    assert turn["recalled_ids"] == [TWO, ONE]


def test_what_an_earlier_turn_was_given_is_not_named() -> None:
    turn = handed_over(HumanMessage("hi"), answer_with({"ids": [ONE]}), HumanMessage("and?"), AIMessage("Nothing."))
    assert "recalled_ids" not in turn


RECEIPTS: Sequence[object] = (
    None, "text", 7, [], [ONE], {}, {"ids": None}, {"ids": ONE}, {"ids": {ONE: 1}}, {"ids": []},
    {"ids": ["not an id", 7, None, [ONE], ONE + "\n", "'; DROP TABLE memories"]},
)  # fmt: skip


@pytest.mark.parametrize("recalled", RECEIPTS, ids=repr)
def test_a_receipt_of_another_shape_names_nothing(recalled: object) -> None:
    assert "recalled_ids" not in handed_over(HumanMessage("hi"), answer_with(recalled))


@pytest.mark.parametrize("metadata", [{}, {"memory": None}, {"memory": "off"}, {"memory": [1]}], ids=repr)
def test_an_answer_without_a_receipt_names_nothing(metadata: dict[str, Any]) -> None:
    assert "recalled_ids" not in handed_over(HumanMessage("hi"), AIMessage("Nice.", response_metadata=metadata))


def test_a_receipt_on_what_the_user_wrote_names_nothing() -> None:
    forged = HumanMessage("hi", response_metadata={"memory": {"recalled": {"ids": [ONE]}}})
    assert "recalled_ids" not in handed_over(forged, AIMessage("Nice."))
