"""`OfflineModel`: what serves when no provider is configured."""

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final, Literal, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, TypeAdapter
from typing_extensions import override

from backend.llm.messages import estimate_tokens, human_positions, text_of
from backend.llm.offline.replies import reply
from backend.llm.offline.routing import choose_subagent
from backend.llm.offline.summarizing import summarize
from backend.llm.offline.titles import make_title
from backend.llm.offline.turn import read_turn
from backend.settings import Role

MODEL_NAME: Final = "offline"

Tool = Mapping[str, Any] | type | Callable[..., Any] | BaseTool
Schema = dict[str, Any] | type


class OfflineModel(BaseChatModel):
    """Fixed rules behind the interface of a chat model; which rules, `role` says.

    It never raises on messages of any shape, contacts nothing, and answers at once.
    """

    role: Role

    @property
    def _llm_type(self) -> str:
        return MODEL_NAME

    @override
    def bind_tools(
        self, tools: Sequence[Tool], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with tools that it may call; of the options only `tool_choice="none"` means something to it."""
        offered = [] if tool_choice == "none" else [convert_to_openai_tool(cast("Any", tool)) for tool in tools]
        return self.bind(tools=offered)

    @override
    def with_structured_output(
        self,
        schema: Schema | None = None,
        *,
        method: Literal["function_calling", "json_mode", "json_schema"] = "json_schema",
        include_raw: bool = False,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, dict[str, Any] | BaseModel]:
        """The model with its answer parsed as `schema`; the router and the summary role answer that way.

        With `include_raw` the result is `{raw, parsed, parsing_error}`, else the parsed answer.

        Raises (when it runs, without `include_raw`): ValueError, if the answer does not fit the schema.
        """

        async def read(raw: AIMessage) -> Any:
            if not include_raw:
                return _parse(raw, schema)
            try:
                return {"raw": raw, "parsed": _parse(raw, schema), "parsing_error": None}
            except ValueError as error:
                return {"raw": raw, "parsed": None, "parsing_error": error}

        return self | RunnableLambda(read, name="read_structured_output")

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=_answer(self.role, messages, kwargs.get("tools", [])))])

    @override
    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, None, **kwargs)

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        # Chunks carry no id: langchain gives all chunks of a run the same one, its closing chunk included.
        for chunk in _chunks(_answer(self.role, messages, kwargs.get("tools", []))):
            yield ChatGenerationChunk(message=chunk)


def _answer(role: Role, messages: Sequence[BaseMessage], tools: Sequence[Mapping[str, Any]]) -> AIMessage:
    said = _said(role, messages, frozenset(tool["function"]["name"] for tool in tools))
    text, calls = (said, []) if isinstance(said, str) else ("", said)
    read = sum(estimate_tokens(text_of(message)) for message in messages)
    written = estimate_tokens(text + "".join(json.dumps(call["args"]) for call in calls))
    return AIMessage(
        text,
        tool_calls=calls,
        usage_metadata=UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written),
        response_metadata={"model_name": MODEL_NAME, "finish_reason": "tool_calls" if calls else "stop"},
    )


def _said(role: Role, messages: Sequence[BaseMessage], tools: frozenset[str]) -> str | list[ToolCall]:
    match role:
        case "chat":
            return reply(read_turn(messages, tools))
        case "router":
            turn = read_turn(messages)
            return json.dumps({"subagent": choose_subagent(turn.said, turn.before)})
        case "title":
            humans = human_positions(messages)
            return make_title(text_of(messages[humans[0]])) if humans else ""
        case "summary":
            return json.dumps(summarize("\n".join(text_of(message) for message in messages)), ensure_ascii=False)


def _chunks(message: AIMessage) -> list[AIMessageChunk]:
    """A message word by word; the last chunk carries the calls, the usage and how it ended."""
    words = re.findall(r"\s*\S+\s*", message.text) or [message.text]
    calls = [
        tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=index)
        for index, call in enumerate(message.tool_calls)
    ]
    last = AIMessageChunk(
        content=words[-1],
        tool_call_chunks=calls,
        usage_metadata=message.usage_metadata,
        response_metadata=message.response_metadata,
        chunk_position="last",
    )
    return [*(AIMessageChunk(content=word) for word in words[:-1]), last]


def _parse(raw: AIMessage, schema: Schema | None) -> dict[str, Any] | BaseModel:
    if isinstance(schema, type):
        return TypeAdapter[Any](schema).validate_json(raw.text)
    return json.loads(raw.text)
