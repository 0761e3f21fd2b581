"""What the clients say and what the scripted model answers: every turn has a mark of its own, to be found again."""

import re
from dataclasses import dataclass
from typing import Final

from tests.support.model_server import ModelRequest, ModelServer, Reply, call, structured, text, tool_calls

SAVE: Final = "please keep it"
WORDS: Final = "and then we spoke of the boat, the weather on the lake and what to cook in the evening " * 2

_MARK: Final = re.compile(r"\[(\w+)\]")


def said(mark: str, *, saves: bool) -> str:
    """A human message of about 200 characters."""
    return f"[{mark}] {SAVE}; {WORDS}" if saves else f"[{mark}] {WORDS}"


def mark_in(content: str) -> str | None:
    """The mark of the turn that a message, an answer or an episode belongs to."""
    found = _MARK.search(content)
    return found[1] if found else None


def key_of(mark: str) -> str:
    """The key of the profile that a turn saves."""
    return f"k_{mark}"


def fact_of(mark: str) -> str:
    """The fact that a turn saves."""
    return f"The word for {mark} is {mark[::-1]}."


@dataclass(slots=True)
class Script:
    """Answers of all roles; `delay` are the seconds before the first byte of each, and may be changed at any time."""

    delay: float = 0.0

    def attach(self, model: ModelServer) -> None:
        model.when("router", lambda _: structured({"subagent": "chat_agent"}, delay=self.delay))
        model.when("title", lambda _: text("A long talk", delay=self.delay))
        model.when("summary", lambda _: structured({"entries": [ENTRY]}, delay=self.delay))
        model.when("chat", self._chat)

    def _chat(self, request: ModelRequest) -> Reply:
        mark = mark_in(request.last_human_text) or "nothing"
        has_results = request.messages[-1]["role"] == "tool"
        if SAVE in request.last_human_text and not has_results and request.tools:
            patches = [{"op": "add", "path": f"/{key_of(mark)}", "value": mark}]
            facts = [{"content": fact_of(mark), "categories": ["words"]}]
            return tool_calls(
                call("save_memory", {"patches": patches}),
                call("manage_memory", {"action": "create", "facts": facts}),
                delay=self.delay,
            )
        return text(f"I heard [{mark}].", delay=self.delay)


ENTRY: Final = {"question": "What was spoken of?", "answer": "The boat.", "refs": ["#1"]}
