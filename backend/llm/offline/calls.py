"""Which tools a message calls: one row a tool."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from langchain_core.messages import ToolCall
from langchain_core.messages.tool import tool_call

from backend.llm.offline.coins import asks_price, coins_in, currency_in
from backend.llm.offline.facts import FACT_TOOL
from backend.llm.offline.forgetting import forget_requests
from backend.llm.offline.places import days_in, place_in, place_in_follow_up
from backend.llm.offline.routing import CRYPTO, WEATHER, choose_subagent, continues
from backend.llm.offline.saving import patches_for, sentences_for
from backend.llm.offline.turn import Turn

MAX_REFS: Final = 5
MAX_NEW_FACTS: Final = 5

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """When a tool is called, and with what."""

    tool: str
    arguments: Callable[[Turn], list[Arguments]]
    """The arguments of each call; empty: the message asks nothing of this tool."""


def calls_for(turn: Turn) -> list[ToolCall]:
    """The calls that the current human message asks for, of the tools that there are."""
    return [
        tool_call(name=rule.tool, args=arguments, id=f"call_{uuid4().hex[:24]}")
        for rule in RULES
        if rule.tool in turn.tools
        for arguments in rule.arguments(turn)
    ]


def _save_memory(turn: Turn) -> list[Arguments]:
    patches = patches_for(turn.said, turn.memory, turn.facts if turn.keeps_facts else None)
    return [{"patches": patches}] if patches else []


def _manage_memory(turn: Turn) -> list[Arguments]:
    """One call a fact, so that one that cannot be kept or deleted does not hold up the others."""
    named = [fact for request in forget_requests(turn.said, turn.memory, turn.facts) for fact in request.facts]
    if named:
        return [{"action": "delete", "id": fact.id, "version": fact.version} for fact in dict.fromkeys(named)]
    sentences = sentences_for(turn.said)[:MAX_NEW_FACTS]
    return [{"action": "create", "facts": [{"content": sentence}]} for sentence in sentences]


def _get_weather(turn: Turn) -> list[Arguments]:
    if choose_subagent(turn.said, turn.before) != WEATHER:
        return []
    place = _place(turn)
    return [{"place": place, "days": days_in(turn.said)}] if place else []


def _place(turn: Turn) -> str | None:
    """As named now, else as named in the question that this one continues, else where the user lives."""
    if continues(turn.said, turn.before) and (named := place_in_follow_up(turn.said) or place_in(turn.before)):
        return named
    home = turn.memory.get("city")
    return place_in(turn.said) or (home if isinstance(home, str) and home else None)


def _get_crypto_price(turn: Turn) -> list[Arguments]:
    if choose_subagent(turn.said, turn.before) != CRYPTO:
        return []
    continued = continues(turn.said, turn.before)
    if not asks_price(turn.said) and not (continued and asks_price(turn.before)):
        return []
    coins = coins_in(turn.said) or (coins_in(turn.before) if continued else [])
    return [{"coin": coin, "currency": currency_in(turn.said)} for coin in coins]


def _lookup_thread_messages(turn: Turn) -> list[Arguments]:
    refs = list(dict.fromkeys(re.findall(r"(?<![\w#&])#[1-9]\d{0,5}(?!\w)", turn.said)))[:MAX_REFS]
    return [{"refs": refs}] if refs else []


RULES: Final = (
    Rule("save_memory", _save_memory),
    Rule(FACT_TOOL, _manage_memory),
    Rule("get_weather", _get_weather),
    Rule("get_crypto_price", _get_crypto_price),
    Rule("lookup_thread_messages", _lookup_thread_messages),
)
