"""Histories as threads may hold them: what models, clients, other frameworks and older versions have left there."""

from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)

from tests.fuzz.hostile import huge_texts, texts, values

BLOCKS: Final[Sequence[Any]] = (
    "bare",
    "",
    {"type": "text", "text": "block"},
    {"type": "text", "text": ""},
    {"type": "text"},
    {"type": "text", "text": None},
    {"type": "text", "text": {"value": "inner"}},
    {"type": "text", "text": "older", "source_type": "text"},
    {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}},
    {"type": "text", "text": "half \ud83d"},
    {"type": "text-plain", "text": "plain"},
    {"type": "input_text", "text": "in"},
    {"type": "output_text", "text": "out", "annotations": []},
    {"text": "no type"},
    {},
    {"type": None},
    {"type": ["odd"]},
    {"type": "hologram", "x": 1},
    {"type": "image"},
    {"type": "image", "url": "https://example.org/x.png"},
    {"type": "image", "base64": "AA=="},
    {"type": "image", "base64": "AA==", "mime_type": "image/png"},
    {"type": "image", "source_type": "base64", "data": "AA==", "mime_type": "image/png"},
    {"type": "image", "source_type": "url"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
    {"type": "image", "source": {"type": "file", "file_id": "f"}},
    {"type": "image", "source": "x"},
    {"type": "image", "source": None},
    {"type": "image", "source": {}, "base64": "AA=="},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
    {"type": "image_url", "image_url": "https://example.org/x.png"},
    {"type": "audio", "base64": "AA==", "mime_type": "audio/wav"},
    {"type": "audio", "base64": "AA==", "mime_type": 5},
    {"type": "audio", "url": "https://example.org/x.wav"},
    {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
    {"type": "file", "file": {"file_id": "f"}},
    {"type": "file", "file": {"filename": "plan.pdf"}, "url": "https://example.org/plan.pdf"},
    {"type": "file", "base64": "AA==", "mime_type": "application/pdf"},
    {"type": "file", "base64": "AA==", "mime_type": "application/pdf", "extras": 5},
    {"type": "file", "url": "https://example.org/plan.pdf"},
    {"type": "file", "source_type": "id"},
    {"type": "video", "url": "https://example.org/x.mp4"},
    {"type": "media", "mime_type": "video/mp4", "data": "AA=="},
    {"type": "thinking", "thinking": "hm", "signature": "s"},
    {"type": "redacted_thinking", "data": "x"},
    {"type": "reasoning", "summary": []},
    {"type": "reasoning_content", "text": "hm"},
    {"type": "refusal", "refusal": "no"},
    {"type": "refusal"},
    {"type": "tool_use", "id": "c0", "name": "look", "input": {}},
    {"type": "tool_call", "id": "c0", "name": "look", "args": {}},
    {"type": "function_call", "name": "look", "arguments": "{}"},
    {"type": "tool_result", "tool_use_id": "c0", "content": [{"type": "text", "text": "nested"}]},
    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
    {"type": "web_search_tool_result", "content": []},
    {"type": "additional_tools", "tools": []},
    {"type": "code_interpreter_call", "code": "1"},
)
KWARGS: Final[Sequence[dict[str, Any]]] = (
    {},
    {},
    {},
    {"hide_from_ui": True},
    {"lc_source": "summarization"},
    {"name": "older name"},
    {"refusal": "I will not"},
    {"refusal": 5},
    {"tool_calls": [{"id": "c0", "type": "function", "function": {"name": "look", "arguments": "{"}}]},
    {"function_call": {"name": "look", "arguments": '{"q": 1}'}},
    {"function_call": {"name": None, "arguments": "{"}},
    {"function_call": "odd"},
    {"tool_call_id": "c1"},
    {"__openai_role__": "developer"},
)
call_ids: st.SearchStrategy[str | None] = st.sampled_from(["c0", "c1", "c2", "call_0", "call_1", "call_2", "", None])
names: st.SearchStrategy[str] = st.one_of(
    st.sampled_from(["look", "save_memory", "not safe!", "", "x" * 200, "a.b/c", "ünï", "look\n"]), texts
)
message_ids: st.SearchStrategy[str | None] = st.sampled_from([None, "m0", "m1", "m2", "", "m\0"])
contents: st.SearchStrategy[Any] = st.one_of(
    texts,
    st.lists(st.sampled_from(BLOCKS), max_size=4),
    st.lists(st.sampled_from(BLOCKS), max_size=4),
    st.just("words"),
    st.just(""),
    st.integers(0, 5).flatmap(lambda odds: st.just("words") if odds else huge_texts),
)
no_arguments: dict[str, Any] = {}
arguments: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.sampled_from([no_arguments, {"q": 1}]),
    st.dictionaries(texts, values, max_size=3),
    huge_texts.map(lambda text: {"q": text}),
)


@st.composite
def attributes(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "id": draw(message_ids),
        "name": draw(st.none() | names),
        "additional_kwargs": dict(draw(st.sampled_from(KWARGS))),
    }


@st.composite
def humans(draw: st.DrawFn) -> BaseMessage:
    kind = draw(st.sampled_from([HumanMessage, HumanMessage, HumanMessageChunk]))
    return kind(content=draw(contents), **draw(attributes()))


@st.composite
def answers(draw: st.DrawFn) -> BaseMessage:
    calls = [
        {"name": draw(names), "args": draw(arguments), "id": draw(call_ids), "type": "tool_call"}
        for _ in range(draw(st.integers(0, 3)))
    ]
    broken = [
        {"name": draw(st.none() | names), "args": "{", "id": draw(call_ids), "error": None}
        for _ in range(draw(st.sampled_from([0, 0, 0, 1])))
    ]
    return AIMessage(content=draw(contents), tool_calls=calls, invalid_tool_calls=broken, **draw(attributes()))  # pyright: ignore[reportArgumentType]


@st.composite
def chunks(draw: st.DrawFn) -> BaseMessage:
    pieces = [
        {
            "name": draw(st.none() | names),
            "args": draw(st.sampled_from(["{}", '{"a": 1', "", None])),
            "id": draw(call_ids),
        }
        for _ in range(draw(st.integers(0, 2)))
    ]
    made: list[Any] = [{**piece, "index": index, "type": "tool_call_chunk"} for index, piece in enumerate(pieces)]
    return AIMessageChunk(content=draw(contents), tool_call_chunks=made, **draw(attributes()))


@st.composite
def results(draw: st.DrawFn) -> BaseMessage:
    kind = draw(st.sampled_from([ToolMessage, ToolMessage, ToolMessageChunk]))
    call_id = draw(call_ids) or ""
    return kind(
        content=draw(contents),
        tool_call_id=call_id,
        status=draw(st.sampled_from(["success", "error"])),
        artifact=draw(st.none() | values),
        **draw(attributes()),
    )


@st.composite
def strays(draw: st.DrawFn) -> BaseMessage:
    roles = st.sampled_from(["user", "Human ", "assistant", "tool", "function", "system", "developer", "narrator"])
    content = draw(contents)
    return draw(
        st.one_of(
            st.builds(ChatMessage, content=st.just(content), role=roles),
            st.just(SystemMessage(content)),
            st.just(SystemMessageChunk(content=content)),
            st.builds(FunctionMessage, content=st.just("done"), name=names),
            st.just(RemoveMessage(id="m0")),
        )
    )


any_message: st.SearchStrategy[BaseMessage] = st.one_of(humans(), answers(), results(), answers(), chunks(), strays())
hostile_lists: st.SearchStrategy[list[BaseMessage]] = st.lists(any_message, max_size=12)


@st.composite
def sound_turns(draw: st.DrawFn) -> list[BaseMessage]:
    """A turn as our own graph leaves it: a question, rounds of calls with all their results in any order, an answer."""
    words = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=12)
    turn: list[BaseMessage] = [HumanMessage(draw(words))]
    for round_ in range(draw(st.integers(0, 3))):
        ids = [f"c{round_}-{number}" for number in range(draw(st.integers(1, 3)))]
        calls: list[Any] = [{"name": "look", "args": {"q": draw(words)}, "id": id_, "type": "tool_call"} for id_ in ids]
        turn.append(AIMessage(draw(st.just("") | words), tool_calls=calls))
        turn += [ToolMessage(draw(words), tool_call_id=id_) for id_ in draw(st.permutations(ids))]
    return [*turn, AIMessage(draw(words))]


sound_lists: st.SearchStrategy[list[BaseMessage]] = st.lists(sound_turns(), min_size=1, max_size=5).map(
    lambda turns: [message for turn in turns for message in turn]
)
