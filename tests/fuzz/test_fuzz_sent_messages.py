"""Any history, cut anywhere, becomes a request that a strict provider answers; the state stays as it was."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI

from backend.chat.trimming import cut_turn, trim_for_call
from backend.llm.messages import human_positions, role_of
from tests.fuzz.budget import TIME, examples
from tests.fuzz.growth import growth
from tests.fuzz.message_lists import BLOCKS, hostile_lists, sound_lists
from tests.support.model_requests import ModelRequest, violations_of

pytestmark = [
    TIME,
    # langchain's client warns of a file without a name and then gives it one
    pytest.mark.filterwarnings("ignore:OpenAI may require a filename:UserWarning"),
    pytest.mark.filterwarnings("ignore:Generating overly large repr"),
]

MARKED = 200
"""So many characters a block or a call may have beside its bounded text."""


@cache
def client() -> ChatOpenAI:
    return ChatOpenAI(model="none", api_key="none", base_url="http://127.0.0.1:9")  # pyright: ignore[reportArgumentType]


def request_of(sent: Sequence[BaseMessage]) -> ModelRequest:
    """The request as langchain's client writes it, read as a provider reads it."""
    messages = [SystemMessage("instructions"), *sent]
    payload = cast("object", client()._get_request_payload(messages))  # pyright: ignore[reportPrivateUsage]
    wire = json.dumps(payload, ensure_ascii=False, allow_nan=False).encode()
    return ModelRequest(number=1, at=0.0, headers={}, body=cast("dict[str, Any]", json.loads(wire)))


def roles_of(request: ModelRequest) -> list[str]:
    return [str(message["role"]) for message in request.messages]


def text_chars(message: BaseMessage) -> int:
    if isinstance(message.content, str):
        return len(message.content)
    blocks = [block for block in message.content if isinstance(block, dict) and block.get("type") == "text"]
    return sum(len(block["text"]) for block in blocks)


@examples(250)
@given(hostile_lists, st.integers(-3, 14))
def test_any_history_is_sent_as_a_strict_provider_wants_it(history: list[BaseMessage], first_turn: int) -> None:
    before = repr(history)
    sent = trim_for_call(history, first_turn=first_turn)
    assert repr(history) == before
    assert not {id(message) for message in history} & {id(message) for message in sent}
    if any(role_of(message) == "human" for message in history):
        request = request_of(sent)
        assert list(violations_of(request)) == []
        assert roles_of(request)[:2] == ["system", "user"]
    else:
        assert sent == []


@examples(250)
@given(st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=2), st.booleans())
def test_any_blocks_alone_in_a_message_are_sent_too(blocks: list[Any], by_the_user: bool) -> None:
    said = HumanMessage(blocks) if by_the_user else AIMessage(blocks)
    request = request_of(trim_for_call([HumanMessage("H0"), said]))
    assert list(violations_of(request)) == []


@examples(150)
@given(hostile_lists, st.integers(0, 3))
def test_what_was_sent_once_is_sent_again_as_it_is(history: list[BaseMessage], first_turn: int) -> None:
    sent = trim_for_call(history, first_turn=first_turn, max_message_chars=10**8)
    if sent:
        assert request_of(trim_for_call(sent, max_message_chars=10**8)).messages == request_of(sent).messages


@examples(150)
@given(hostile_lists, st.sampled_from([60, 500, 5_000]))
def test_no_text_and_no_arguments_are_longer_than_allowed(history: list[BaseMessage], most: int) -> None:
    for message in trim_for_call(history, max_message_chars=most):
        assert text_chars(message) <= most
        calls = message.tool_calls if isinstance(message, AIMessage) else []
        # a lone character may have to be escaped in JSON, as six
        assert all(len(json.dumps(call["args"], ensure_ascii=False)) <= 6 * most + MARKED for call in calls)


@examples(150)
@given(sound_lists, st.integers(0, 5))
def test_of_a_sound_history_nothing_behind_the_cut_is_lost_or_moved(
    history: list[BaseMessage], first_turn: int
) -> None:
    positions = human_positions(history)
    kept = history[positions[min(first_turn, len(positions) - 1)] :]
    sent = trim_for_call(history, first_turn=first_turn)
    assert [message.text for message in sent if not isinstance(message, ToolMessage)] == [
        message.text for message in kept if not isinstance(message, ToolMessage)
    ]
    assert sorted(message.text for message in sent) == sorted(message.text for message in kept)
    assert [message.id for message in kept] == [None] * len(kept)


@examples(150)
@given(
    st.integers(0, 400),
    st.integers(-1, 400),
    st.integers(-2, 12),
)
def test_the_cut_is_a_turn_and_keeps_all_that_summaries_do_not_cover(count: int, covered: int, buffer: int) -> None:
    cut = cut_turn(human_count=count, covered_end=covered, buffer_turns=buffer)
    assert 0 <= cut <= max(0, count - 1)
    assert cut <= covered + 1
    assert cut <= max(0, count - buffer) or cut == 0


def a_long_thread(turns: int) -> list[BaseMessage]:
    one: list[Any] = [{"name": "look", "args": {"q": 1}, "id": "c0", "type": "tool_call"}]
    turn: list[BaseMessage] = [HumanMessage("H"), AIMessage("", tool_calls=one)]
    turn += [ToolMessage("r", tool_call_id="c0"), AIMessage("A")]
    return turn * turns


def one_turn_of_calls(count: int) -> list[BaseMessage]:
    """All calls of one turn come first, then their results, then as many results of no call."""
    calls: list[BaseMessage] = [
        AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": f"c{number}", "type": "tool_call"}])
        for number in range(count)
    ]
    known = [ToolMessage("r", tool_call_id=f"c{number}") for number in range(count)]
    orphans = [ToolMessage("r", tool_call_id=f"o{number}") for number in range(count)]
    return [HumanMessage("H"), *calls, *known, *orphans]


def taken_ids(count: int) -> list[BaseMessage]:
    """Ids that would be given next are those of calls already."""
    ids = [f"call_{number}" for number in range(count, 2 * count)] + ["call_1"] * count
    calls: list[Any] = [{"name": "look", "args": {}, "id": id_, "type": "tool_call"} for id_ in ids]
    return [HumanMessage("H"), AIMessage("", tool_calls=calls)]


@pytest.mark.parametrize("thread", [a_long_thread, one_turn_of_calls, taken_ids])
def test_four_times_the_history_is_about_four_times_the_work(thread: Any) -> None:
    assert growth(trim_for_call, thread(100), thread(400)) < 5
