"""Other ways to keep a long thread short, as they are shipped, over the same prompt, tools, model and checkpointer.

All three keep about as much of the newest turns as they were said: ours 5 to 15 turns; LangChain's middleware
compresses at 15 turns and keeps 5; LangMem's node compresses when the turns that it has not summarized fill what 15
turns take.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, TypedDict

from langchain_core.messages import AnyMessage, BaseMessage, SystemMessage
from langgraph.graph import END, START, StateGraph

from backend.chat.model_node import described
from backend.storage.messages_channel import Messages
from bench.turns.in_process import InProcess, Variant
from bench.turns.plain import memory_tools, system_prompt

# Imported when they are used: they are installed for measuring, not for development.
LANGCHAIN: Final = "langchain.agents"
LANGCHAIN_MIDDLEWARE: Final = "langchain.agents.middleware"
LANGMEM: Final = "langmem.short_term"

TURNS_AT_MOST: Final = 15
TURNS_KEPT: Final = 5
TOKENS_OF_A_TURN: Final = 210
"""About what a scripted turn takes, both sides together."""
SUMMARY_TOKENS: Final = 1_000


def langchain_middleware(side: InProcess) -> Variant:
    """An agent with SummarizationMiddleware, which replaces the messages in the state."""
    models = side.services.models
    middleware: Any = import_module(LANGCHAIN_MIDDLEWARE).SummarizationMiddleware(
        models.for_role("summary"), trigger=("messages", 2 * TURNS_AT_MOST), keep=("messages", 2 * TURNS_KEPT)
    )
    graph: Any = import_module(LANGCHAIN).create_agent(
        models.for_role("chat"),
        tools=list(memory_tools(side.services)),
        system_prompt=system_prompt(),
        middleware=[middleware],
        checkpointer=side.saver,
    )
    return Variant("LangChain SummarizationMiddleware", graph)


class LangMemState(TypedDict, total=False):
    messages: Messages
    summarized_messages: list[AnyMessage]
    context: dict[str, Any]


def langmem_node(side: InProcess) -> Variant:
    """A model node behind a SummarizationNode, which leaves the messages in the state as they are."""
    models, tools = side.services.models, memory_tools(side.services)
    model = models.for_role("chat").bind_tools([described(tool) for tool in tools])

    async def model_node(state: LangMemState) -> dict[str, Any]:
        sent = with_instructions(system_prompt(), state.get("summarized_messages", []))
        return {"messages": [await model.ainvoke(sent)]}

    room = TURNS_AT_MOST * TOKENS_OF_A_TURN
    summarizing: Any = import_module(LANGMEM).SummarizationNode(
        model=models.for_role("summary"),
        max_tokens=room + SUMMARY_TOKENS,
        max_tokens_before_summary=room,
        max_summary_tokens=SUMMARY_TOKENS,
    )
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(LangMemState)
    graph.add_node("summarize", summarizing)
    graph.add_node("model", model_node)
    graph.add_edge(START, "summarize")
    graph.add_edge("summarize", "model")
    graph.add_edge("model", END)
    return Variant("LangMem SummarizationNode", graph.compile(checkpointer=side.saver))


def with_instructions(instructions: str, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """One system message in front: providers take no second one, and LangMem's summary is one."""
    systems = [message.text for message in messages if isinstance(message, SystemMessage)]
    others = [message for message in messages if not isinstance(message, SystemMessage)]
    return [SystemMessage("\n\n".join([instructions, *systems])), *others]
