"""The model node of a sub-agent: prepare what is sent, call the model once, hand its answer to the state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.store.base import BaseStore
from langgraph.types import StreamWriter

from backend.accounts.run_context import ReadContext
from backend.chat.filtered_model import FilteredModel
from backend.chat.kept_answer import as_kept
from backend.chat.notes import note_text, with_notes
from backend.chat.state import ChatState, ChatUpdate
from backend.chat.subagents import Subagent
from backend.chat.trimming import cut_turn, trim_for_call
from backend.llm.messages import human_positions
from backend.llm.models import translate_model_errors
from backend.llm.prompts import Prompts
from backend.memory.recall import Recalled, recall
from backend.memory.recall_items import RecalledItems, current_turn, recall_items
from backend.memory.sent_memory import sent_memory_in
from backend.memory.user_memory import MemoryOf
from backend.observability.receipts import Receipt

MAX_TOOL_ROUNDS = 8
"""After so many rounds of tool calls in one turn the model gets no tools any more, so that it has to answer."""


@dataclass(frozen=True, slots=True)
class RecentTurns:
    """How much of a thread is sent as it is."""

    buffer: int
    """The newest turns, even when summaries cover them."""
    without_summaries: int
    """The newest turns when the summaries cannot be read: the whole thread might be more than a model takes."""


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
    memory_of: MemoryOf,
    read_context: ReadContext,
    recent: RecentTurns,
) -> ModelNode:
    """One call of the chat model with the sub-agent's instructions and tools, and with what is remembered.

    The answer carries its receipt in `response_metadata["memory"]`; the stream gets it as a custom event too.

    Raises:
        ModelUnavailable, BadModelOutput: the run fails with a message that says what to do; the state is kept.
    """
    base, identity = prompts.render(subagent.prompt), prompts.render("chat/identity")
    model = FilteredModel.around(model)
    with_tools = model.bind_tools([described(tools[name]) for name in subagent.tools])

    def instructions(recalled: Recalled, items: RecalledItems) -> SystemMessage:
        return SystemMessage(
            prompts.render(
                "chat/system",
                base=base,
                identity=identity,
                memory=recalled.profile.block,
                facts=items.sent.facts if items.sent else "",
                earlier_conversation=recalled.thread.block,
            )
        )

    async def model_node(
        state: ChatState, *, config: RunnableConfig, writer: StreamWriter, store: BaseStore | None
    ) -> ChatUpdate:
        messages, context = state["messages"], read_context(config)
        memory = memory_of(context.user_id, store)
        recalled = await recall(memory, context.thread_id, messages)
        cut = first_turn_sent(messages, recalled, recent)
        items = await recall_items(
            memory,
            sent_memory_in(state.get("sent_memory")),
            current_turn(messages, thread_id=context.thread_id, cut=cut),
        )
        sent = with_notes(
            trim_for_call(messages, first_turn=cut), items.notes, text_of_note=partial(note_text, prompts=prompts)
        )
        may_call = tool_rounds(messages) < MAX_TOOL_ROUNDS
        answer = await _answer(with_tools if may_call else model, [instructions(recalled, items), *sent])
        receipt = receipt_of(recalled, items, cut=cut, sent=len(sent), of=len(messages))
        writer({"memory": receipt.as_json()})
        return {"messages": [as_kept(answer, receipt, may_call=may_call)], **items.as_update()}

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


def first_turn_sent(messages: Sequence[BaseMessage], recalled: Recalled, recent: RecentTurns) -> int:
    """The cut: behind what summaries cover, but never in the newest turns."""
    count = len(human_positions(messages))
    if recalled.thread.receipt.reason == "unavailable":
        return max(0, count - recent.without_summaries)
    return cut_turn(human_count=count, covered_end=recalled.thread.covered_end, buffer_turns=recent.buffer)


def receipt_of(recalled: Recalled, items: RecalledItems, *, cut: int, sent: int, of: int) -> Receipt:
    return Receipt(
        profile=recalled.profile.receipt,
        facts=items.facts,
        recalled=items.recalled,
        earlier_conversation=recalled.thread.receipt,
        cut=cut,
        messages_sent=sent,
        messages_left_out=max(0, of - sent),
    )


def tool_rounds(messages: Sequence[BaseMessage]) -> int:
    """How many messages of the current turn called tools."""
    positions = human_positions(messages)
    turn = messages[positions[-1] :] if positions else messages
    return sum(1 for message in turn if isinstance(message, AIMessage) and message.tool_calls)


def after_model(state: ChatState) -> str:
    """The edge behind a model node: to the tools it called, or to the end of the turn."""
    last = state["messages"][-1] if state["messages"] else None
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else "trigger_background_agent"
