"""Who spoke, what was said, how much it is (CASES 5, 6, 12, 14)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
    add_notification_metadata,
)

from backend.llm.messages import (
    clip,
    estimate_tokens,
    human_positions,
    is_human_turn,
    role_of,
    shorten,
    text_of,
)

BASE64 = "iVBORw0KGgo" * 40_000


@pytest.mark.parametrize(
    ("message", "role"),
    [
        pytest.param(HumanMessage("x"), "human", id="human"),
        pytest.param(HumanMessageChunk(content="x"), "human", id="human chunk"),
        pytest.param(AIMessage("x"), "ai", id="ai"),
        pytest.param(AIMessageChunk(content="x"), "ai", id="ai chunk"),
        pytest.param(ToolMessage("x", tool_call_id="c"), "tool", id="tool"),
        pytest.param(ToolMessageChunk(content="x", tool_call_id="c"), "tool", id="tool chunk"),
        pytest.param(FunctionMessage(content="x", name="f"), "tool", id="function"),
        pytest.param(SystemMessage(content="x"), "system", id="system"),
        pytest.param(SystemMessageChunk(content="x"), "system", id="system chunk"),
        pytest.param(ChatMessage(content="x", role="user"), "human", id="chat user"),
        pytest.param(ChatMessage(content="x", role="assistant"), "ai", id="chat assistant"),
        pytest.param(ChatMessageChunk(content="x", role="Assistant"), "ai", id="chat chunk"),
        pytest.param(ChatMessage(content="x", role="function"), "tool", id="chat function"),
        pytest.param(ChatMessage(content="x", role="system"), "system", id="chat system"),
        pytest.param(ChatMessage(content="x", role="developer"), None, id="developer"),
        pytest.param(ChatMessage(content="x", role=""), None, id="no role"),
        pytest.param(BaseMessage(content="x", type="assistant"), "ai", id="bare assistant"),
        pytest.param(RemoveMessage(id="m1"), None, id="removal"),
    ],
)
def test_a_role_is_known_by_kind_or_alias(message: BaseMessage, role: str | None) -> None:
    assert role_of(message) == role


@pytest.mark.parametrize(
    ("message", "counts"),
    [
        pytest.param(HumanMessage("x"), True, id="plain"),
        pytest.param(HumanMessageChunk(content="x"), True, id="chunk"),
        pytest.param(HumanMessage(""), True, id="empty"),
        pytest.param(HumanMessage("x", additional_kwargs={"hide_from_ui": True}), False, id="hidden"),
        pytest.param(HumanMessage("x", additional_kwargs={"hide_from_ui": False}), True, id="not hidden"),
        pytest.param(HumanMessage("x", additional_kwargs={"lc_source": "summarization"}), False, id="summary"),
        pytest.param(add_notification_metadata(HumanMessage("x"), source="async_subagent"), False, id="notification"),
        pytest.param(HumanMessage("x", additional_kwargs={"lc_source": None}), True, id="no source"),
        pytest.param(AIMessage("x"), False, id="ai"),
        pytest.param(ChatMessage(content="x", role="developer"), False, id="developer"),
    ],
)
def test_a_turn_is_what_the_user_wrote(message: BaseMessage, counts: bool) -> None:
    assert is_human_turn(message) is counts


def test_hidden_context_before_the_first_turn_is_not_a_turn() -> None:
    hidden = HumanMessage("<context>date</context>", additional_kwargs={"hide_from_ui": True})
    assert human_positions([hidden, HumanMessage("H0"), AIMessage("A0"), HumanMessage("H1")]) == [1, 3]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param("plain", "plain", id="string"),
        pytest.param("", "", id="empty string"),
        pytest.param(None, "", id="nothing"),
        pytest.param([], "", id="empty list"),
        pytest.param(["a", "b"], "a\nb", id="bare strings"),
        pytest.param([{"type": "text", "text": "A red bus", "index": 0}], "A red bus", id="extra keys"),
        pytest.param([{"type": "input_text", "text": "hi"}], "hi", id="input_text"),
        pytest.param([{"type": "output_text", "text": "hi", "annotations": [1]}], "hi", id="output_text"),
        pytest.param([{"text": "hi"}], "hi", id="no type"),
        pytest.param([{"type": "text", "text": {"value": "hi"}}], "hi", id="text in an object"),
        pytest.param([{"type": "text"}], "", id="text without text"),
        pytest.param([{"type": "refusal", "refusal": "I cannot"}], "I cannot", id="refusal"),
        pytest.param(
            [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{BASE64}"}}], "[image]", id="image_url"
        ),
        pytest.param(
            [{"type": "input_image", "image_url": f"data:image/png;base64,{BASE64}"}], "[image]", id="input_image"
        ),
        pytest.param([{"type": "image", "base64": BASE64, "mime_type": "image/png"}], "[image]", id="image"),
        pytest.param(
            [{"type": "input_audio", "input_audio": {"data": BASE64, "format": "wav"}}], "[audio]", id="input_audio"
        ),
        pytest.param([{"type": "audio", "base64": BASE64}], "[audio]", id="audio"),
        pytest.param([{"type": "video", "url": "https://example.org/v.mp4"}], "[video]", id="video"),
        pytest.param([{"type": "media", "mime_type": "video/mp4", "data": BASE64}], "[video]", id="media"),
        pytest.param(
            [{"type": "file", "file": {"filename": "plan.pdf", "file_data": BASE64}}], "[file: plan.pdf]", id="file"
        ),
        pytest.param([{"type": "input_file", "filename": "a]\n[b.pdf"}], "[file: a b.pdf]", id="odd file name"),
        pytest.param(
            [{"type": "document", "title": "Plan", "source": {"data": BASE64}}], "[file: Plan]", id="document"
        ),
        pytest.param(
            [{"type": "file", "base64": BASE64, "extras": {"name": "x.csv"}}], "[file: x.csv]", id="file in extras"
        ),
        pytest.param([{"type": "file", "file_id": "f1"}], "[file]", id="file without name"),
        pytest.param([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "42"}], "42", id="thinking"),
        pytest.param([{"type": "reasoning", "summary": "s"}, {"type": "text", "text": "42"}], "42", id="reasoning"),
        pytest.param([{"type": "tool_use", "id": "c", "name": "f", "input": {"x": 1}}], "", id="tool_use"),
        pytest.param([{"type": "function_call", "arguments": "{}"}], "", id="function_call"),
        pytest.param(
            [{"type": "tool_result", "content": [{"type": "text", "text": "18 C"}]}], "18 C", id="tool_result"
        ),
        pytest.param([{"type": "hologram", "data": BASE64}], "[hologram]", id="unknown kind"),
        pytest.param([{"type": BASE64}], "[content]", id="unreadable kind"),
        pytest.param([{"type": 7}], "[content]", id="kind that is a number"),
        pytest.param([{"type": ["text"], "data": BASE64}], "[content]", id="kind that is a list"),
        pytest.param(f"see ![x](data:image/png;base64,{BASE64}) here", "see ![x]([image]) here", id="data in text"),
        pytest.param("the word base64, alone", "the word base64, alone", id="prose about base64"),
    ],
)
def test_content_is_reduced_to_text_and_short_markers(content: Any, text: str) -> None:
    assert text_of(content) == text


def test_a_photograph_costs_few_tokens() -> None:
    message = HumanMessage(
        [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{BASE64}"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{BASE64}"}},
            "bare",
        ]
    )
    assert text_of(message) == "What is this?\n[image]\n[file: a.pdf]\nbare"
    assert estimate_tokens(text_of(message)) < 500


def test_an_assistants_split_sentence_is_joined_and_a_users_parts_are_not() -> None:
    blocks: list[str | dict[Any, Any]] = [
        {"type": "text", "text": "It is "},
        {"type": "text", "text": "blue"},
        {"type": "image"},
    ]
    assert text_of(AIMessage(blocks)) == "It is blue\n[image]"
    assert text_of(HumanMessage(blocks)) == "It is \nblue\n[image]"


def test_a_refusal_kept_beside_the_content_is_what_was_said() -> None:
    assert text_of(AIMessage("", additional_kwargs={"refusal": "I cannot"})) == "I cannot"
    assert text_of(AIMessage("yes", additional_kwargs={"refusal": "I cannot"})) == "yes"


def test_content_nested_without_end_does_not_raise() -> None:
    content: list[Any] = []
    for _ in range(5_000):
        content = [{"type": "tool_result", "content": content}]
    assert text_of(content) == ""


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        pytest.param("", 0, 0, id="empty"),
        pytest.param("a", 1, 1, id="one letter"),
        pytest.param("The quick brown fox jumps over it", 8, 10, id="english"),
        pytest.param("東京" * 100, 100, 200, id="japanese"),
        pytest.param("서울" * 100, 100, 200, id="korean"),
        pytest.param("Ж" * 100, 25, 100, id="russian"),
        pytest.param("😀" * 10, 10, 30, id="emoji"),
        pytest.param("\ud83d", 1, 1, id="half a surrogate pair"),
    ],
)
def test_a_token_estimate_is_of_the_right_size(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        pytest.param("short", 5, "short", id="fits"),
        pytest.param("a" * 100, 40, "a" * 13 + "… [87 characters left out]", id="cut"),
        pytest.param("abcdef", 3, "ab…", id="no room for the marker"),
        pytest.param("abcdef", 1, "…", id="one"),
        pytest.param("abcdef", 0, "", id="none"),
        pytest.param("abcdef", -5, "", id="negative"),
    ],
)
def test_shortening_says_how_much_was_left_out(text: str, limit: int, expected: str) -> None:
    assert shorten(text, limit) == expected


def test_the_beginning_of_a_longer_text_is_shortened_as_if_all_of_it_were_there() -> None:
    assert shorten("a" * 50, 40, whole_chars=100) == shorten("a" * 100, 40)
    assert shorten("abc", 40, whole_chars=100) == "abc… [97 characters left out]"
    assert shorten("abc", 40, whole_chars=2) == "abc"


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        pytest.param("ab👨‍👩‍👧cd", 5, "ab…", id="family"),
        pytest.param("abe\u0301cd", 4, "ab…", id="accent"),
        pytest.param("ab👍🏽cd", 4, "ab…", id="skin tone"),
        pytest.param("ab🇳🇴🇸🇪cd", 4, "ab…", id="inside the first flag"),
        pytest.param("ab🇳🇴🇸🇪cd", 5, "ab🇳🇴…", id="between two flags"),
        pytest.param("ab\ud83d\ude00cd", 4, "ab…", id="surrogate pair"),
        pytest.param("e" + "\u0301" * 500, 200, "e" + "\u0301" * 198 + "…", id="marks without end"),
        pytest.param("abcd", 3, "ab…", id="plain"),
    ],
)
def test_a_cut_never_falls_inside_a_visible_character(text: str, limit: int, expected: str) -> None:
    assert clip(text, limit) == expected


@given(st.text(max_size=200), st.integers(-5, 220))
def test_a_shortened_text_is_never_longer_than_asked(text: str, limit: int) -> None:
    for short in (shorten(text, limit), clip(text, limit)):
        assert len(short) <= max(0, limit) or short == text
        assert (short == text) == (len(text) <= limit or text == "" == short)
