"""What is sent in one call (CASES 1 to 9), judged by a checker that knows nothing of how the trim works."""

import copy
import re
from collections.abc import Sequence
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_openai import ChatOpenAI

from backend.chat.trimming import INTERRUPTED, UNPARSED, cut_turn, trim_for_call

SAFE = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def calls(*ids: str | None, text: str = "", name: str = "look") -> AIMessage:
    return AIMessage(text, tool_calls=[{"name": name, "args": {}, "id": id_, "type": "tool_call"} for id_ in ids])


def result(id_: str, text: str = "found") -> ToolMessage:
    return ToolMessage(text, tool_call_id=id_)


def faults(sent: Sequence[BaseMessage]) -> list[str]:
    """What a strict provider would refuse in a history, each as a sentence."""
    start = [] if not sent or isinstance(sent[0], HumanMessage) else ["does not start with a human message"]
    return [*start, *(fault for message in sent for fault in faults_of(message)), *pairing_faults(sent)]


def faults_of(message: BaseMessage) -> list[str]:
    named = [message.name] if message.name is not None else []
    found = [] if type(message) in {HumanMessage, AIMessage, ToolMessage} else [f"a {type(message).__name__} is sent"]
    if isinstance(message, AIMessage):
        named += [call["name"] for call in message.tool_calls]
        found += ["a call has arguments that are no JSON" for _ in message.invalid_tool_calls]
        if not message.tool_calls and not message.text.strip():
            found.append("an assistant message says and calls nothing")
    return [*found, *(f"the name {name!r} is not safe" for name in named if not SAFE.fullmatch(name))]


def pairing_faults(sent: Sequence[BaseMessage]) -> list[str]:
    """Each call is answered once, directly behind the message that calls, in order, under an id sent only once."""
    found: list[str] = []
    pending: list[str | None] = []
    for message in [*sent, HumanMessage("end")]:
        if isinstance(message, ToolMessage):
            if not pending or message.tool_call_id != pending.pop(0):
                found.append(f"the result {message.tool_call_id} does not follow its call")
        else:
            found += [f"the call {id_} is not answered" for id_ in pending]
            pending = [call["id"] for call in message.tool_calls] if isinstance(message, AIMessage) else []
    ids = [call["id"] for message in sent if isinstance(message, AIMessage) for call in message.tool_calls]
    return found if len(set(ids)) == len(ids) and all(ids) else [*found, f"call ids {ids} repeat or are missing"]


def texts(sent: Sequence[BaseMessage]) -> list[str]:
    return [message.text for message in sent]


def on_the_wire(sent: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """The messages as langchain-openai writes them into the request."""
    model = ChatOpenAI(model="none", api_key="none", base_url="http://127.0.0.1:9")  # pyright: ignore[reportArgumentType]
    payload = cast("dict[str, Any]", model._get_request_payload(list(sent)))  # pyright: ignore[reportPrivateUsage]
    return payload["messages"]


CASE_1: list[BaseMessage] = [
    HumanMessage("H0", id="h0"),
    calls("c1", "c2"),
    result("c1", "r1"),
    result("c2", "r2"),
    AIMessage("A0"),
    HumanMessage("H1", id="h1"),
    calls("c3"),
    result("c3", "r3"),
    AIMessage("A1"),
    HumanMessage("H2", id="h2"),
]


@pytest.mark.parametrize("first_turn", range(-2, 10))
def test_every_cut_gives_a_history_that_a_provider_accepts(first_turn: int) -> None:
    sent = trim_for_call(CASE_1, first_turn=first_turn)
    assert faults(sent) == []
    assert sent[0].text == f"H{max(0, min(first_turn, 2))}"
    assert sent[-1].text == "H2"


def test_a_summary_up_to_the_first_turn_leaves_the_second_and_the_current() -> None:
    first_turn = cut_turn(human_count=3, covered_end=0, buffer_turns=1)
    assert texts(trim_for_call(CASE_1, first_turn=first_turn)) == ["H1", "", "r3", "A1", "H2"]


def test_a_call_and_all_its_results_stay_together() -> None:
    history = [HumanMessage("H0"), calls("c1", "c2"), result("c1", "x" * 20_000), result("c2"), AIMessage("A0")]
    history.append(HumanMessage("H1"))
    whole, cut = trim_for_call(history), trim_for_call(history, first_turn=1)
    assert texts(whole) == ["H0", "", "x" * 20_000, "found", "A0", "H1"]
    assert texts(cut) == ["H1"]


def test_a_result_of_200_000_characters_is_cut_with_a_marker_and_the_turn_stays() -> None:
    sent = trim_for_call([HumanMessage("H0"), calls("c1"), result("c1", "x" * 200_000)])
    assert faults(sent) == []
    assert len(sent[2].text) == 50_000
    assert sent[2].text.endswith("characters left out]")


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(HumanMessage("x" * 9_000), id="human"),
        pytest.param(HumanMessage([{"type": "text", "text": "x" * 500} for _ in range(20)]), id="many blocks"),
        pytest.param(HumanMessage(["x" * 9_000, {"type": "text", "text": "y"}]), id="bare string"),
        pytest.param(AIMessage("x" * 9_000), id="assistant"),
    ],
)
def test_any_long_text_is_cut_with_a_marker(message: BaseMessage) -> None:
    sent = trim_for_call([HumanMessage("H0"), message], max_message_chars=1_000)
    assert len(sent[1].text) <= 1_000
    assert "characters left out]" in sent[1].text


def test_a_picture_is_sent_whole_beside_text_that_is_cut() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400_000}}
    sent = trim_for_call([HumanMessage([{"type": "text", "text": "x" * 9_000}, picture])], max_message_chars=100)
    assert sent[0].content[0] == picture
    assert len(sent[0].text) == 100


def test_long_arguments_are_cut_and_stay_json() -> None:
    call = AIMessage("", tool_calls=[{"name": "f", "args": {"text": "x" * 9_000}, "id": "c1"}])
    sent = trim_for_call([HumanMessage("H0"), call, result("c1")], max_message_chars=1_000)
    assert faults(sent) == []
    assert len(on_the_wire(sent)[1]["tool_calls"][0]["function"]["arguments"]) < 1_200


def test_chunks_and_aliases_are_sent_as_their_kind_and_unknown_roles_are_not() -> None:
    history = [
        HumanMessage("H0"),
        AIMessageChunk(content="the answer is 42"),
        ChatMessage(content="be brief", role="developer"),
        ChatMessage(content="H1", role="user"),
        ChatMessage(content="A1", role="assistant"),
        HumanMessage("H2"),
    ]
    sent = trim_for_call(history)
    assert faults(sent) == []
    assert texts(sent) == ["H0", "the answer is 42", "H1", "A1", "H2"]


def test_stray_system_messages_and_removals_are_not_sent() -> None:
    s = SystemMessage("S")
    history = [s, HumanMessage("H0"), AIMessage("A0"), s, HumanMessage("H1"), RemoveMessage(id="x"), AIMessage("A1"), s]
    assert texts(trim_for_call(history)) == ["H0", "A0", "H1", "A1"]


@pytest.mark.parametrize(
    ("name", "sent_as"),
    [
        pytest.param("Ana María <ops>", None, id="unsafe"),
        pytest.param("ana\n", None, id="trailing newline"),
        pytest.param("a" * 65, None, id="long"),
        pytest.param("", None, id="empty"),
        pytest.param("ana-1", "ana-1", id="safe"),
    ],
)
def test_an_unsafe_name_is_dropped(name: str, sent_as: str | None) -> None:
    named = HumanMessage("hi", name=name)
    hidden = HumanMessage("hi", additional_kwargs={"name": name})
    for message in (named, hidden):
        assert on_the_wire(trim_for_call([message]))[0].get("name") == sent_as


def test_an_empty_answer_is_not_sent_and_an_empty_call_with_an_empty_result_is() -> None:
    assert texts(trim_for_call([HumanMessage("H0"), AIMessage(""), HumanMessage("H1")])) == ["H0", "H1"]
    pair = trim_for_call([HumanMessage("H0"), calls("c1"), result("c1", ""), HumanMessage("H1")])
    assert faults(pair) == []
    assert texts(pair) == ["H0", "", "", "H1"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("  \n", id="blanks"),
        pytest.param([], id="empty list"),
        pytest.param([{"type": "thinking", "thinking": "hm"}], id="thought only"),
        pytest.param([{"type": "text", "text": ""}], id="empty block"),
    ],
)
def test_an_answer_without_words_is_not_sent(content: Any) -> None:
    assert texts(trim_for_call([HumanMessage("H0"), AIMessage(content), HumanMessage("H1")])) == ["H0", "H1"]


def test_an_interrupted_call_gets_a_result_that_says_so() -> None:
    sent = trim_for_call([HumanMessage("H0"), calls("c1", "c2"), result("c2", "r2"), HumanMessage("H1")])
    assert faults(sent) == []
    assert texts(sent) == ["H0", "", INTERRUPTED, "r2", "H1"]
    assert isinstance(sent[2], ToolMessage)
    assert sent[2].status == "error"


def test_results_are_put_behind_their_call_in_the_order_of_the_calls() -> None:
    note = HumanMessage("note", additional_kwargs={"hide_from_ui": True})
    sent = trim_for_call([HumanMessage("H0"), calls("c1", "c2"), result("c2", "r2"), note, result("c1", "r1")])
    assert faults(sent) == []
    assert texts(sent) == ["H0", "", "r1", "r2", "note"]


def test_ids_that_repeat_in_every_turn_are_paired_within_their_turn_and_sent_once_each() -> None:
    history: list[BaseMessage] = []
    for turn in range(3):
        history += [HumanMessage(f"H{turn}"), calls("call_0"), result("call_0", f"r{turn}"), AIMessage(f"A{turn}")]
    sent = trim_for_call(history)
    assert faults(sent) == []
    assert texts(sent) == [text for t in range(3) for text in (f"H{t}", "", f"r{t}", f"A{t}")]


def test_ids_that_repeat_within_a_turn_are_paired_with_the_call_before_them() -> None:
    sent = trim_for_call([HumanMessage("H0"), calls("c"), result("c", "r1"), calls("c"), result("c", "r2")])
    assert faults(sent) == []
    assert texts(sent) == ["H0", "", "r1", "", "r2"]


def test_a_result_belongs_to_the_nearest_call_of_its_id_before_it() -> None:
    sent = trim_for_call([HumanMessage("H0"), calls("c"), calls("c"), result("c", "r2")])
    assert faults(sent) == []
    assert texts(sent) == ["H0", "", INTERRUPTED, "", "r2"]


def test_the_numbering_of_repeated_ids_does_not_change_when_the_thread_grows() -> None:
    history = [HumanMessage("H0"), calls("c"), result("c"), HumanMessage("H1"), calls("c"), result("c")]
    longer = [*history, HumanMessage("H2"), calls("c"), result("c")]
    assert trim_for_call(longer)[: len(history)] == trim_for_call(history)


def test_a_late_result_of_an_earlier_turn_does_not_answer_this_turns_call() -> None:
    sent = trim_for_call([HumanMessage("H0"), calls("c"), HumanMessage("H1"), result("c", "late"), calls("c")])
    assert faults(sent) == []
    assert texts(sent) == ["H0", "", INTERRUPTED, "H1", "", INTERRUPTED]


@pytest.mark.parametrize(
    "history",
    [
        pytest.param([HumanMessage("H0"), result("c9"), AIMessage("A0")], id="orphan"),
        pytest.param(
            [HumanMessage("H0"), AIMessage("A0"), FunctionMessage(content="r", name="f")], id="function orphan"
        ),
        pytest.param([AIMessage("hello"), result("c1"), HumanMessage("H0"), AIMessage("A0")], id="leading"),
    ],
)
def test_results_without_a_call_and_leading_messages_are_not_sent(history: list[BaseMessage]) -> None:
    assert texts(trim_for_call(history)) == ["H0", "A0"]


def test_a_second_result_for_one_call_is_not_sent() -> None:
    sent = trim_for_call([HumanMessage("H0"), calls("c"), result("c", "first"), result("c", "second")])
    assert texts(sent) == ["H0", "", "first"]


def test_a_call_without_an_id_gets_one() -> None:
    sent = trim_for_call([HumanMessage("H0"), calls(None, ""), AIMessage("A0")])
    assert faults(sent) == []
    assert all(call["id"] for call in on_the_wire(sent)[1]["tool_calls"])


def test_arguments_that_did_not_parse_become_an_empty_call_with_its_answer() -> None:
    invalid = AIMessage(
        "",
        invalid_tool_calls=[
            {"name": "f", "args": '{"city": Os', "id": "c1", "error": "x", "type": "invalid_tool_call"}
        ],
    )
    sent = trim_for_call([HumanMessage("H0"), invalid, HumanMessage("H1")])
    assert faults(sent) == []
    assert texts(sent) == ["H0", "", UNPARSED, "H1"]
    assert on_the_wire(sent)[1]["tool_calls"][0]["function"] == {"name": "f", "arguments": "{}"}
    answered = trim_for_call([HumanMessage("H0"), invalid, result("c1", "write JSON")])
    assert texts(answered) == ["H0", "", "write JSON"]


def test_an_invented_tool_name_is_made_safe() -> None:
    sent = trim_for_call([HumanMessage("H0"), calls("c1", name="get weather!"), result("c1"), calls("c2", name="")])
    assert faults(sent) == []


def test_the_older_function_format_is_sent_as_a_tool_call() -> None:
    asked = AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": '{"x": 1}'}})
    sent = trim_for_call([HumanMessage("H0"), asked, FunctionMessage(content="one", name="f"), AIMessage("A0")])
    assert faults(sent) == []
    assert texts(sent) == ["H0", "", "one", "A0"]
    wire = on_the_wire(sent)[1]
    assert wire["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"x": 1}'}
    assert "function_call" not in wire


def test_a_provider_s_own_copy_of_a_repaired_call_is_not_sent_beside_it() -> None:
    call = AIMessage(
        [{"type": "text", "text": "I look"}, {"type": "tool_use", "id": "c", "name": "look", "input": {}}],
        tool_calls=[{"name": "look", "args": {}, "id": "c"}],
    )
    sent = trim_for_call([HumanMessage("H0"), call, result("c"), HumanMessage("H1"), call, result("c")])
    assert faults(sent) == []
    assert [len(message.content) for message in sent if isinstance(message, AIMessage)] == [2, 1]


def test_framework_made_messages_are_sent_and_do_not_count_as_turns() -> None:
    def hidden(text: str) -> HumanMessage:
        return HumanMessage(text, additional_kwargs={"hide_from_ui": True})

    history = [hidden("c0"), HumanMessage("H0"), AIMessage("A0"), hidden("c1"), HumanMessage("H1"), AIMessage("A1")]
    assert texts(trim_for_call(history)) == ["c0", "H0", "A0", "c1", "H1", "A1"]
    assert texts(trim_for_call(history, first_turn=1)) == ["c1", "H1", "A1"]
    assert texts(trim_for_call([AIMessage("x"), hidden("c0"), AIMessage("A0")], first_turn=5)) == ["c0", "A0"]


def test_without_a_human_message_there_is_nothing_to_send() -> None:
    assert trim_for_call([]) == []
    assert trim_for_call([AIMessage("A0"), result("c1"), SystemMessage("S")], first_turn=3) == []


@pytest.mark.parametrize(
    ("block", "sent_as"),
    [
        pytest.param("bare", {"type": "text", "text": "bare"}, id="bare string"),
        pytest.param({"type": "hologram", "x": 1}, {"type": "text", "text": "[hologram]"}, id="unknown"),
        pytest.param({"type": ["odd"]}, {"type": "text", "text": "[content]"}, id="odd type"),
        pytest.param({"type": "image"}, {"type": "text", "text": "[image]"}, id="image without data"),
        pytest.param(
            {"type": "image", "base64": "AA=="}, {"type": "text", "text": "[image]"}, id="image without mime type"
        ),
        pytest.param({"type": "audio", "url": "https://x"}, {"type": "text", "text": "[audio]"}, id="audio by address"),
        pytest.param(
            {"type": "image", "url": "https://x/y.png"},
            {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
            id="image",
        ),
        pytest.param({"type": "text", "text": "a\ud83d"}, {"type": "text", "text": "a\ufffd"}, id="half a character"),
    ],
)
def test_a_block_that_the_client_could_not_send_becomes_words(block: Any, sent_as: dict[str, Any]) -> None:
    assert on_the_wire(trim_for_call([HumanMessage(["hi", block])]))[0]["content"][1] == sent_as


def test_no_text_on_the_wire_has_half_a_surrogate_pair() -> None:
    call = AIMessage("x\udc00", tool_calls=[{"name": "f", "args": {"a": "\ud83d"}, "id": "c1"}])
    sent = trim_for_call([HumanMessage("\ud83d"), call, result("c1", "\ud83d")])
    assert str(on_the_wire(sent)).encode("utf-8")
    assert sent[0].content == "\ufffd"


def test_arguments_that_are_no_json_are_sent_as_text() -> None:
    call = AIMessage("", tool_calls=[{"name": "f", "args": {"a": float("nan")}, "id": "c1"}])
    wire = on_the_wire(trim_for_call([HumanMessage("H0"), call]))
    assert wire[1]["tool_calls"][0]["function"]["arguments"] == '{"not_json": "{\'a\': nan}"}'


@pytest.mark.parametrize("content", [[], "", [{"type": "text", "text": ""}]])
def test_a_user_who_said_nothing_keeps_the_turn_and_sends_no_empty_content(content: Any) -> None:
    assert on_the_wire(trim_for_call([HumanMessage(content)])) == [{"role": "user", "content": "[empty message]"}]


def test_a_spoken_answer_without_text_is_kept() -> None:
    spoken = AIMessage("", additional_kwargs={"audio": {"id": "a1"}})
    assert len(trim_for_call([HumanMessage("H0"), spoken, HumanMessage("H1")])) == 3


@pytest.mark.parametrize(
    ("human_count", "covered_end", "buffer_turns", "expected"),
    [
        pytest.param(0, -1, 5, 0, id="no turns"),
        pytest.param(3, -1, 5, 0, id="nothing covered"),
        pytest.param(20, -1, 5, 0, id="long and nothing covered"),
        pytest.param(11, 9, 5, 6, id="the first turn behind the summaries: the buffer stays"),
        pytest.param(12, 9, 5, 6, id="the next turn begins where the one before it did"),
        pytest.param(20, 9, 5, 6, id="and so does every other, until summaries cover more"),
        pytest.param(10, 9, 5, 5, id="another answer to the last turn that they cover"),
        pytest.param(20, 9, 1, 10, id="no turn twice where only the current one is wanted"),
        pytest.param(20, 9, 0, 10, id="all covered turns go"),
        pytest.param(3, 2, 5, 0, id="shorter than the buffer"),
        pytest.param(3, 0, 1, 1, id="case 1"),
        pytest.param(10, 9, 0, 9, id="never past the current turn"),
        pytest.param(10, 500, -3, 9, id="nonsense past the end"),
        pytest.param(10, -500, 5, 0, id="nonsense before the start"),
    ],
)
def test_the_cut_leaves_the_buffer_and_the_uncovered_turns(
    human_count: int, covered_end: int, buffer_turns: int, expected: int
) -> None:
    assert cut_turn(human_count=human_count, covered_end=covered_end, buffer_turns=buffer_turns) == expected


def a_human(text: Any, hidden: bool) -> BaseMessage:
    return HumanMessage(text, additional_kwargs={"hide_from_ui": hidden})


def an_answer(text: Any, parsed: list[Any], broken: list[Any]) -> BaseMessage:
    return AIMessage(text, tool_calls=parsed, invalid_tool_calls=broken)


def a_chunk(text: Any) -> BaseMessage:
    return AIMessageChunk(content=text)


def a_result(id_: str, text: Any) -> BaseMessage:
    return ToolMessage(text, tool_call_id=id_)


def a_role(role: str) -> BaseMessage:
    return ChatMessage(content="x", role=role)


contents = st.sampled_from(
    ["", " ", "words", ["bare"], [], [{"type": "text", "text": "block"}], [{"type": "thinking"}]]
)
call_ids = st.sampled_from(["c0", "c1", "", None])
names = st.sampled_from(["f", "not safe!", ""])
a_call = st.fixed_dictionaries({"name": names, "args": st.just({"x": 1}), "id": call_ids})
a_broken_call = st.fixed_dictionaries({"name": names, "args": st.just("{"), "id": call_ids, "error": st.none()})
any_message = st.one_of(
    st.builds(a_human, contents, st.booleans()),
    st.builds(an_answer, contents, st.lists(a_call, max_size=3), st.lists(a_broken_call, max_size=1)),
    st.builds(a_chunk, contents),
    st.builds(a_result, st.sampled_from(["c0", "c1", ""]), contents),
    st.builds(a_role, st.sampled_from(["user", "assistant", "tool", "developer"])),
    st.sampled_from([SystemMessage("S"), FunctionMessage(content="x", name="f")]),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(any_message, max_size=14), st.integers(-3, 12))
def test_any_history_and_cut_is_sent_in_a_form_that_providers_accept(
    history: list[BaseMessage], first_turn: int
) -> None:
    before = copy.deepcopy(history)
    sent = trim_for_call(history, first_turn=first_turn)
    assert faults(sent) == []
    assert history == before
    has_human = any(isinstance(m, HumanMessage) or (isinstance(m, ChatMessage) and m.role == "user") for m in history)
    assert bool(sent) is has_human
    assert all(not any(kept is message for message in history) for kept in sent)
