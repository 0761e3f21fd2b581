"""`summarize`: compresses the oldest uncompressed turns of a thread into one row, when a window of them is due (S1)."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

import structlog
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from backend.accounts.run_context import ReadContext
from backend.background.state import FinishedTurn, NothingNew
from backend.background.summary_writer import SummaryWriter
from backend.errors import NotFound
from backend.ids import ThreadId, UserId
from backend.llm.messages import estimate_tokens, human_ids
from backend.memory.summaries.record import SummaryEntries, entries_text
from backend.memory.summaries.service import Pass, Summaries
from backend.memory.summaries.transcript import digests_of, keep_refs_in, transcript
from backend.memory.summaries.window import Window, complete_turns, coverage, next_window
from backend.memory.user_memory import MemoryOf
from backend.observability.best_effort import best_effort

log = structlog.stdlib.get_logger(__name__)

VISIBLE_SECONDS: Final = 10.0
"""How long a turn's last message may take to show in its thread: the dispatch comes a moment before the checkpoint."""
LOOK_EVERY_SECONDS: Final = 0.2


class ThreadMessages(Protocol):
    """What this node needs of the server."""

    async def thread_messages(self, thread_id: ThreadId, *, user_id: UserId | None) -> Sequence[BaseMessage]: ...


class SummarizeNode(Protocol):
    async def __call__(self, state: FinishedTurn, *, config: RunnableConfig, store: BaseStore | None) -> NothingNew: ...


def make_summarize_node(*, summarizer: "Summarizer", memory_of: MemoryOf, read_context: ReadContext) -> SummarizeNode:
    """A pass that fails, for whatever reason, writes nothing; the next turn tries the same window again."""

    async def summarize(state: FinishedTurn, *, config: RunnableConfig, store: BaseStore | None) -> NothingNew:
        memory = memory_of(read_context(config).user_id, store)
        if memory is not None:
            async with best_effort("summarize", chat_thread_id=state["thread_id"]):
                await summarizer.run(memory.summaries, state)
        return {}

    return summarize


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarizer:
    """Decides from what is stored whether a pass is due, and makes it. Running twice, late or beside itself is safe."""

    threads: ThreadMessages
    write: SummaryWriter
    keep_recent: int
    clock: Callable[[], datetime]
    visible_seconds: float = VISIBLE_SECONDS

    async def run(self, summaries: Summaries, turn: FinishedTurn) -> None:
        """Make the pass that is due after this turn, if one is.

        Raises:
            ModelUnavailable, BadModelOutput, StorageUnavailable, ServerUnavailable: nothing was written.
        """
        thread_id = ThreadId(turn["thread_id"])
        if not self._may_be_due(turn):
            _skipped(thread_id, "not due")
        elif not await self._is_visible(summaries.user_id, turn):
            _skipped(thread_id, "the turn is not in the thread any more")
        else:
            await self.compress(summaries, thread_id)

    async def compress(self, summaries: Summaries, thread_id: ThreadId) -> bool:
        """Make the pass that is due in a thread, if one is; whether a row was written.

        The messages are loaded under the claim: who removes the thread before finds no pass to stop, and is seen here.

        Raises:
            NotFound: the thread is gone. Otherwise as `run`.
        """
        async with summaries.claimed(thread_id) as claim:
            if claim is None:
                return _skipped(thread_id, "another run is at it")
            messages = await self.threads.thread_messages(thread_id, user_id=summaries.user_id)
            window = await self._due_window(summaries, thread_id, messages)
            if window is None:
                return _skipped(thread_id, "not due")
            return await self._make_pass(summaries, thread_id, messages, window=window, claim=claim)

    def _may_be_due(self, turn: FinishedTurn) -> bool:
        """By what the chat saw covered when the turn ended; without that, by the turns alone."""
        covered = turn.get("covered_end", -1)
        return (
            next_window(human_count=turn["human_count"], keep_recent=self.keep_recent, covered_end=covered) is not None
        )

    async def _due_window(
        self, summaries: Summaries, thread_id: ThreadId, messages: Sequence[BaseMessage]
    ) -> Window | None:
        known = await summaries.stored(thread_id)
        covered = coverage(known.rows, human_ids(messages), fenced=known.fenced, digest_of=digests_of(messages))
        return next_window(human_count=complete_turns(messages), keep_recent=self.keep_recent, covered_end=covered.end)

    async def _make_pass(
        self, summaries: Summaries, thread_id: ThreadId, messages: Sequence[BaseMessage], *, window: Window, claim: str
    ) -> bool:
        started = time.monotonic()
        text = transcript(messages, window)
        entries = keep_refs_in(window, (await self.write(text)).entries)
        done = Pass(
            window=window,
            human_ids=human_ids(messages),
            entries=SummaryEntries(entries=entries),
            tokens_before=estimate_tokens(text),
            tokens_after=estimate_tokens(entries_text(entries)),
            digest_of=digests_of(messages),
        )
        if not entries:
            return _skipped(thread_id, "the model kept nothing", window=window)
        row = await summaries.commit(thread_id, done, claim=claim, at=self.clock())
        if row is None:
            return _skipped(thread_id, "covered or removed meanwhile", window=window)
        log.info(
            "summary_pass", fired=True, chat_thread_id=thread_id,
            sequence=row.sequence, start=window.start, end=window.end,
            tokens_before=done.tokens_before, tokens_after=done.tokens_after,
            seconds=round(time.monotonic() - started, 3),
        )  # fmt: skip
        return True

    async def _is_visible(self, user_id: UserId, turn: FinishedTurn) -> bool:
        """True as soon as the turn is in the thread; False when the thread is gone, or the turn in another branch."""
        end = time.monotonic() + self.visible_seconds
        while True:
            try:
                messages = await self.threads.thread_messages(ThreadId(turn["thread_id"]), user_id=user_id)
            except NotFound:
                return False
            if turn["message_ids"][-1] in {message.id for message in messages}:
                return True
            if time.monotonic() >= end:
                return False
            await asyncio.sleep(LOOK_EVERY_SECONDS)


def _skipped(thread_id: ThreadId, reason: str, *, window: Window | None = None) -> bool:
    window_fields = {"start": window.start, "end": window.end} if window else {}
    log.info("summary_pass", fired=False, reason=reason, chat_thread_id=thread_id, **window_fields)
    return False
