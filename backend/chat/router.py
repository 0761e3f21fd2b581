"""`router_agent`: which sub-agent answers this turn."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

import structlog
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore
from pydantic import BaseModel, ConfigDict, Field

from backend.chat.state import ChatState, ChatUpdate
from backend.chat.subagents import DEFAULT_SUBAGENT, SUBAGENTS
from backend.errors import ModelUnavailable
from backend.llm.messages import human_positions, is_human_turn, role_of, shorten, text_of
from backend.llm.prompts import Prompts
from backend.llm.structured import StructuredCalls
from backend.observability.best_effort import best_effort

log = structlog.stdlib.get_logger(__name__)

CHARS_SHOWN = 2_000


class Route(BaseModel):
    """The router's answer."""

    model_config = ConfigDict(extra="forbid")

    subagent: str = Field(
        description="name of the assistant that should answer",
        json_schema_extra={"enum": [subagent.name for subagent in SUBAGENTS]},
    )


class RouterNode(Protocol):
    async def __call__(self, state: ChatState, *, config: RunnableConfig, store: BaseStore | None) -> ChatUpdate: ...


class ReadAhead(Protocol):
    """Reads what the sub-agent will need, whichever it is."""

    async def __call__(self, state: ChatState, config: RunnableConfig, store: BaseStore | None) -> None: ...


def make_router_node(
    *,
    model: BaseChatModel,
    structured: StructuredCalls,
    prompts: Prompts,
    timeout_seconds: float,
    read_ahead: ReadAhead,
) -> RouterNode:
    """A refusal, an unknown name or any error chooses the default sub-agent: routing never fails a turn.

    While the router model thinks, memory is read for the call that follows.
    """
    instructions = prompts.render(
        "router", assistants="\n".join(f"- {subagent.name}: {subagent.description}" for subagent in SUBAGENTS)
    )

    async def choose(messages: Sequence[BaseMessage]) -> str:
        async with best_effort("router"):
            question = routing_question(messages)
            if question:
                asked = _ask(structured, model, [SystemMessage(instructions), *question], timeout_seconds)
                return known_subagent(await asked)
        return DEFAULT_SUBAGENT.name

    async def ahead(state: ChatState, config: RunnableConfig, store: BaseStore | None) -> None:
        async with best_effort("read_ahead"):
            await read_ahead(state, config, store)

    async def router_agent(state: ChatState, *, config: RunnableConfig, store: BaseStore | None) -> ChatUpdate:
        _, chosen = await asyncio.gather(ahead(state, config, store), choose(state["messages"]))
        return {"subagent": chosen}

    return router_agent


async def _ask(structured: StructuredCalls, model: BaseChatModel, prompt: list[BaseMessage], seconds: float) -> str:
    try:
        async with asyncio.timeout(seconds):
            return (await structured.call(model, prompt, Route)).subagent
    except TimeoutError:
        raise ModelUnavailable(f"the router model did not answer within {seconds:g} s") from None


def routing_question(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The current human message, after the turn before it, so that "and tomorrow?" finds its way.

    Texts only, shortened, human and assistant in turn as strict chat templates want them. Empty when the current
    message has no text.
    """
    positions = human_positions(messages)
    if not positions:
        return []
    current = positions[-1]
    now = _shown(messages[current : current + 1])
    if not now:
        return []
    before: Sequence[BaseMessage] = messages[positions[-2] : current] if len(positions) > 1 else ()
    asked = _shown([message for message in before if is_human_turn(message)][:1])
    answered = _shown([message for message in before if role_of(message) == "ai" and text_of(message).strip()][-1:])
    context: list[BaseMessage] = [HumanMessage(asked), AIMessage(answered)] if asked and answered else []
    return [*context, HumanMessage(now)]


def _shown(messages: Sequence[BaseMessage]) -> str:
    return shorten("\n".join(text_of(message) for message in messages).strip(), CHARS_SHOWN)


def known_subagent(name: str) -> str:
    """The name as the graph knows it, or the default's name."""
    normal = name.strip().lower()
    if normal in {subagent.name for subagent in SUBAGENTS}:
        return normal
    log.warning("router_named_nobody", named=shorten(name, 60))
    return DEFAULT_SUBAGENT.name


def route(state: ChatState) -> str:
    """The edge behind the router."""
    return state.get("subagent") or DEFAULT_SUBAGENT.name
