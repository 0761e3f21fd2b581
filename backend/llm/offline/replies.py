"""What the offline model says in a chat."""

import re
from typing import Final

from langchain_core.messages import ToolCall

from backend.llm.offline.answers import answer
from backend.llm.offline.blocks import without_tags
from backend.llm.offline.calls import calls_for
from backend.llm.offline.forgetting import forget_requests
from backend.llm.offline.results import in_words, label, tell
from backend.llm.offline.routing import CODE, CRYPTO, WEATHER, choose_subagent
from backend.llm.offline.saving import asks_to_keep_secret
from backend.llm.offline.statements import statements_in
from backend.llm.offline.turn import Turn

OFFLINE_NOTICE: Final = (
    "This is the offline model: fixed rules, not a language model. To use a real one, set OPENAI_API_KEY, "
    "or OPENAI_BASE_URL and MODEL, in .env and start again."
)
"""Said in the first answer of a thread, in the log and on the page."""

SMALL_TALK: Final = (
    (
        re.compile(r"\s*(?:thanks|thank you|thx|danke|merci|gracias|спасибо|谢谢)(?!\w)", re.IGNORECASE),
        "You are welcome.",
    ),
    (re.compile(r"\s*(?:bye|goodbye|see you|good night|tschüss|пока)(?!\w)", re.IGNORECASE), "Goodbye!"),
    (re.compile(r"\s*(?:ok|okay|fine|great|good|cool|perfect|yes|no)\s*[.!]?\s*", re.IGNORECASE), "All right."),
    (re.compile(r".{0,20}(?<!\w)how are you(?!\w)", re.IGNORECASE), "I am fine, thank you."),
)
GREETING: Final = re.compile(
    r"\s*(?:hi|hello|hey|good (?:morning|evening|day)|hallo|hola|bonjour|привет)(?!\w)|\s*你好", re.IGNORECASE
)
WHO_ARE_YOU: Final = re.compile(
    r"(?<!\w)(?:(?:who|what) are you|what(?:'s| is) your name|what can you do|help)(?!\w)", re.IGNORECASE
)
SUBJECTS: Final = {
    WEATHER: "Which place do you mean? Ask, for example: What is the weather in Oslo?",
    CRYPTO: "I can only look prices up. Ask, for example: What is the price of bitcoin in EUR?",
    CODE: "I cannot write or explain code: that takes a language model.",
}


def reply(turn: Turn) -> str | list[ToolCall]:
    """The calls that a turn begins with, or its answer. After results of tools it is always an answer."""
    if not turn.results and (calls := calls_for(turn)):
        return calls
    said = without_tags(_told(turn) if turn.results else _said(turn)).strip()
    return f"{said}\n\n{OFFLINE_NOTICE}" if turn.first else said


def _told(turn: Turn) -> str:
    return "\n\n".join(dict.fromkeys(tell(result) for result in turn.results))


def _said(turn: Turn) -> str:
    if asks_to_keep_secret(turn.said):
        return "I do not keep passwords or other secrets."
    return (
        _noticed(turn)
        or _what_to_forget(turn)
        or answer(turn)
        or SUBJECTS.get(choose_subagent(turn.said, turn.before))
        or _talk(turn)
    )


def _noticed(turn: Turn) -> str:
    """What the user says of themselves, when there is nothing to save it with."""
    if "save_memory" in turn.tools:
        return ""
    said = "; ".join(f"{label(key)}: {one.value}" for key, one in statements_in(turn.said).items())
    return f"I will keep this in mind in this conversation: {said}." if said else ""


def _what_to_forget(turn: Turn) -> str:
    """What to ask when a request to forget is not clear, and something could be forgotten."""
    requests = forget_requests(turn.said, turn.memory, turn.facts) if turn.keeps_facts else []
    return next((request.question for request in requests if request.question), "")


def _talk(turn: Turn) -> str:
    if said := next((said for pattern, said in SMALL_TALK if pattern.match(turn.said)), ""):
        return said
    if GREETING.match(turn.said) or not turn.said:
        name = in_words(turn.memory["name"]) if turn.memory.get("name") else ""
        return f"Hello{f', {name}' if name else ''}! {_abilities(turn)}"
    if WHO_ARE_YOU.search(turn.said):
        return _abilities(turn) if turn.first else f"{_abilities(turn)}\n\n{OFFLINE_NOTICE}"
    return f"I do not understand that. {_abilities(turn)}"


def _abilities(turn: Turn) -> str:
    abilities = (
        'I can look up the weather ("What is the weather in Oslo?") and prices ("What is the price of bitcoin?")'
    )
    if "save_memory" in turn.tools:
        abilities += ', and I remember what you tell me about yourself ("My name is Ana", "I live in Oslo")'
    return f"{abilities}."
