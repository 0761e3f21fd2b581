"""Facts against a simple model, and `manage_memory` with any arguments: limits, duplicates and versions hold."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import CallerError, Duplicate, InvalidInput, LimitReached, NotFound, StaleVersion
from backend.ids import MemoryId
from backend.memory.facts.dedupe import content_hash
from backend.memory.facts.record import ON_THE_PAGE, Fact, FactChanges, FactDraft
from backend.memory.facts.service import Facts
from tests.fuzz.budget import TIME, examples
from tests.fuzz.conftest import LIMITS
from tests.fuzz.hostile import texts, values
from tests.fuzz.memory_tools import MemoryTools
from tests.support.memory_homes import Process

pytestmark = [pytest.mark.anyio, TIME, pytest.mark.filterwarnings("ignore:Generating overly large repr")]

MOST, MOST_CHARS = LIMITS["memory_facts_max"], LIMITS["memory_facts_max_chars"]
MISSING = MemoryId("00000000-0000-4000-8000-000000000000")


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A fact as the model knows it."""

    id: MemoryId | None = None
    content: str
    key: str | None
    categories: tuple[str, ...]
    importance: float
    version: int = 1

    @property
    def says(self) -> str:
        return " ".join(self.content.casefold().split())

    def is_as(self, other: "Kept") -> bool:
        return (self.says, self.categories, self.importance) == (other.says, other.categories, other.importance)


@dataclass
class Model:
    """What a user has, in any order."""

    facts: list[Kept] = field(default_factory=list[Kept])

    def create(self, drafts: Sequence[FactDraft]) -> None:
        if not 1 <= len(drafts) <= 5:
            raise InvalidInput
        rest, done = [*self.facts], list[Kept]()
        for draft in drafts:
            known = next((fact for fact in rest if fact.key is not None and fact.key == draft.key), None)
            wanted = completed(draft, known)
            if known is not None:
                rest.remove(known)
            if known is None or not known.is_as(wanted):
                require_only(wanted, [*rest, *done])
            done.append(known if known is not None and known.is_as(wanted) else wanted)
        self._become([*rest, *done])

    def change(self, fact: Kept | None, changes: FactChanges, version: int) -> None:
        fact = self._in_version(fact, version)
        named = changes.model_dump(exclude_unset=True)
        named = {name: value for name, value in named.items() if value is not None or name == "key"}
        wanted = replace(fact, **named)
        if wanted != fact and not ((wanted.content, wanted.key) == (fact.content, fact.key) and wanted.is_as(fact)):
            rest = [other for other in self.facts if other is not fact]
            require_only(wanted, rest)
            self._become([*rest, replace(wanted, version=fact.version + 1)])

    def delete(self, fact: Kept | None, version: int | None) -> None:
        self.facts.remove(self._in_version(fact, version))

    def _in_version(self, fact: Kept | None, version: int | None) -> Kept:
        if fact is None:
            raise NotFound
        if version is not None and fact.version != version:
            raise StaleVersion
        return fact

    def _become(self, after: list[Kept]) -> None:
        if len(after) > max(MOST, len(self.facts)) or chars(after) > max(MOST_CHARS, chars(self.facts)):
            raise LimitReached
        self.facts = after


def completed(draft: FactDraft, known: Kept | None) -> Kept:
    given = draft.model_dump(exclude_unset=True)
    made = Kept(content=draft.content, key=draft.key, categories=draft.categories, importance=draft.importance)
    if known is None:
        return made
    left_out = {name: getattr(known, name) for name in ("categories", "importance") if name not in given}
    return replace(made, id=known.id, version=known.version + 1, **left_out)


def require_only(wanted: Kept, others: Sequence[Kept]) -> None:
    for other in others:
        if other.says == wanted.says or (wanted.key is not None and other.key == wanted.key):
            raise Duplicate


def chars(facts: Sequence[Kept]) -> int:
    return sum(len(fact.content) for fact in facts)


contents = st.sampled_from(["Likes tea", "likes  TEA", "Likes coffee", "b", "c", "d", "e", "x" * 90, "y" * 120])
fact_keys = st.sampled_from([None, "k1", "k2"])
categories = st.sampled_from([(), ("food",), ("food", "work")])
importances = st.sampled_from([0.0, 0.25, 0.5, 1.0])
drafts = st.builds(
    FactDraft.model_validate,
    st.fixed_dictionaries(
        {"content": contents}, optional={"key": fact_keys, "categories": categories, "importance": importances}
    ),
)
all_changes = st.builds(
    FactChanges.model_validate,
    st.fixed_dictionaries(
        {}, optional={"content": contents, "key": fact_keys, "categories": categories, "importance": importances}
    ),
)
which = st.integers(0, 9)
versions = st.sampled_from([0, 0, 0, 1, -1])
"""Off by so many."""
steps = st.one_of(
    st.tuples(st.just("create"), st.lists(drafts, max_size=6)),
    st.tuples(st.just("create"), st.lists(drafts, min_size=1, max_size=2)),
    st.tuples(st.just("change"), which, all_changes, versions),
    st.tuples(st.just("delete"), which, st.none() | versions),
)


@examples(80, share=10)
@given(asked=st.lists(steps, min_size=1, max_size=12))
async def test_facts_are_what_a_simple_model_says(asked: list[tuple[Any, ...]], process: Process) -> None:
    facts, model = MemoryTools(process).memory.facts, Model()
    for step in asked:
        model.facts = with_ids(model.facts, await facts.stored())
        expected, happened = both_ways(step, model, facts)
        assert await happened is expected
        stored = await facts.stored()
        assert sorted(map(shown, stored)) == sorted(map(shown, model.facts))
        assert {fact.id: fact for fact in await facts.all()} == {fact.id: fact for fact in stored}


def both_ways(
    step: tuple[Any, ...], model: Model, facts: Facts
) -> tuple[type[CallerError] | None, Awaitable[type[CallerError] | None]]:
    """What a step comes to in the model, and what it will in the service."""
    action, given, *more = step
    if action == "create":
        return refusal_of(partial(model.create, given)), refusal_in(facts.create(given, origin=ON_THE_PAGE))
    index: int = given % (len(model.facts) + 1)
    fact = [*model.facts, None][index]
    fact_id, version = target(fact, more[-1])
    if action == "delete":
        happening = refusal_in(facts.delete(fact_id, version=version))
        return refusal_of(partial(model.delete, fact, version)), happening
    happening = refusal_in(facts.change(fact_id, more[0], version=version or 0, origin=ON_THE_PAGE))
    return refusal_of(partial(model.change, fact, more[0], version or 0)), happening


def with_ids(known: Sequence[Kept], stored: Sequence[Fact]) -> list[Kept]:
    """New facts get their ids from the service."""
    ids = {fact.content: fact.id for fact in stored}
    return [replace(fact, id=ids[fact.content]) for fact in known]


def target(fact: Kept | None, off: int | None) -> tuple[MemoryId, int | None]:
    """Id and version to ask for; an id that nothing has for None."""
    if fact is None or fact.id is None:
        return MISSING, None if off is None else 1 + off
    return fact.id, None if off is None else fact.version + off


def refusal_of(work: Callable[[], None]) -> type[CallerError] | None:
    try:
        work()
    except CallerError as error:
        return type(error)
    return None


async def refusal_in(work: Awaitable[object]) -> type[CallerError] | None:
    try:
        await work
    except CallerError as error:
        if "memories_" in error.message:
            pytest.fail("the name of an index is nobody's business")
        return type(error)
    return None


def shown(fact: Fact | Kept) -> tuple[str, str, tuple[str, ...], float, int]:
    return fact.content, fact.key or "", tuple(fact.categories), fact.importance, fact.version


hostile_facts: st.SearchStrategy[Any] = st.one_of(
    values,
    st.fixed_dictionaries(
        {"content": st.one_of(contents, texts, values)},
        optional={
            "key": st.one_of(st.none(), texts, values),
            "categories": st.one_of(st.lists(texts, max_size=4), values),
            "importance": st.one_of(st.sampled_from([0, 1, 0.5, 1e-46, -0.0]), values),
            "other": values,
        },
    ),
)
hostile_ids = st.one_of(st.sampled_from(["{known}", " {known} ", MISSING, "", "\0", "{KNOWN}"]), values)
hostile_arguments: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"action": st.one_of(st.sampled_from(["create", "create", "update", "update", "delete", "search"]), values)},
    optional={
        "facts": st.one_of(st.lists(hostile_facts, max_size=6), st.lists(hostile_facts).map(json.dumps), values),
        "id": hostile_ids,
        "version": st.one_of(st.sampled_from([1, 1, 2, "1", True]), values),
        "content": st.one_of(contents, values),
        "categories": st.one_of(st.lists(texts, max_size=4), values),
        "key": st.one_of(fact_keys, texts, values),
        "importance": values,
        "query": st.one_of(texts, values),
        "runtime": values,
    },
)
said = st.sampled_from(["go on", "please forget that I like tea", "vergiss das", ""])


@examples(80, share=10)
@given(asked=st.lists(hostile_arguments, min_size=1, max_size=4), words=said)
async def test_no_arguments_raise_and_the_rules_of_facts_hold(
    asked: list[dict[str, Any]], words: str, process: Process
) -> None:
    tools = MemoryTools(process)
    [known] = await tools.memory.facts.create([FactDraft(content="Likes tea")], origin=ON_THE_PAGE)
    for arguments in asked:
        before = await tools.memory.facts.stored()
        result = await tools.call("manage_memory", with_known(arguments, known.id), said=words)
        after = await tools.memory.facts.stored()
        require_rules(after)
        told = json.loads(result.text, parse_constant=pytest.fail)
        if result.status == "error":
            assert set(told) == {"error"}
            assert set(told["error"]) == {"kind", "message"}
            assert "memories_" not in told["error"]["message"]
            assert after == before
        assert "forget" in words or "vergiss" in words or {fact.id for fact in before} <= {fact.id for fact in after}
        versions = {fact.id: fact.version for fact in before}
        assert all(0 <= fact.version - versions.get(fact.id, fact.version) <= 1 for fact in after)


def with_known(arguments: dict[str, Any], known: str) -> dict[str, Any]:
    wanted = arguments.get("id")
    if not isinstance(wanted, str):
        return arguments
    return {**arguments, "id": wanted.replace("{known}", known).replace("{KNOWN}", known.upper())}


def require_rules(facts: Sequence[Fact]) -> None:
    assert len(facts) <= MOST
    assert sum(len(fact.content) for fact in facts) <= MOST_CHARS
    keys = [fact.key for fact in facts if fact.key is not None]
    assert len(set(keys)) == len(keys)
    assert len({content_hash(fact.content) for fact in facts}) == len(facts)
    assert all(fact.content.strip() and 0 <= fact.importance <= 1 and len(fact.categories) <= 3 for fact in facts)
