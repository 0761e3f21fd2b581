"""The model's answer as the state keeps it: storable, and with nothing in it that would end the turn in silence."""

from collections.abc import Mapping
from typing import Any, Final, cast
from uuid import uuid4

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import ToolCall, tool_call

from backend.errors import BadModelOutput
from backend.llm.content import well_formed
from backend.observability.receipts import Receipt

TOO_MANY_CALLS: Final = "I have called too many tools without coming to an end, so I stop here."


def as_kept(answer: AIMessage, receipt: Receipt, *, may_call: bool = True) -> AIMessage:
    """The answer with its receipt, for the state.

    A refusal's reason becomes the text of an answer that has none. A call whose arguments did not parse becomes one
    without arguments: the tool refuses it and says why, so that the model can repeat it. A call without an id gets
    one. Unless it `may_call`, an answer that calls tools all the same is an answer without calls.

    Raises:
        BadModelOutput: it neither says nor calls anything.
    """
    calls = _calls(answer) if may_call else []
    content = storable(answer.content)
    if not answer.text.strip() and not calls:
        content = _instead_of_nothing(answer)
    return answer.model_copy(
        update={
            "content": content,
            "tool_calls": calls,
            "invalid_tool_calls": [],
            "additional_kwargs": {key: part for key, part in answer.additional_kwargs.items() if key != "tool_calls"},
            "response_metadata": {**answer.response_metadata, "memory": receipt.as_json()},
        }
    )


def _instead_of_nothing(answer: AIMessage) -> str:
    refusal = answer.additional_kwargs.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return well_formed(refusal)
    if answer.tool_calls or answer.invalid_tool_calls:
        return TOO_MANY_CALLS
    raise BadModelOutput("The language model answered nothing; ask again, or in other words.")


def _calls(answer: AIMessage) -> list[ToolCall]:
    parsed = [(call["name"], call["args"], call["id"]) for call in answer.tool_calls]
    unparsed: list[tuple[str, dict[str, Any], str | None]] = [
        (call["name"] or "", {}, call["id"]) for call in answer.invalid_tool_calls
    ]
    return [
        tool_call(name=well_formed(name), args=storable(args), id=call_id or f"call_{uuid4().hex}")
        for name, args, call_id in [*parsed, *unparsed]
    ]


def storable(value: Any) -> Any:
    """The value as a checkpoint can hold it, where the run would end otherwise: integers of more than 64 bits as text,
    and text without lone surrogates.
    """
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    if isinstance(value, Mapping):
        members = cast("Mapping[Any, Any]", value)
        return {storable(key): storable(member) for key, member in members.items()}
    if isinstance(value, list):
        return [storable(member) for member in cast("list[Any]", value)]
    return value
