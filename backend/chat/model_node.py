"""The model node of a sub-agent: prepare what is sent, call the model once, hand its answer to the state."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, Protocol

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.store.base import BaseStore
from langgraph.types import StreamWriter

from backend.chat.filtered_model import FilteredModel
from backend.chat.kept_answer import as_kept
from backend.chat.notes import note_text, with_notes
from backend.chat.state import ChatState, ChatUpdate
from backend.chat.subagents import Subagent
from backend.chat.trimming import trim_for_call
from backend.chat.turn_memory import TurnMemories, TurnMemory
from backend.llm.messages import is_human_turn
from backend.llm.models import translate_model_errors
from backend.llm.prompts import Prompts
from backend.observability.receipts import Receipt

MAX_TOOL_ROUNDS = 8
"""After so many rounds of tool calls in one turn the model gets no tools any more, so that it has to answer."""


class ModelNode(Protocol):
    async def __call__(
        self, state: ChatState, *, config: RunnableConfig, writer: StreamWriter, store: BaseStore | None
    ) -> ChatUpdate: ...


def make_model_node(
    *,
    subagent: Subagent,
    model: BaseChatModel,
    prompts: Prompts,
    tools: Mapping[str, BaseTool],
    memories: TurnMemories,
) -> ModelNode:
    """One call of the chat model with the sub-agent's instructions and tools, and with what is remembered.

    The answer carries its receipt in `response_metadata["memory"]`; the stream gets it as a custom event too.

    Raises:
        ModelUnavailable, BadModelOutput: the run fails with a message that says what to do; the state is kept.
    """
    base, identity = prompts.render(subagent.prompt), prompts.render("chat/identity")
    model = FilteredModel.around(model)
    with_tools = model.bind_tools([described(tools[name]) for name in subagent.tools])

    def instructions(memory: TurnMemory) -> SystemMessage:
        return SystemMessage(
            prompts.render(
                "chat/system",
                base=base,
                identity=identity,
                memory=memory.recalled.profile.block,
                facts=memory.items.sent.facts if memory.items.sent else "",
                earlier_conversation=memory.recalled.thread.block,
            )
        )

    async def model_node(
        state: ChatState, *, config: RunnableConfig, writer: StreamWriter, store: BaseStore | None
    ) -> ChatUpdate:
        messages = state["messages"]
        memory = await memories.of_call(state, config, store)
        trimmed = trim_for_call(messages, first_turn=memory.cut)
        sent = with_notes(trimmed, memory.items.notes, text_of_note=partial(note_text, prompts=prompts))
        may_call = tool_rounds(messages) < MAX_TOOL_ROUNDS
        answer = await _answer(with_tools if may_call else model, [instructions(memory), *sent])
        receipt = receipt_of(memory, sent=len(sent), of=len(messages))
        writer({"memory": receipt.as_json()})
        return {"messages": [as_kept(answer, receipt, may_call=may_call)], **memory.items.as_update()}

    return model_node


def described(tool: BaseTool) -> dict[str, Any]:
    """A tool as every provider takes it: closed, which langchain does for `strict` only, and without that flag, which
    not every server knows.
    """
    function = convert_to_openai_tool(tool, strict=True)["function"]
    return {"type": "function", "function": {key: part for key, part in function.items() if key != "strict"}}


async def _answer(model: Runnable[LanguageModelInput, AIMessage], messages: list[BaseMessage]) -> AIMessage:
    async with translate_model_errors():
        return await model.ainvoke(messages)


def receipt_of(memory: TurnMemory, *, sent: int, of: int) -> Receipt:
    thread = memory.recalled.thread
    return Receipt(
        profile=memory.recalled.profile.receipt,
        facts=memory.items.facts,
        recalled=memory.items.recalled,
        earlier_conversation=thread.receipt,
        covered_end=thread.covered_end if thread.receipt.reason in {"used", "empty"} else None,
        cut=memory.cut,
        messages_sent=sent,
        messages_left_out=max(0, of - sent),
    )


def tool_rounds(messages: Sequence[BaseMessage]) -> int:
    """How many messages of the current turn called tools."""
    turn = takewhile(lambda message: not is_human_turn(message), reversed(messages))
    return sum(1 for message in turn if isinstance(message, AIMessage) and message.tool_calls)


def after_model(state: ChatState) -> str:
    """The edge behind a model node: to the tools it called, or to the end of the turn."""
    last = state["messages"][-1] if state["messages"] else None
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else "trigger_background_agent"
