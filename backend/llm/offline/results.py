"""What tools answered, told in sentences."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from backend.llm.messages import clip
from backend.llm.offline.blocks import without_tags
from backend.llm.offline.facts import FACT_TOOL, facts_of_result
from backend.llm.offline.json_text import as_list, as_object, json_object
from backend.llm.offline.turn import Result

MAX_SHOWN_CHARS: Final = 300
MAX_FORECAST_CHARS: Final = 1_000
MAX_MESSAGES_CHARS: Final = 2_000

NONE: Final = "I have found nothing."
FAILURES: Final = {
    "get_weather": "Sorry, I could not look up the weather.",
    "get_crypto_price": "Sorry, I could not look up the price.",
    "save_memory": "Sorry, I could not change what I remember about you.",
    FACT_TOOL: "Sorry, I could not change what I remember.",
    "lookup_thread_messages": "Sorry, I could not look up those messages.",
}
REFUSALS: Final = {
    "duplicate": "I remember that already.",
    "limit_reached": "My memory is full. Tell me what to forget, or delete something on the memory page.",
    "not_found": "That is not in my memory any more.",
    "stale_version": "That has changed meanwhile. Please ask me once more.",
}
"""What `manage_memory` answers, by kind."""


def tell(result: Result) -> str:
    """One or a few sentences about a result; never raises, whatever a tool answers."""
    answer = json_object(result.text)
    if result.failed or answer.get("error") or answer.get("ok") is False:
        return _tell_failure(result)
    told = TELL[result.tool](result) if result.tool in TELL else ""
    return told or _shown(result.text) or "Done."


def in_words(value: object) -> str:
    """A value of the profile as a person would write it."""
    if items := as_list(value):
        return clip(", ".join(map(in_words, items)), MAX_SHOWN_CHARS)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return clip(text, MAX_SHOWN_CHARS)


def label(key: str) -> str:
    return key.replace("_", " ").replace("-", " ")


def _tell_failure(result: Result) -> str:
    """What failed, and the reason alone out of `CODE: reason. What the model should do next.`."""
    apology = FAILURES.get(result.tool, "Sorry, that did not work.")
    if result.tool == FACT_TOOL and (refusal := as_object(json_object(result.text).get("error"))):
        return REFUSALS.get(str(refusal.get("kind"))) or _with_reason(apology, str(refusal.get("message", "")))
    code, _, rest = result.text.partition(": ")
    return _with_reason(apology, rest if code.isupper() else "")


def _with_reason(apology: str, message: str) -> str:
    reason = _shown(message.partition(". ")[0].strip(" ."))
    return f"{apology} {reason[:1].upper()}{reason[1:]}." if reason else apology


def _tell_weather(result: Result) -> str:
    answer = json_object(result.text)
    now = as_object(answer.get("now"))
    if not answer.get("place") or not now:
        return ""
    sky = f" with {now['sky']}" if now.get("sky") else ""
    wind = f", wind {now['wind']}" if now.get("wind") else ""
    said = [f"In {answer['place']} it is now {now.get('temperature', 'of unknown temperature')}{sky}{wind}."]
    said += [_tell_day(as_object(day)) for day in as_list(answer.get("days"))]
    return _shown("\n".join(said), MAX_FORECAST_CHARS)


def _tell_day(day: Mapping[str, Any]) -> str:
    wet = f", {day['precipitation']} of precipitation" if day.get("precipitation") else ""
    return f"{day.get('date', '?')}: {day.get('sky', '?')}, {day.get('min', '?')} to {day.get('max', '?')}{wet}."


def _tell_price(result: Result) -> str:
    answer = json_object(result.text)
    price = answer.get("price")
    if "coin" not in answer or not isinstance(price, int | float):
        return ""
    said = f"{answer['coin']} costs {price:,} {answer.get('currency', '')}".rstrip()
    change = answer.get("change_24h_percent")
    said += f", {change:+}% in 24 hours" if isinstance(change, int | float) else ""
    return _shown(f"{said} (as of {answer['updated']})." if answer.get("updated") else f"{said}.")


def _tell_saved(result: Result) -> str:
    kept: list[str] = []
    dropped: list[str] = []
    for patch in map(as_object, as_list(result.args.get("patches"))):
        name = label(str(patch.get("path", "")).strip("/"))
        if patch.get("op") == "remove":
            dropped.append(name)
        else:
            kept.append(f"{name}: {in_words(patch.get('value'))}")
    said = [f"I will remember this about you: {'; '.join(kept)}."] if kept else []
    said += [f"I have forgotten your {' and '.join(dropped)}."] if dropped else []
    return " ".join(said)


def _tell_facts(result: Result) -> str:
    answer = json_object(result.text)
    contents = [_shown(fact.content).rstrip(".") for fact in facts_of_result(answer)]
    match result.args.get("action"):
        case "create" if contents:
            return f"I will remember this: {'; '.join(contents)}."
        case "update" if contents:
            return f"I have changed what I remember to this: {contents[0]}."
        case "delete":
            return (
                f"I have forgotten this: {_shown(result.about).rstrip('.')}."
                if result.about
                else "I have forgotten it."
            )
        case "search":
            return "\n".join(
                ["This is what I found:", *(f"- {content}" for content in contents)] if contents else [NONE]
            )
        case _:
            return ""


def _tell_messages(result: Result) -> str:
    return f"This is what was said:\n{_shown(result.text, MAX_MESSAGES_CHARS)}" if result.text.strip() else ""


TELL: Final[Mapping[str, Callable[[Result], str]]] = {
    "get_weather": _tell_weather,
    "get_crypto_price": _tell_price,
    "save_memory": _tell_saved,
    FACT_TOOL: _tell_facts,
    "lookup_thread_messages": _tell_messages,
}


def _shown(text: str, limit: int = MAX_SHOWN_CHARS) -> str:
    return clip(without_tags(text).strip(), limit)
