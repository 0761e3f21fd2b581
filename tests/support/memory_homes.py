"""Where memory lives in a test: in this process alone, or in PostgreSQL; and the server processes that share it.

async with home.process() as one, home.process() as other:
    await one.memory_of("ana").profile.save(...)
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, Protocol, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore, Item, Op, Result
from langgraph.store.memory import InMemoryStore
from psycopg.types.json import Jsonb

from backend.accounts.run_context import run_context
from backend.background.record_episode import FillVectors, make_record_episode_node
from backend.background.summarize import make_summarize_node
from backend.bootstrap import Services, assemble, limits_of, utc_now
from backend.chat.dispatch import make_trigger_node
from backend.chat.model_node import make_model_node
from backend.chat.router import make_router_node
from backend.chat.subagents import SUBAGENTS
from backend.chat.tools_node import make_tools_node
from backend.chat.turn_memory import RecentTurns, TurnMemories
from backend.ids import UserId
from backend.llm.prompts import Prompts
from backend.llm.structured import StructuredCalls
from backend.memory.forgetting import Forgetting
from backend.memory.memories import Memories, RecallCaches
from backend.memory.scope import Namespace
from backend.memory.search import Search
from backend.memory.user_memory import UserMemory
from backend.settings import Settings
from backend.storage.account_rows import AccountRows
from backend.storage.database import Database
from backend.storage.langgraph_checkpointer import open_checkpointer
from backend.storage.langgraph_store import PostgresStore, open_store
from backend.storage.memory_rows import MemoryRows
from backend.storage.pool import Connection
from backend.storage.summary_ledger import SummaryLedger
from backend.tools.json_client import JsonClient
from backend.tools.lookup_thread_messages import make_lookup_thread_messages_tool
from backend.tools.manage_memory import make_manage_memory_tool
from backend.tools.registry import make_tools
from backend.tools.save_memory import make_save_memory_tool
from tests.support.conditions import eventually
from tests.support.memory_doubles import AccountsInMemory, LedgerInMemory, RowsInMemory, SearchInMemory, WritesInMemory
from tests.support.threads import RecordedServer


@dataclass
class Watch:
    """Counts what memory asks of its storage, and makes every question fail while `error` is set."""

    asked: int = 0
    error: Exception | None = None

    def ask(self) -> None:
        self.asked += 1
        if self.error is not None:
            raise self.error


class WatchedStore(InMemoryStore):
    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    async def abatch(self, ops: Any) -> list[Result]:
        self._watch.ask()
        asked: list[Op] = list(ops)
        return await super().abatch(asked)


class WatchedDatabase(Database):
    def __init__(self, settings: Settings, watch: Watch) -> None:
        super().__init__(settings)
        self._watch = watch

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        self._watch.ask()
        return super().connection()


@dataclass(frozen=True, kw_only=True)
class Process:
    """One server process: its services, and the storage that it shares with others."""

    services: Services
    memories: Memories
    store: BaseStore
    saver: BaseCheckpointSaver[Any]
    ledger: SummaryLedger | LedgerInMemory
    accounts: AccountRows | AccountsInMemory
    rows: MemoryRows | RowsInMemory
    watch: Watch

    def forget_cached(self) -> None:
        """As a process that has just started."""
        self.memories._caches.drop(None)  # pyright: ignore[reportPrivateUsage]

    def memory_of(self, user_id: str) -> UserMemory:
        memory = self.memories.in_run(UserId(user_id), self.store)
        assert memory is not None
        return memory


class Home(Protocol):
    """Storage that outlives the processes over it."""

    def process(
        self, server: RecordedServer | None = None, **settings: object
    ) -> AbstractAsyncContextManager[Process]: ...


def clock_of(settings: dict[str, object]) -> dict[str, Any]:
    """The argument of `assemble` among the settings of a test."""
    return {"clock": settings.pop("clock")} if "clock" in settings else {}


@dataclass
class HomeInMemory:
    ledger: LedgerInMemory = field(default_factory=LedgerInMemory)
    accounts: AccountsInMemory = field(default_factory=AccountsInMemory)
    rows: RowsInMemory = field(default_factory=RowsInMemory)
    writes: WritesInMemory = field(default_factory=WritesInMemory)
    saver: BaseCheckpointSaver[Any] = field(default_factory=InMemorySaver)

    def __post_init__(self) -> None:
        self.watch = Watch()
        self.store = WatchedStore(self.watch)

    @asynccontextmanager
    async def process(self, server: RecordedServer | None = None, **settings: object) -> AsyncGenerator[Process]:
        clock, chosen = clock_of(settings), Settings(**cast("dict[str, Any]", settings))
        caches = RecallCaches()
        self.writes.drops.append(caches.drop)
        memories = Memories(
            caches=caches,
            overlays=self.accounts,
            ledger=self.ledger,
            rows=self.rows,
            writes=self.writes,
            limits=limits_of(chosen),
            search_of=lambda user_id: Search(user_id, SearchInMemory(self.rows, self.watch.ask), None, ""),
            clock=clock.get("clock", utc_now),
        )
        services = assemble(chosen, database=Database(chosen), server=server or RecordedServer(), **clock)
        yield Process(
            services=with_memories(services, memories, self),
            memories=memories,
            store=self.store,
            saver=self.saver,
            ledger=self.ledger,
            accounts=self.accounts,
            rows=self.rows,
            watch=self.watch,
        )
        await services.models.close()


@dataclass
class HomeInPostgres:
    url: str

    @asynccontextmanager
    async def process(self, server: RecordedServer | None = None, **settings: object) -> AsyncGenerator[Process]:
        clock = clock_of(settings)
        pool: dict[str, object] = {"database_url": self.url, "database_pool_size": 5}
        chosen, watch = Settings(**cast("dict[str, Any]", {**pool, **settings})), Watch()
        database = WatchedDatabase(chosen, watch)
        services = assemble(chosen, database=database, server=server or RecordedServer(), **clock)
        services = impatient(services, fill_vectors=services.vectors.fill)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(services.running())
            yield Process(
                services=services,
                memories=services.memories,
                store=await stack.enter_async_context(open_store(database)),
                saver=await stack.enter_async_context(open_checkpointer(Database(chosen))),
                ledger=SummaryLedger(database),
                accounts=AccountRows(database),
                rows=MemoryRows(database),
                watch=watch,
            )


@cache
def json_client(timeout_seconds: float) -> JsonClient:
    """One for all tests: it serves any event loop, and its TLS context takes longer to make than a turn does."""
    return JsonClient(timeout_seconds=timeout_seconds)


def with_memories(services: Services, memories: Memories, home: HomeInMemory) -> Services:
    """The services with everything that remembers made over other memories, as `bootstrap.assemble` makes it."""
    settings, prompts = services.settings, Prompts()
    read_context = partial(run_context, auth_mode=settings.auth_mode, default_user=settings.auth_default_user)
    own = (
        make_save_memory_tool(memory_of=memories.in_run, read_context=read_context),
        make_manage_memory_tool(memory_of=memories.in_run, read_context=read_context),
        make_lookup_thread_messages_tool(),
    )
    outside = make_tools(client=json_client(settings.tool_timeout_seconds), settings=settings)
    tools = {**outside, **{tool.name: tool for tool in own}}
    buffer = settings.memory_thread_messages_buffer_recent_turns
    turn_memories = TurnMemories(
        memory_of=memories.in_run,
        read_context=read_context,
        recent=RecentTurns(buffer=buffer, without_summaries=buffer + settings.memory_thread_summary_keep_recent),
    )
    router = make_router_node(
        model=services.models.for_role("router"),
        structured=StructuredCalls(),
        prompts=prompts,
        timeout_seconds=settings.router_timeout_seconds,
        read_ahead=turn_memories.read_ahead,
    )
    subagents = {
        subagent.name: make_model_node(
            subagent=subagent,
            model=services.models.for_role("chat"),
            prompts=prompts,
            tools=tools,
            memories=turn_memories,
        )
        for subagent in SUBAGENTS
    }
    trigger = make_trigger_node(runs=services.server, read_context=read_context, clock=services.summarizer.clock)
    summarize = make_summarize_node(
        summarizer=services.summarizer, memory_of=memories.in_run, read_context=read_context
    )

    def memory_of(user_id: UserId) -> UserMemory:
        memory = memories.in_run(user_id, home.store)
        assert memory is not None
        return memory

    changed = replace(
        services,
        memories=memories,
        chat=replace(
            services.chat,
            router=router,
            subagents=subagents,
            tools=make_tools_node(subagents=SUBAGENTS, tools=tools),
            trigger=trigger,
        ),
        background=replace(services.background, summarize=summarize),
        forgetting=Forgetting(
            memory_of=memory_of,
            accounts=home.accounts,
            known=home.ledger,
            server=services.server,
        ),
    )
    return impatient(changed)


def impatient(services: Services, *, fill_vectors: FillVectors | None = None) -> Services:
    """The services with a `record_episode` that does not wait for a database that is away."""
    record_episode = make_record_episode_node(
        memory_of=services.memories.in_run,
        read_context=partial(
            run_context, auth_mode=services.settings.auth_mode, default_user=services.settings.auth_default_user
        ),
        clock=services.summarizer.clock,
        fill_vectors=fill_vectors,
        pauses=(),
    )
    return replace(services, background=replace(services.background, record_episode=record_episode))


async def put_by_hand(store: BaseStore, namespace: Namespace, key: str, value: object) -> None:
    """Store any JSON, as an older version or another program may have: the stores themselves take objects only."""
    if isinstance(store, PostgresStore):
        async with store._cursor() as cursor:  # pyright: ignore[reportPrivateUsage]
            await cursor.execute(
                "INSERT INTO store (prefix, key, value) VALUES (%s, %s, %s) "
                "ON CONFLICT (prefix, key) DO UPDATE SET value = excluded.value",
                (".".join(namespace), key, Jsonb(value)),
            )
        return
    assert isinstance(store, InMemoryStore)
    now = datetime.now(UTC)
    item = Item(namespace=namespace, key=key, value=cast("Any", value), created_at=now, updated_at=now)
    store._data[namespace][key] = item  # pyright: ignore[reportPrivateUsage]


async def warmed(read: Callable[[], Awaitable[object]], watch: Watch) -> None:
    """Read until it costs nothing: after a write, the notification of it may drop what was read just before."""

    async def costs_nothing() -> bool:
        asked = watch.asked
        await read()
        return watch.asked == asked

    await eventually(costs_nothing)
