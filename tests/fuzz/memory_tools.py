"""The memory tools as the graph runs them: one call of a model, and the one result it gets."""

from functools import partial
from typing import Any, Final
from uuid import uuid4

from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph

from backend.accounts.run_context import run_context
from backend.ids import UserId
from backend.memory.user_memory import UserMemory
from backend.tools.manage_memory import make_manage_memory_tool
from backend.tools.registry import make_tool_node
from backend.tools.save_memory import make_save_memory_tool
from tests.support.memory_homes import Process

UNEXPECTED: Final = "TOOL_FAILED"
"""How a result begins that hides an error of ours."""


class MemoryTools:
    """The tools of somebody whom nobody knew before."""

    def __init__(self, process: Process) -> None:
        self.user_id = UserId(f"user-{uuid4()}")
        self._process = process
        self._graph = tool_graph(process)

    @property
    def memory(self) -> UserMemory:
        return self._process.memory_of(self.user_id)

    async def call(self, name: str, arguments: dict[str, Any], *, said: str = "go on") -> ToolMessage:
        """What a call with these arguments comes to; a call that raises fails the test."""
        asked = AIMessage("", tool_calls=[ToolCall(name=name, args=arguments, id="c0")])
        sent: Any = {"messages": [HumanMessage(said), asked]}
        state = await self._graph.ainvoke(sent, {"configurable": {"user_id": self.user_id}})
        [result] = [message for message in state["messages"] if isinstance(message, ToolMessage)]
        assert not result.text.startswith(UNEXPECTED), result.text
        result.text.encode("utf-8")
        return result


def tool_graph(process: Process) -> CompiledStateGraph[Any, Any, Any, Any]:
    read_context = partial(run_context, auth_mode="none", default_user="")
    tools = [
        make_save_memory_tool(memory_of=process.memories.in_run, read_context=read_context),
        make_manage_memory_tool(memory_of=process.memories.in_run, read_context=read_context),
    ]
    graph = StateGraph(MessagesState)
    graph.add_node("tools", make_tool_node(tools))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    return graph.compile(store=process.store)
