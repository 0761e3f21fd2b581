"""Drives both graphs over one store and one checkpointer: turns, and the background runs that they start."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import orjson
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from backend import agent, background_agent
from backend.ids import Json, ThreadId, UserId
from backend.llm.messages import human_positions
from backend.memory.summaries.record import SummaryRow
from backend.memory.user_memory import UserMemory
from tests.support.chat_driver import ChatDriver
from tests.support.memory_homes import Home, Process
from tests.support.model_server import ModelServer
from tests.support.threads import RecordedServer

Turn = tuple[UserId | None, dict[str, Json]]


@dataclass
class GraphServer(RecordedServer):
    """Threads whose messages are those of the chat graph's state, as they travel over HTTP."""

    graph: CompiledStateGraph[Any, Any, Any, Any] | None = None
    loads: int = 0
    """How often a thread's messages were asked for."""
    after_load: Callable[[int], Awaitable[object]] | None = None
    """What happens right after a thread's messages were handed out, for the first, second ... time."""

    async def thread_messages(self, thread_id: ThreadId, *, user_id: UserId | None) -> Sequence[BaseMessage]:
        await super().thread_messages(thread_id, user_id=user_id)
        self.loads += 1
        assert self.graph is not None
        state = await self.graph.aget_state({"configurable": {"thread_id": thread_id}})
        sent = orjson.dumps([message.model_dump() for message in state.values.get("messages", [])])
        if self.after_load is not None:
            await self.after_load(self.loads)
        return convert_to_messages(orjson.loads(sent))


@dataclass(kw_only=True)
class MemoryDriver(ChatDriver):
    """One thread of one user in one process."""

    background: CompiledStateGraph[Any, Any, Any, Any]
    process: Process
    server: GraphServer  # pyright: ignore[reportIncompatibleVariableOverride]
    turns: int = field(default=0, init=False)

    @property
    def memory(self) -> UserMemory:
        assert self.user_id is not None
        return self.process.memory_of(self.user_id)

    @property
    def thread(self) -> ThreadId:
        return ThreadId(self.thread_id)

    def elsewhere(self, **changes: Any) -> "MemoryDriver":
        """Another thread, or another user, on the same server; a new thread unless one is named."""
        return replace(self, **{"thread_id": str(uuid4()), **changes})

    async def talk(self, turns: int, *, remembering: bool = True) -> None:
        """So many turns, `question 1` and so on, each followed by its background run, or by none."""
        for _ in range(turns):
            self.turns += 1
            await self.send(f"question {self.turns}")
            if remembering:
                await self.remember()

    async def remember(self, *, times: int = 1) -> None:
        """Run all turns that were handed over through the background graph, each so many times."""
        while self.server.started:
            turn = self.server.started.pop(0)
            for _ in range(times):
                await self.run(turn)

    async def run(self, turn: Turn) -> None:
        """One background run, as the server makes it: on a thread of its own, with input that went through JSON."""
        user_id, sent = turn
        config: RunnableConfig = {"configurable": {"thread_id": str(uuid4()), "user_id": user_id or ""}}
        await self.background.ainvoke(json.loads(json.dumps(sent)), config)

    async def rows(self) -> Sequence[SummaryRow]:
        """The thread's summaries of every branch, as stored."""
        return (await self.memory.summaries.stored(self.thread)).rows

    async def windows(self) -> list[tuple[int, int]]:
        return [(row.start_message_index, row.end_message_index) for row in await self.rows()]

    async def checkpoint_before(self, turn: int) -> RunnableConfig:
        """Where the state was, in the newest branch, when `turn` (0-based) had not been asked yet."""
        async for state in self.graph.aget_state_history(self.config):
            if len(human_positions(state.values.get("messages", []))) == turn and not state.next:
                return state.config
        raise AssertionError(f"no checkpoint before turn {turn}")

    async def here(self) -> RunnableConfig:
        """The newest checkpoint, to come back to."""
        return (await self.graph.aget_state(self.config)).config

    async def send_from(self, checkpoint: RunnableConfig, *messages: BaseMessage | str) -> str:
        """A turn that goes on from a checkpoint: an edit, another answer, a fork."""
        sent = [HumanMessage(message) if isinstance(message, str) else message for message in messages]
        where: Mapping[str, Any] = {**self.config.get("configurable", {}), **checkpoint.get("configurable", {})}
        result = await self.graph.ainvoke({"messages": sent}, {"configurable": dict(where)})
        answer = result["messages"][-1]
        assert isinstance(answer, AIMessage)
        return answer.text

    async def delete_thread(self) -> None:
        """On the server: its state and its metadata."""
        await self.process.saver.adelete_thread(self.thread_id)
        del self.server.metadata[self.thread_id]


OpenDriver = Callable[..., Awaitable[MemoryDriver]]
"""`await open_driver(**settings)`: a driver in a further process over the same storage."""


@asynccontextmanager
async def memory_drivers(home: Home, model: ModelServer) -> AsyncGenerator[OpenDriver]:
    metadata: dict[str, dict[str, Json]] = {}
    async with AsyncExitStack() as stack:

        async def open_driver(**settings: object) -> MemoryDriver:
            server = GraphServer(metadata=metadata)
            values = {name.lower(): value for name, value in model.environment.items()}
            process = await stack.enter_async_context(home.process(server, **{**values, **settings}))
            server.graph = agent.build(process.services.chat).compile(checkpointer=process.saver, store=process.store)
            background = background_agent.build(process.services.background).compile(store=process.store)
            return MemoryDriver(server.graph, server=server, background=background, process=process)

        yield open_driver
