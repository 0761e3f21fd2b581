"""Our chat graph and the plain one in this process, over the same database and models."""

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, cast
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from backend import agent, background_agent
from backend.bootstrap import Services, assemble
from backend.chat.router import RouterNode
from backend.chat.state import ChatState, ChatUpdate
from backend.settings import Settings
from backend.storage.database import Database
from backend.storage.langgraph_checkpointer import PostgresSaver, open_checkpointer
from backend.storage.langgraph_store import PostgresStore, open_store
from bench.turns.plain import build_plain
from tests.support.threads import RecordedServer

USER: Final = "ana"

Graph = Any
"""A compiled graph, whatever its state."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn took, and the thread's messages after it."""

    seconds: float
    cpu_seconds: float
    """Of this process alone: what it waits for in PostgreSQL or at the models is not in it."""
    messages: Sequence[BaseMessage]


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the graphs that are compared."""

    name: str
    graph: Graph

    async def turn(self, thread_id: str, text: str, *, user_id: str = USER) -> Turn:
        """Send a message and wait for the answer; only that is timed. `user_id` of plain turns means nothing."""
        config: RunnableConfig = {"configurable": {"thread_id": thread_id, "user_id": user_id}}
        message, began, cpu_began = HumanMessage(text), time.perf_counter(), time.process_time()
        result = await self.graph.ainvoke({"messages": [message]}, config)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
        assert isinstance(result["messages"][-1], AIMessage)
        return Turn(seconds, cpu_seconds, result["messages"])


@dataclass(frozen=True, slots=True, kw_only=True)
class InProcess:
    """The parts of one process that serves turns. `ours` and `plain` make the same model calls."""

    services: Services
    server: RecordedServer
    saver: PostgresSaver
    store: PostgresStore
    ours: Variant
    plain: Variant
    background: Graph

    def new_thread(self) -> str:
        thread_id = str(uuid4())
        self.server.metadata[thread_id] = {"title": "Titled"}
        return thread_id

    async def remember(self, turn: Turn | None = None) -> float:
        """Do the background work of the turns so far; the seconds it took. `turn` is the last one of its thread."""
        started, began = list(self.server.started), time.perf_counter()
        self.server.started.clear()
        for user_id, finished in started:
            thread_id = str(finished["thread_id"])
            if turn is not None:
                self.server.messages[thread_id] = turn.messages
            config: RunnableConfig = {"configurable": {"user_id": user_id or ""}}
            await self.background.ainvoke(cast("Any", finished), config)
        return time.perf_counter() - began


@asynccontextmanager
async def in_process(
    url: str, environment: Mapping[str, str], *, routed: bool = True, **settings: object
) -> AsyncGenerator[InProcess]:
    """Everything is open while the block runs. Unless `routed`, neither graph asks the router model. A turn of the user
    `""` is a turn of nobody, without memory.
    """
    values: dict[str, Any] = {name.lower(): value for name, value in environment.items()}
    values |= {"database_url": url, "auth_default_user": "", **settings}
    chosen = Settings(**values)
    database, server = Database(chosen), RecordedServer()
    services = assemble(chosen, database=database, server=server)
    async with services.running(), open_checkpointer(database) as saver, open_store(database) as store:
        chat = services.chat if routed else replace(services.chat, router=choose_chat_agent)
        plain = build_plain(services, router=services.chat.router if routed else None)
        yield InProcess(
            services=services,
            server=server,
            saver=saver,
            store=store,
            ours=Variant("ours", agent.build(chat).compile(checkpointer=saver, store=store)),
            plain=Variant("plain", plain.compile(checkpointer=saver)),
            background=background_agent.build(services.background).compile(store=store),
        )


async def _choose_chat_agent(state: ChatState, **_: object) -> ChatUpdate:  # noqa: ARG001
    return {"subagent": "chat_agent"}


choose_chat_agent: RouterNode = _choose_chat_agent
