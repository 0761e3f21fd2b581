"""The chat graph: answers with what is already known, then hands the turn to the background graph."""

from langgraph.graph import END, START, StateGraph

from backend.bootstrap import ChatNodes, services
from backend.chat.first_steps import first_steps
from backend.chat.model_node import after_model
from backend.chat.router import route
from backend.chat.state import ChatInput, ChatState, RunSettings
from backend.chat.subagents import SUBAGENTS

ChatGraph = StateGraph[ChatState, RunSettings, ChatInput, ChatState]


def build(nodes: ChatNodes) -> ChatGraph:
    """The graph over the given nodes; whoever compiles it brings store and checkpointer."""
    graph = StateGraph(ChatState, context_schema=RunSettings, input_schema=ChatInput)
    graph.add_node("router_agent", nodes.router)
    graph.add_node("rename_thread_agent", nodes.rename_thread)
    for name, node in nodes.subagents.items():
        graph.add_node(name, node)
    graph.add_node("tools", nodes.tools)
    graph.add_node("trigger_background_agent", nodes.trigger)

    subagents = [subagent.name for subagent in SUBAGENTS]
    graph.add_conditional_edges(START, first_steps, ["router_agent", "rename_thread_agent", "trigger_background_agent"])
    graph.add_edge("rename_thread_agent", END)
    graph.add_conditional_edges("router_agent", route, subagents)
    for name in subagents:
        graph.add_conditional_edges(name, after_model, ["tools", "trigger_background_agent"])
    graph.add_conditional_edges("tools", route, subagents)
    graph.add_edge("trigger_background_agent", END)
    return graph


builder = build(services().chat)
graph = builder.compile(name="agent")
