"""The background graph: what is remembered after a turn, away from the answer's path."""

from langgraph.graph import END, START, StateGraph

from backend.background.state import FinishedTurn
from backend.bootstrap import BackgroundNodes, services

BackgroundGraph = StateGraph[FinishedTurn, None, FinishedTurn, FinishedTurn]


def build(nodes: BackgroundNodes) -> BackgroundGraph:
    """The graph over the given nodes; running it twice changes nothing the second time."""
    graph = StateGraph(FinishedTurn)
    graph.add_node("touch_last_message", nodes.touch_last_message)
    graph.add_node("record_episode", nodes.record_episode)
    graph.add_node("summarize", nodes.summarize)

    graph.add_edge(START, "touch_last_message")
    graph.add_edge("touch_last_message", "record_episode")
    graph.add_edge("record_episode", "summarize")
    graph.add_edge("summarize", END)
    return graph


builder = build(services().background)
graph = builder.compile(name="background_agent")
