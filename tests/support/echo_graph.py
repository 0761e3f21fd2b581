"""A graph with the shape of the chat graph, one step after the other, that answers what it was told."""

import asyncio
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from backend.chat.state import ChatInput, ChatState

HOLD = "hold"
"""Told this, it never answers."""

EchoGraph = CompiledStateGraph[Any, Any, Any, Any]


class Gate:
    """Holds up the answer until it is opened, and tells when somebody has come to it."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def pass_through(self) -> None:
        self.reached.set()
        await self.opened.wait()


def make_echo_builder(
    *, gate: Gate | None = None, state: type[Any] = ChatState, text: str = ""
) -> StateGraph[Any, Any, Any, Any]:
    """`text` is appended to each answer, to make it as long as a real one."""

    def route(state: Any) -> dict[str, Any]:
        return {"subagent": "chat_agent"}

    async def answer(state: Any) -> dict[str, Any]:
        heard: list[AnyMessage] = state["messages"]
        if gate is not None:
            await gate.pass_through()
        if heard[-1].text == HOLD:
            await asyncio.Event().wait()
        return {"messages": [AIMessage(f"heard {heard[-1].text}{text}")]}

    def trigger(state: Any) -> dict[str, Any]:
        return {}

    graph: StateGraph[Any, Any, Any, Any] = StateGraph(state, input_schema=ChatInput if state is ChatState else state)
    graph.add_node("router_agent", route)
    graph.add_node("chat_agent", answer)
    graph.add_node("trigger_background_agent", trigger)
    graph.add_edge(START, "router_agent")
    graph.add_edge("router_agent", "chat_agent")
    graph.add_edge("chat_agent", "trigger_background_agent")
    graph.add_edge("trigger_background_agent", END)
    return graph


def make_echo_graph(
    saver: BaseCheckpointSaver[Any], *, gate: Gate | None = None, state: type[Any] = ChatState, text: str = ""
) -> EchoGraph:
    """As `make_echo_builder`, compiled."""
    return make_echo_builder(gate=gate, state=state, text=text).compile(checkpointer=saver)


def in_thread(thread_id: str, *, run_id: str | None = None, checkpoint_id: str | None = None) -> RunnableConfig:
    """The config of a run, or of a look at one."""
    place = {"thread_id": thread_id, "checkpoint_ns": ""}
    config: RunnableConfig = {
        "configurable": place if checkpoint_id is None else place | {"checkpoint_id": checkpoint_id}
    }
    if run_id is not None:
        config["metadata"] = {"run_id": run_id}
    return config
