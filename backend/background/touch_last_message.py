"""`touch_last_message`: the thread's metadata say when it was last spoken in and how the answer begins."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, Protocol

import structlog
from langchain_core.runnables import RunnableConfig

from backend.accounts.run_context import ReadContext
from backend.background.state import FinishedTurn, NothingNew
from backend.errors import NotFound
from backend.ids import Json, ThreadId, UserId
from backend.llm.messages import clip
from backend.observability.best_effort import best_effort

PREVIEW_CHARS: Final = 120

log = structlog.stdlib.get_logger(__name__)


class ThreadMetadata(Protocol):
    """What this node needs of the server."""

    async def thread_metadata(self, thread_id: ThreadId, *, user_id: UserId | None) -> Mapping[str, Json]: ...
    async def update_thread_metadata(
        self, thread_id: ThreadId, changes: Mapping[str, Json], *, user_id: UserId | None
    ) -> None: ...


class TouchNode(Protocol):
    async def __call__(self, state: FinishedTurn, config: RunnableConfig) -> NothingNew: ...


def make_touch_last_message_node(*, threads: ThreadMetadata, read_context: ReadContext) -> TouchNode:
    """Runs of older turns that come late leave the newer turn's words alone; a thread that is gone is no failure."""

    async def touch(turn: FinishedTurn, user_id: UserId | None) -> None:
        thread_id = ThreadId(turn["thread_id"])
        try:
            known = await threads.thread_metadata(thread_id, user_id=user_id)
            if is_newer(turn["finished_at"], known.get("last_message_at")):
                await threads.update_thread_metadata(thread_id, last_message(turn), user_id=user_id)
        except NotFound:
            log.info("thread_gone", chat_thread_id=thread_id)

    async def touch_last_message(state: FinishedTurn, config: RunnableConfig) -> NothingNew:
        async with best_effort("touch_last_message", chat_thread_id=state["thread_id"]):
            await touch(state, read_context(config).user_id)
        return {}

    return touch_last_message


def last_message(turn: FinishedTurn) -> dict[str, Json]:
    """The metadata keys of the newest turn; the preview is one short line."""
    text = turn["assistant_text"] or turn["user_text"]
    return {
        "last_message_at": turn["finished_at"],
        "last_message_preview": clip(" ".join(text.split()), PREVIEW_CHARS),
    }


def is_newer(finished_at: str, known: Json) -> bool:
    """Whether `finished_at` comes after what the thread says; anything unreadable there counts as older."""
    if not isinstance(known, str):
        return True
    try:
        return _instant(finished_at) > _instant(known)
    except ValueError:
        return True


def _instant(stamp: str) -> datetime:
    instant = datetime.fromisoformat(stamp)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
