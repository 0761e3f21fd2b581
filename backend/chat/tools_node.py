"""`tools`: runs what the active sub-agent's model called, and nothing that was not offered to it."""

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from backend.chat.router import route
from backend.chat.state import ChatState, ChatUpdate
from backend.chat.subagents import Subagent
from backend.tools.registry import make_tool_node


class ToolsNode(Protocol):
    async def __call__(self, state: ChatState, config: RunnableConfig) -> ChatUpdate: ...


def make_tools_node(*, subagents: Sequence[Subagent], tools: Mapping[str, BaseTool]) -> ToolsNode:
    """Every call is answered by a ToolMessage; a failed one tells the model why and what to do next."""
    nodes = {subagent.name: make_tool_node([tools[name] for name in subagent.tools]) for subagent in subagents}

    async def run_tools(state: ChatState, config: RunnableConfig) -> ChatUpdate:
        return cast("ChatUpdate", await nodes[route(state)].ainvoke(state, config))

    return run_tools
