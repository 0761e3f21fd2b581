"""Answers of a given form: one call, one validated object, or an error and nothing else."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, TypeVar, cast

import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_openai import ChatOpenAI
from langgraph.constants import TAG_NOSTREAM
from pydantic import BaseModel, ValidationError
from structlog.stdlib import get_logger

from backend.errors import BadModelOutput, ModelUnavailable
from backend.llm.json_answer import json_object_in
from backend.llm.models import translate_model_errors
from backend.llm.strict_schema import strict_schema

T = TypeVar("T", bound=BaseModel)

Method = Literal["json_schema", "function_calling", "json_mode"]
METHODS: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode")
"""How a form can be asked for, best first. What a server does not know it rejects, and the next one is tried."""

_REJECTING_STATUS = {400, 404, 422}
_REJECTED_WORDS = (
    "response_format",
    "response format",
    "json_schema",
    "json_object",
    "structured output",
    "tool_choice",
    "tool choice",
    "tool use",
    "tools",
    "function call",
)
_JSON_INSTRUCTION = (
    "Answer with one JSON object that fits this JSON schema, and with nothing else, neither before nor after it:\n"
)

_log = get_logger(__name__)


class StructuredCalls:
    """Asks models for objects, and remembers for each model and server which method it takes."""

    def __init__(self) -> None:
        self._methods: dict[tuple[str, str], Method] = {}

    async def call(
        self,
        model: BaseChatModel,
        messages: Sequence[BaseMessage],
        schema: type[T],
        *,
        tags: Sequence[str] = (TAG_NOSTREAM,),
    ) -> T:
        """The model's answer as a valid `schema`. Never streamed to the user, whatever else is in `tags`.

        Fenced JSON, and JSON after other text or after thoughts, is read. There is no second try: what to do about a
        failed call is the caller's decision.

        Raises:
            BadModelOutput: a refusal, an answer that is cut off, empty, or not of this form.
            ModelUnavailable: no answer, or the server rejects every method.
            TypeError: the schema cannot be sent to strict providers, see `strict_schema`.
        """
        config = RunnableConfig(tags=list(dict.fromkeys([*tags, TAG_NOSTREAM])))
        if not isinstance(model, ChatOpenAI):
            return _validated(_payload_of(await _ask_other(model, messages, schema, config)), schema)
        server = (model.model_name, model.openai_api_base or "")
        for method in METHODS[METHODS.index(self._methods.get(server, METHODS[0])) :]:
            answer = await _ask(model, messages, schema, method=method, config=config)
            if answer is not None:
                self._remember(server, method)
                return _validated(_payload_of(answer), schema)
        raise ModelUnavailable("The model server takes no structured output, tools or JSON mode; set another MODEL.")

    def _remember(self, server: tuple[str, str], method: Method) -> None:
        if self._methods.setdefault(server, METHODS[0]) != method:
            self._methods[server] = method
            _log.info("structured_method_chosen", model=server[0], method=method)


async def _ask_other(
    model: BaseChatModel, messages: Sequence[BaseMessage], schema: type[BaseModel], config: RunnableConfig
) -> AIMessage:
    asking = model.with_structured_output(schema, method=METHODS[0], include_raw=True)
    async with translate_model_errors():
        answer = cast("dict[str, Any]", await asking.ainvoke(list(messages), config))
    return answer["raw"]


async def _ask(
    model: ChatOpenAI,
    messages: Sequence[BaseMessage],
    schema: type[BaseModel],
    *,
    method: Method,
    config: RunnableConfig,
) -> AIMessage | None:
    """The answer as it came, or None when the server rejects the method."""
    asking, sent = _prepared(model, messages, schema, method)
    async with translate_model_errors():
        try:
            return await asking.ainvoke(sent, config)
        except openai.APIStatusError as error:
            if _rejects_method(error):
                return None
            raise


@cache
def _wire_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Made once: nobody may change it."""
    return strict_schema(schema)


def _prepared(
    model: ChatOpenAI, messages: Sequence[BaseMessage], schema: type[BaseModel], method: Method
) -> tuple[Runnable[Any, AIMessage], list[BaseMessage]]:
    """Not `with_structured_output`: given a class it loses the answer when that does not parse, and it changes the
    method by the model's name.
    """
    wire = _wire_schema(schema)
    named = {"name": schema.__name__, "strict": True}
    if method == "json_schema":
        return model.bind(response_format={"type": "json_schema", "json_schema": {**named, "schema": wire}}), [
            *messages
        ]
    if method == "function_calling":
        description = wire.get("description", f"Give the answer as {schema.__name__}.")
        parameters = {key: part for key, part in wire.items() if key != "description"}
        tool = {"type": "function", "function": {**named, "description": description, "parameters": parameters}}
        return model.bind_tools([tool], tool_choice=schema.__name__), [*messages]
    return model.bind(response_format={"type": "json_object"}), _with_instruction(messages, wire)


def _with_instruction(messages: Sequence[BaseMessage], wire: dict[str, Any]) -> list[BaseMessage]:
    """JSON mode knows no schema, so it is told in words, in the one system message that every server takes."""
    instruction = _JSON_INSTRUCTION + json.dumps(wire, ensure_ascii=False)
    if messages and isinstance(messages[0], SystemMessage):
        return [SystemMessage(f"{messages[0].text}\n\n{instruction}"), *messages[1:]]
    return [SystemMessage(instruction), *messages]


def _rejects_method(error: openai.APIStatusError) -> bool:
    complaint = str(error).lower()
    return error.status_code in _REJECTING_STATUS and any(word in complaint for word in _REJECTED_WORDS)


def _payload_of(answer: AIMessage) -> dict[str, Any]:
    finish = answer.response_metadata.get("finish_reason")
    if finish == "length":
        raise BadModelOutput("The answer of the language model was cut off at its length limit.")
    if finish == "content_filter" or answer.additional_kwargs.get("refusal"):
        raise BadModelOutput("The language model refused to answer this.")
    if answer.invalid_tool_calls or len(answer.tool_calls) > 1:
        raise BadModelOutput("The language model called its tool in a way that cannot be read.")
    payload = answer.tool_calls[0]["args"] if answer.tool_calls else json_object_in(answer.text)
    if not payload:
        raise BadModelOutput("The language model answered without the JSON object that was asked for.")
    return payload


def _validated(payload: dict[str, Any], schema: type[T]) -> T:
    try:
        return schema.model_validate(payload)
    except ValidationError as error:
        faults = sorted({fault["type"] for fault in error.errors(include_url=False)})
    # Not chained, and without places: both would repeat what the model wrote.
    raise BadModelOutput(f"The answer of the language model does not fit {schema.__name__} ({', '.join(faults)}).")
