"""The facts that a call knows of: the block of the thread, and what has changed since."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import BaseMessage, ToolMessage

from backend.llm.messages import is_human_turn, text_of
from backend.llm.offline.blocks import inside_of
from backend.llm.offline.json_text import as_list, as_object, json_object

FACT_TOOL: Final = "manage_memory"
GONE: Final = "no longer valid: "
NEWS: Final = ("new: ", "changed: ")


@dataclass(frozen=True, slots=True)
class KnownFact:
    id: str
    version: int
    content: str


def facts_in(system: Sequence[str], messages: Iterable[BaseMessage]) -> tuple[KnownFact, ...]:
    """The facts of `<facts>` with what `<fact_changes>` and results of `manage_memory` say since; the newest last."""
    known = dict[str, KnownFact]()
    for line in inside_of(system, "facts").split("\n"):
        _keep(known, _fact(json_object(line)))
    for message in messages:
        if is_human_turn(message):
            _apply_changes(known, inside_of([text_of(message)], "fact_changes"))
        elif isinstance(message, ToolMessage) and message.name == FACT_TOOL:
            _apply_result(known, json_object(text_of(message)))
    return tuple(known.values())


def facts_of_result(answer: Mapping[str, Any]) -> Iterator[KnownFact]:
    """The facts that a result of `manage_memory` shows."""
    for shown in (answer.get("fact"), *as_list(answer.get("facts"))):
        if fact := _fact(as_object(shown)):
            yield fact


def _apply_changes(known: dict[str, KnownFact], lines: str) -> None:
    for line in lines.split("\n"):
        if line.startswith(GONE):
            known.pop(line.removeprefix(GONE).strip(), None)
        for news in NEWS:
            if line.startswith(news):
                _keep(known, _fact(json_object(line.removeprefix(news))))


def _apply_result(known: dict[str, KnownFact], answer: Mapping[str, Any]) -> None:
    for fact in facts_of_result(answer):
        _keep(known, fact)
    known.pop(str(answer.get("deleted")), None)


def _keep(known: dict[str, KnownFact], fact: KnownFact | None) -> None:
    """What was said later is not always newer: a block may have been read again since."""
    if fact is None or (fact.id in known and known[fact.id].version >= fact.version):
        return
    known.pop(fact.id, None)
    known[fact.id] = fact


def _fact(shown: Mapping[str, Any]) -> KnownFact | None:
    fact_id, version, content = shown.get("id"), shown.get("version"), shown.get("content")
    if isinstance(fact_id, str) and isinstance(version, int) and isinstance(content, str):
        return KnownFact(fact_id, version, content)
    return None
