"""The graph that ours is compared with: the same sub-agent as a plain model node and tool node, without memory.

Same prompt, same tools bound, same models, same messages channel; the router as in ours, or left out in both.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, TypedDict, cast

from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph

from backend.accounts.run_context import ReadContext, run_context
from backend.bootstrap import Services
from backend.chat.model_node import described
from backend.chat.router import RouterNode
from backend.chat.state import ChatState
from backend.chat.subagents import CHAT_AGENT
from backend.llm.prompts import Prompts
from backend.storage.messages_channel import Messages
from backend.tools.lookup_thread_messages import make_lookup_thread_messages_tool
from backend.tools.manage_memory import make_manage_memory_tool
from backend.tools.registry import make_tool_node
from backend.tools.save_memory import make_save_memory_tool

PlainGraph = StateGraph[Any, Any, Any, Any]
ROUTER: Final = "router_agent"
read_context: ReadContext = partial(run_context, auth_mode="none", default_user="local")


class PlainState(TypedDict, total=False):
    messages: Messages
    subagent: str


def build_plain(services: Services, *, router: RouterNode | None) -> PlainGraph:
    """The graph; whoever compiles it brings the checkpointer. Without `router` the model node is first."""
    graph: PlainGraph = StateGraph(PlainState)
    tools = memory_tools(services)
    graph.add_node("model", _make_model_node(services, tools))
    graph.add_node("tools", make_tool_node(tools))
    if router is not None:
        graph.add_node(ROUTER, _without_memory(router))
        graph.add_edge(ROUTER, "model")
    graph.add_edge(START, ROUTER if router is not None else "model")
    graph.add_conditional_edges("model", _after_model, ["tools", END])
    graph.add_edge("tools", "model")
    return graph


def _without_memory(router: RouterNode) -> Any:
    """Our router has memory read beside it, where there is a store."""

    async def route(state: PlainState) -> Any:
        return await router(cast("ChatState", state), config={}, store=None)

    return route


def memory_tools(services: Services) -> Sequence[BaseTool]:
    """The tools of our chat agent."""
    memory_of = services.memories.in_run
    return [
        make_save_memory_tool(memory_of=memory_of, read_context=read_context),
        make_manage_memory_tool(memory_of=memory_of, read_context=read_context),
        make_lookup_thread_messages_tool(),
    ]


def system_prompt() -> str:
    """The prompt of our chat agent where nothing is remembered."""
    prompts = Prompts()
    base, identity = prompts.render(CHAT_AGENT.prompt), prompts.render("chat/identity")
    return prompts.render("chat/system", base=base, identity=identity, memory="", facts="", earlier_conversation="")


def _make_model_node(services: Services, tools: Sequence[BaseTool]) -> Any:
    model = services.models.for_role("chat").bind_tools([described(tool) for tool in tools])
    instructions = SystemMessage(system_prompt())

    async def model_node(state: PlainState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke([instructions, *state.get("messages", [])])]}

    return model_node


def _after_model(state: PlainState) -> str:
    last = state.get("messages", [None])[-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else END
