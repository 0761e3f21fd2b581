"""`trigger_background_agent`: hands the finished turn over to the background graph and returns at once."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from backend.accounts.run_context import ReadContext
from backend.chat.state import ChatState, ChatUpdate
from backend.ids import Json, ThreadId, UserId
from backend.llm.content import parts_of
from backend.llm.messages import human_positions, is_framework_made, is_human_turn, role_of, shorten, text_of
from backend.memory.episodes import MAX_ASSISTANT_CHARS, MAX_USER_CHARS
from backend.memory.recall import recall_thread
from backend.memory.redaction import redact
from backend.memory.user_memory import MemoryOf, UserMemory
from backend.observability.best_effort import best_effort

REDACTION_MARGIN: Final = 1_000

UUID_TEXT: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
THOUGHTS: Final = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL | re.IGNORECASE)


class BackgroundRuns(Protocol):
    """What the dispatch needs of the server."""

    async def start_background_run(self, turn: Mapping[str, Json], *, user_id: UserId | None) -> None: ...


class TriggerNode(Protocol):
    async def __call__(self, state: ChatState, *, config: RunnableConfig, store: BaseStore | None) -> ChatUpdate: ...


def make_trigger_node(
    *, runs: BackgroundRuns, memory_of: MemoryOf, read_context: ReadContext, clock: Callable[[], datetime]
) -> TriggerNode:
    """A dispatch that fails is one log line: the answer is already there and the next turn catches up."""

    async def trigger_background_agent(
        state: ChatState, *, config: RunnableConfig, store: BaseStore | None
    ) -> ChatUpdate:
        context = read_context(config)
        if context.thread_id is not None:
            async with best_effort("dispatch", thread_id=context.thread_id):
                turn = finished_turn(state, context.thread_id, clock())
                memory = memory_of(context.user_id, store)
                known = await _covered(memory, context.thread_id, state["messages"])
                await runs.start_background_run({**turn, **known}, user_id=context.user_id)
        return {}

    return trigger_background_agent


async def _covered(memory: UserMemory | None, thread_id: ThreadId, messages: Sequence[BaseMessage]) -> dict[str, Json]:
    """How far summaries reach, so that the background run loads the thread only when a pass may be due."""
    if memory is None:
        return {}
    thread = await recall_thread(memory, thread_id, messages)
    return {} if thread.receipt.reason == "unavailable" else {"covered_end": thread.covered_end}


def finished_turn(state: ChatState, thread_id: ThreadId, finished_at: datetime) -> dict[str, Json]:
    """The input of `background_agent`: which turn it is, and its two sides in words (S0's caps)."""
    messages = state["messages"]
    positions = human_positions(messages)
    turn = messages[positions[-1] :] if positions else []
    recalled = recalled_ids(turn)
    return {
        "thread_id": thread_id,
        "message_ids": [message.id for message in turn],
        "human_count": len(positions),
        "user_text": words_of([message for message in turn if is_human_turn(message)], MAX_USER_CHARS),
        "assistant_text": words_of([message for message in turn if _is_answer(message)], MAX_ASSISTANT_CHARS),
        "finished_at": finished_at.isoformat(),
        **({"recalled_ids": recalled} if recalled else {}),
    }


def words_of(messages: Sequence[BaseMessage], limit: int) -> str:
    """What these messages say, redacted, in at most `limit` characters; empty when nothing is said in words.

    Credentials are looked for a little beyond the cut, so that one across it is seen whole.
    """
    if not any(map(_has_words, messages)):
        return ""
    said = [_without_thoughts(text_of(message)) for message in messages]
    text = "\n".join(one for one in said if one.strip())
    return shorten(redact(text[: limit + REDACTION_MARGIN]), limit, whole_chars=len(text))


def recalled_ids(turn: Sequence[BaseMessage]) -> list[str]:
    """The facts and episodes that the answers of a turn were given, as their receipts tell; each once."""
    found = [one for message in turn if role_of(message) == "ai" for one in _ids_in_receipt(message)]
    return list(dict.fromkeys(found))


def _ids_in_receipt(message: BaseMessage) -> list[str]:
    """Receipts come back from the thread, into which a client may have put anything."""
    receipt: object = message.response_metadata
    for key in ("memory", "recalled", "ids"):
        receipt = cast("Mapping[str, object]", receipt).get(key) if isinstance(receipt, Mapping) else None
    ids = cast("list[object]", receipt) if isinstance(receipt, list) else []
    return [one for one in ids if isinstance(one, str) and UUID_TEXT.fullmatch(one)]


def _is_answer(message: BaseMessage) -> bool:
    return role_of(message) == "ai" and not is_framework_made(message)


def _has_words(message: BaseMessage) -> bool:
    """Whether anything is said, and not only shown: an image or a file has a marker, but no words."""
    parts = parts_of(message.content)
    return any(spoken and text.strip() for spoken, text in parts) if parts else bool(text_of(message).strip())


def _without_thoughts(text: str) -> str:
    """Some models think aloud before they answer, in a tag of their own."""
    return THOUGHTS.sub("", text)
