"""The composition root: from `Settings` to everything that works. The only module that knows all classes."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from typing import Protocol

import structlog
from langchain_core.tools import BaseTool

from backend.accounts.authentication import Authenticator, make_authenticator
from backend.accounts.keeping import AccountKeeper, KeepingAuthenticator
from backend.accounts.run_context import ReadContext, run_context
from backend.api.stopped_runs import Runs
from backend.api.threads import Titles
from backend.background.record_episode import RecordEpisodeNode, make_record_episode_node
from backend.background.summarize import SummarizeNode, Summarizer, ThreadMessages, make_summarize_node
from backend.background.summary_writer import make_summary_writer
from backend.background.touch_last_message import TouchNode, make_touch_last_message_node
from backend.chat.dispatch import BackgroundRuns, TriggerNode, make_trigger_node
from backend.chat.model_node import ModelNode, make_model_node
from backend.chat.router import RouterNode, make_router_node
from backend.chat.subagents import SUBAGENTS
from backend.chat.title import RenameThreadNode, ThreadMetadata, make_rename_thread_node
from backend.chat.tools_node import ToolsNode, make_tools_node
from backend.chat.turn_memory import RecentTurns, TurnMemories
from backend.ids import ThreadId, UserId
from backend.llm.embeddings import ConfiguredEmbedder, Embedder, make_embedder, query_vector
from backend.llm.models import Models
from backend.llm.offline import OFFLINE_NOTICE
from backend.llm.prompts import Prompts
from backend.llm.structured import StructuredCalls
from backend.memory.exclusive import PostgresWrites
from backend.memory.facts.limits import FactLimits
from backend.memory.forgetting import Forgetting
from backend.memory.forgetting import Server as ForgettingServer
from backend.memory.memories import Limits, Memories, RecallCaches, announce_change
from backend.memory.retention import Retention, RetentionLimits
from backend.memory.search import Search
from backend.memory.vectors import Vectors
from backend.observability.logging import configure_logging
from backend.server_client import ServerClient
from backend.settings import Settings, load_settings
from backend.storage.account_rows import AccountRows
from backend.storage.database import Database, process_database
from backend.storage.embedding_rows import EmbeddingRows
from backend.storage.langgraph_checkpointer import delete_checkpoints
from backend.storage.memory_rows import MemoryRows
from backend.storage.recall_rows import RecallRows
from backend.storage.retention_rows import RetentionRows
from backend.storage.summary_ledger import SummaryLedger
from backend.tools.json_client import JsonClient
from backend.tools.lookup_thread_messages import make_lookup_thread_messages_tool
from backend.tools.manage_memory import make_manage_memory_tool
from backend.tools.registry import make_tools
from backend.tools.save_memory import make_save_memory_tool

log = structlog.stdlib.get_logger(__name__)

Clock = Callable[[], datetime]


class Server(ThreadMetadata, ThreadMessages, BackgroundRuns, Titles, ForgettingServer, Runs, Protocol):
    """All that the parts need of the server; `ServerClient` is the real one."""


@dataclass(frozen=True, slots=True)
class ChatNodes:
    """The nodes of `agent`, by what they do."""

    router: RouterNode
    rename_thread: RenameThreadNode
    subagents: Mapping[str, ModelNode]
    tools: ToolsNode
    trigger: TriggerNode


@dataclass(frozen=True, slots=True)
class BackgroundNodes:
    """The nodes of `background_agent`, in the order in which they run."""

    touch_last_message: TouchNode
    record_episode: RecordEpisodeNode
    summarize: SummarizeNode


@dataclass(frozen=True, slots=True)
class Services:
    """Everything an entry module needs, built once per process."""

    settings: Settings
    database: Database
    models: Models
    server: Server
    memories: Memories
    authenticator: Authenticator
    accounts: AccountKeeper
    forgetting: Forgetting
    retention: Retention
    vectors: Vectors
    embedder: ConfiguredEmbedder | None
    summarizer: Summarizer
    chat: ChatNodes
    background: BackgroundNodes

    async def thread_gone(self, thread_id: ThreadId) -> None:
        """The server has deleted a thread: nothing of it stays. Raises StorageUnavailable."""
        await delete_checkpoints(self.database, thread_id)
        await self.forgetting.thread_gone(thread_id)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """For the life of the server: the database is up to date and memory is open; all is let go of at the end."""
        if self.settings.offline:
            log.info("offline_model", notice=OFFLINE_NOTICE)
        try:
            async with self.memories.running(self.database), self.retention.running():
                await self.vectors.announce()
                with self.accounts.open():
                    yield
        finally:
            await self.models.close()
            if self.embedder is not None:
                await self.embedder.close()


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What several nodes are made of."""

    settings: Settings
    vectors: Vectors
    models: Models
    prompts: Prompts
    structured: StructuredCalls
    server: Server
    memories: Memories
    read_context: ReadContext
    clock: Clock


def assemble(
    settings: Settings, *, database: Database, server: Server | None = None, clock: Clock = utc_now
) -> Services:
    """Build all services; nothing is opened or started yet."""
    rows, ledger = AccountRows(database), SummaryLedger(database)
    accounts = AccountKeeper(rows=rows, changed=partial(announce_change, database))
    caches = RecallCaches(accounts.drop)
    embedder = make_embedder(settings)
    parts = _Parts(
        settings=settings,
        vectors=Vectors(rows=EmbeddingRows(database), embedder=embedder),
        models=Models(settings),
        prompts=Prompts(),
        structured=StructuredCalls(),
        server=server or ServerClient(settings=settings, clock=clock),
        memories=Memories(
            caches=caches,
            overlays=rows,
            ledger=ledger,
            rows=MemoryRows(database),
            writes=PostgresWrites(database=database, writers=settings.database_pool_size // 2, drop=caches.drop),
            limits=limits_of(settings),
            search_of=partial(_search, RecallRows(database), embedder),
            clock=clock,
        ),
        read_context=partial(run_context, auth_mode=settings.auth_mode, default_user=settings.auth_default_user),
        clock=clock,
    )
    summarizer = _summarizer(parts)
    return Services(
        settings=settings,
        database=database,
        models=parts.models,
        server=parts.server,
        memories=parts.memories,
        authenticator=_authenticator(settings, accounts),
        accounts=accounts,
        forgetting=Forgetting(memory_of=parts.memories.of, accounts=rows, known=ledger, server=parts.server),
        retention=_retention(parts, database, embedder),
        vectors=parts.vectors,
        embedder=embedder,
        summarizer=summarizer,
        chat=_chat_nodes(parts),
        background=_background_nodes(parts, summarizer),
    )


def limits_of(settings: Settings) -> Limits:
    facts = FactLimits(count=settings.memory_facts_max, chars=settings.memory_facts_max_chars)
    return Limits(profile_max_bytes=settings.memory_profile_max_bytes, facts=facts)


def _search(rows: RecallRows, embedder: Embedder | None, user_id: UserId) -> Search:
    if embedder is None:
        return Search(user_id, rows, None, "")
    return Search(user_id, rows, partial(query_vector, embedder), embedder.model)


def _authenticator(settings: Settings, accounts: AccountKeeper) -> Authenticator:
    """Where everybody is the same user, there is nothing to keep."""
    authenticator = make_authenticator(settings)
    return authenticator if settings.auth_mode == "none" else KeepingAuthenticator(authenticator, accounts=accounts)


def _chat_nodes(parts: _Parts) -> ChatNodes:
    settings, tools, memories = parts.settings, _tools(parts), _turn_memories(parts)
    return ChatNodes(
        router=make_router_node(
            model=parts.models.for_role("router"),
            structured=parts.structured,
            prompts=parts.prompts,
            timeout_seconds=settings.router_timeout_seconds,
            read_ahead=memories.read_ahead,
        ),
        rename_thread=make_rename_thread_node(
            model=parts.models.for_role("title"),
            prompts=parts.prompts,
            threads=parts.server,
            read_context=parts.read_context,
            timeout_seconds=settings.title_timeout_seconds,
        ),
        subagents={
            subagent.name: make_model_node(
                subagent=subagent,
                model=parts.models.for_role("chat"),
                prompts=parts.prompts,
                tools=tools,
                memories=memories,
            )
            for subagent in SUBAGENTS
        },
        tools=make_tools_node(subagents=SUBAGENTS, tools=tools),
        trigger=make_trigger_node(runs=parts.server, read_context=parts.read_context, clock=parts.clock),
    )


def _turn_memories(parts: _Parts) -> TurnMemories:
    buffer = parts.settings.memory_thread_messages_buffer_recent_turns
    return TurnMemories(
        memory_of=parts.memories.in_run,
        read_context=parts.read_context,
        recent=RecentTurns(buffer=buffer, without_summaries=buffer + parts.settings.memory_thread_summary_keep_recent),
    )


def _tools(parts: _Parts) -> Mapping[str, BaseTool]:
    client = JsonClient(timeout_seconds=parts.settings.tool_timeout_seconds)
    outside = make_tools(client=client, settings=parts.settings)
    own = (
        make_save_memory_tool(memory_of=parts.memories.in_run, read_context=parts.read_context),
        make_manage_memory_tool(memory_of=parts.memories.in_run, read_context=parts.read_context),
        make_lookup_thread_messages_tool(),
    )
    return {**outside, **{tool.name: tool for tool in own}}


def _summarizer(parts: _Parts) -> Summarizer:
    return Summarizer(
        threads=parts.server,
        write=make_summary_writer(
            model=parts.models.for_role("summary"), structured=parts.structured, prompts=parts.prompts
        ),
        keep_recent=parts.settings.memory_thread_summary_keep_recent,
        clock=parts.clock,
    )


def _retention(parts: _Parts, database: Database, embedder: Embedder | None) -> Retention:
    """With embeddings off the vectors stay: they serve again when they are turned on."""
    settings = parts.settings
    return Retention(
        rows=RetentionRows(database),
        limits=RetentionLimits(
            days=settings.memory_episodes_max_days,
            per_user=settings.memory_episodes_max,
            total=settings.memory_episodes_max_total,
        ),
        clock=parts.clock,
        drop_vectors=partial(EmbeddingRows(database).drop_others, embedder.model) if embedder else None,
    )


def _background_nodes(parts: _Parts, summarizer: Summarizer) -> BackgroundNodes:
    return BackgroundNodes(
        touch_last_message=make_touch_last_message_node(threads=parts.server, read_context=parts.read_context),
        record_episode=make_record_episode_node(
            memory_of=parts.memories.in_run,
            read_context=parts.read_context,
            clock=parts.clock,
            fill_vectors=parts.vectors.fill,
        ),
        summarize=make_summarize_node(
            summarizer=summarizer, memory_of=parts.memories.in_run, read_context=parts.read_context
        ),
    )


@cache
def services() -> Services:
    """The services of this process, from its environment: graphs, app and auth share caches and connections."""
    configure_logging()
    return assemble(load_settings(), database=process_database())
