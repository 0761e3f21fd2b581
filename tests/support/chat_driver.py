"""Drives the compiled chat graph in this process as a client would, one thread at a time."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph

from backend import agent
from backend.bootstrap import assemble
from backend.settings import Settings
from backend.storage.database import Database
from tests.support.model_server import ModelServer
from tests.support.threads import RecordedServer


@dataclass
class ChatDriver:
    """One thread of one user; `send` is a turn."""

    graph: CompiledStateGraph[Any, Any, Any, Any]
    server: RecordedServer
    user_id: str | None = "ana"
    thread_id: str = field(default_factory=lambda: str(uuid4()))

    def __post_init__(self) -> None:
        self.server.metadata.setdefault(self.thread_id, {})

    @property
    def config(self) -> RunnableConfig:
        return {"configurable": {"thread_id": self.thread_id, "user_id": self.user_id or ""}}

    @property
    def title(self) -> object:
        return self.server.metadata[self.thread_id].get("title")

    async def send(self, *messages: BaseMessage | str) -> str:
        """Send messages as one turn; the text of the answer."""
        sent = [HumanMessage(message) if isinstance(message, str) else message for message in messages]
        result = await self.graph.ainvoke({"messages": sent}, self.config)
        answer = result["messages"][-1]
        assert isinstance(answer, AIMessage)
        return answer.text

    async def messages(self) -> Sequence[BaseMessage]:
        """The thread's state, as stored."""
        return (await self.graph.aget_state(self.config)).values.get("messages", [])


@asynccontextmanager
async def make_chat_driver(
    model: ModelServer, checkpointer: BaseCheckpointSaver[Any], **settings: object
) -> AsyncGenerator[ChatDriver]:
    """A driver whose models are scripted; `settings` override the defaults."""
    values: dict[str, Any] = {name.lower(): value for name, value in model.environment.items()}
    server = RecordedServer()
    chosen = Settings(**{**values, **cast("dict[str, Any]", settings)})
    services = assemble(chosen, database=Database(chosen), server=server)
    yield ChatDriver(agent.build(services.chat).compile(checkpointer=checkpointer), server)
