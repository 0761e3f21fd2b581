"""`rename_thread_agent`: the thread gets its title once, from what the user wrote first."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.constants import TAG_NOSTREAM

from backend.accounts.run_context import ReadContext, RunContext
from backend.chat.state import ChatState, ChatUpdate
from backend.errors import ModelUnavailable
from backend.ids import Json, ThreadId, UserId
from backend.llm.messages import clip, human_positions, shorten, text_of
from backend.llm.models import translate_model_errors
from backend.llm.prompts import Prompts
from backend.observability.best_effort import best_effort

LAST_TURN_TO_TITLE: Final = 2
"""The second turn tries again when the first gave no title, and then takes the user's own words if it must."""
CHARS_SHOWN: Final = 2_000
MAX_TITLE_CHARS: Final = 80


class ThreadMetadata(Protocol):
    """What a title needs of the server."""

    async def thread_metadata(self, thread_id: ThreadId, *, user_id: UserId | None) -> Mapping[str, Json]: ...
    async def update_thread_metadata(
        self, thread_id: ThreadId, changes: Mapping[str, Json], *, user_id: UserId | None
    ) -> None: ...


class RenameThreadNode(Protocol):
    async def __call__(self, state: ChatState, config: RunnableConfig) -> ChatUpdate: ...


def make_rename_thread_node(
    *,
    model: BaseChatModel,
    prompts: Prompts,
    threads: ThreadMetadata,
    read_context: ReadContext,
    timeout_seconds: float,
) -> RenameThreadNode:
    """Never over a title that is there already, be it the user's own; no failure here fails the turn."""
    ask = _make_ask(model=model, instructions=prompts.render("title"), timeout_seconds=timeout_seconds)

    async def find_title(state: ChatState, context: RunContext) -> str:
        title = ""
        async with best_effort("title_model", thread_id=context.thread_id):
            title = await ask(first_words(state["messages"]))
        if not title and len(human_positions(state["messages"])) >= LAST_TURN_TO_TITLE:
            title = clean_title(first_words(state["messages"]))
        return title

    async def rename_thread_agent(state: ChatState, config: RunnableConfig) -> ChatUpdate:
        context = read_context(config)
        async with best_effort("title", thread_id=context.thread_id):
            if not first_words(state["messages"]) or await _is_titled(threads, context):
                return {}
            await _set_title(threads, context, await find_title(state, context))
        return {}

    return rename_thread_agent


def _make_ask(*, model: BaseChatModel, instructions: str, timeout_seconds: float) -> Callable[[str], Awaitable[str]]:
    async def ask(text: str) -> str:
        prompt = [SystemMessage(instructions), HumanMessage(text)]
        try:
            async with asyncio.timeout(timeout_seconds), translate_model_errors():
                return clean_title(text_of(await model.ainvoke(prompt, {"tags": [TAG_NOSTREAM]})))
        except TimeoutError:
            raise ModelUnavailable(f"the title model did not answer within {timeout_seconds:g} s") from None

    return ask


async def _is_titled(threads: ThreadMetadata, context: RunContext) -> bool:
    if context.thread_id is None:
        return True
    return bool((await threads.thread_metadata(context.thread_id, user_id=context.user_id)).get("title"))


async def _set_title(threads: ThreadMetadata, context: RunContext, title: str) -> None:
    """Asked once more before the write, because the user may have named the thread while the model thought."""
    if context.thread_id is not None and title and not await _is_titled(threads, context):
        await threads.update_thread_metadata(context.thread_id, {"title": title}, user_id=context.user_id)


def wants_title(state: ChatState) -> bool:
    """Whether this turn may still give the thread its title."""
    return len(human_positions(state["messages"])) <= LAST_TURN_TO_TITLE


def first_words(messages: Sequence[BaseMessage]) -> str:
    """What the user wrote first that is text."""
    texts = (text_of(messages[position]).strip() for position in human_positions(messages))
    return shorten(next((text for text in texts if text), ""), CHARS_SHOWN)


def clean_title(answer: str) -> str:
    """One line without reasoning, quotes or Markdown; empty when nothing is left."""
    visible = re.sub(r"<think>.*?(</think>|$)", "", answer, flags=re.DOTALL | re.IGNORECASE)
    line = next((line for line in visible.splitlines() if line.strip()), "")
    line = re.sub(r"^\s*(title|titel|titre|título)\s*:\s*", "", line, flags=re.IGNORECASE)
    return clip(line.strip(" \t\"'`*_#«»“”„‘’「」『』.").strip(), MAX_TITLE_CHARS)
