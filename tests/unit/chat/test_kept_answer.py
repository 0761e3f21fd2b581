import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call

from backend.chat.kept_answer import TOO_MANY_CALLS, as_kept, storable
from backend.errors import BadModelOutput
from backend.observability.receipts import BlockReceipt, RecalledReceipt, Receipt

OFF = BlockReceipt("off")
RECEIPT = Receipt(
    profile=OFF,
    facts=OFF,
    recalled=RecalledReceipt("off"),
    earlier_conversation=OFF,
    covered_end=-1,
    cut=0,
    messages_sent=1,
    messages_left_out=0,
)


def kept(answer: AIMessage, *, may_call: bool = True) -> AIMessage:
    return as_kept(answer, RECEIPT, may_call=may_call)


def test_the_answer_keeps_its_id_and_text_and_gets_its_receipt() -> None:
    answer = kept(AIMessage("Hello", id="a1", response_metadata={"model_name": "m"}))
    assert (answer.id, answer.text) == ("a1", "Hello")
    assert answer.response_metadata == {"model_name": "m", "memory": RECEIPT.as_json()}


def test_a_refusal_is_told_in_its_own_words() -> None:
    assert kept(AIMessage("", additional_kwargs={"refusal": "I will not."})).text == "I will not."


@pytest.mark.parametrize("content", ["", "  \n", [], [{"type": "text", "text": ""}]], ids=repr)
def test_an_answer_that_says_and_calls_nothing_fails_the_turn_with_a_sentence(
    content: str | list[str | dict[str, str]],
) -> None:
    with pytest.raises(BadModelOutput, match="answered nothing"):
        kept(AIMessage(content))


def test_a_call_without_an_id_gets_one() -> None:
    calls = kept(AIMessage("", tool_calls=[tool_call(name="t", args={}, id=None)] * 2)).tool_calls
    assert all(call["id"] for call in calls)
    assert calls[0]["id"] != calls[1]["id"]


def test_a_call_whose_arguments_did_not_parse_is_made_without_any() -> None:
    broken = invalid_tool_call(name="t", args='{"a":', id="c1", error=None)
    answer = kept(AIMessage("", invalid_tool_calls=[broken]))
    assert [(call["name"], call["args"], call["id"]) for call in answer.tool_calls] == [("t", {}, "c1")]
    assert answer.invalid_tool_calls == []


def test_calls_that_were_not_offered_are_left_out_and_said_so() -> None:
    answer = kept(AIMessage("", tool_calls=[tool_call(name="t", args={}, id="c1")]), may_call=False)
    assert answer.tool_calls == []
    assert answer.text == TOO_MANY_CALLS


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"a": [2**70, -(2**70), 2**64 - 1]}, {"a": [str(2**70), str(-(2**70)), 2**64 - 1]}, id="integers"),
        pytest.param({"k\ud800": ["x\udfff"]}, {"k�": ["x�"]}, id="lone surrogates"),
        pytest.param([True, None, 1.5], [True, None, 1.5], id="the rest"),
    ],
)
def test_what_no_checkpoint_holds_is_written_differently(value: object, expected: object) -> None:
    assert storable(value) == expected
