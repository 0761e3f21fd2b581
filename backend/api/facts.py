"""/api/memory/facts: the sentences that are kept of the caller, to read, write and correct (S0, S4)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, cast

from fastapi import Depends, FastAPI, Query, Response
from pydantic import BaseModel, ConfigDict, Field, Strict, model_validator

from backend.api.callers_memory import CallersMemory
from backend.api.memory_ids import memory_id_in
from backend.api.strict_route import described
from backend.errors import Duplicate, InvalidInput, LimitReached, StaleVersion
from backend.memory.facts.record import ON_THE_PAGE, Categories, Content, Fact, FactChanges, FactDraft, Importance, Key
from backend.memory.facts.standing import standing
from backend.memory.redaction import storable
from backend.memory.user_memory import UserMemory

MAX_FOUND: Final = 150
"""So many are ranked for a list of those that a text is about."""


class _FactBody(BaseModel):
    """What a request says of a fact; a field that is not there is refused by its name."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _with_names_that_can_be_told(cls, body: object) -> object:
        if not isinstance(body, Mapping):
            return body
        return {storable(name): value for name, value in cast("Mapping[str, object]", body).items()}


class NewFactIn(_FactBody, FactDraft):
    """A fact to keep."""

    importance: Annotated[Importance, Strict()] = 0.5


class FactChangesIn(_FactBody):
    """What becomes something else, of the fact as it was read in this version; what is not named stays."""

    version: Annotated[int, Strict()]
    # defaults that are made are neither described nor sent on
    content: Content = Field(default_factory=str)
    categories: Categories = Field(default_factory=tuple)
    key: Key | None = Field(default_factory=lambda: None, description="null removes it")
    importance: Annotated[Importance, Strict()] = Field(default_factory=float)


class FactOut(BaseModel):
    """A fact as it is kept. Its version counts its changes; `said_by` is `user`, or `assistant` for what it saved."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    content: str
    categories: list[str]
    key: str | None
    importance: float
    version: int
    said_by: str
    thread_id: str | None
    created_at: datetime
    updated_at: datetime


class FactCounts(BaseModel):
    """How many there are, how many there may be, and how many of them a new thread is shown (S4)."""

    total: int
    limit: int
    shown: int


class FactsOut(BaseModel):
    facts: list[FactOut]
    counts: FactCounts


def add_fact_routes(app: FastAPI, *, callers_memory: CallersMemory) -> None:
    the_callers = Depends(callers_memory)

    @app.get("/api/memory/facts", tags=["memory"])
    async def list_facts(
        memory: UserMemory = the_callers, *, q: str = "", limit: Annotated[int | None, Query(ge=1)] = None
    ) -> FactsOut:
        """All facts, the one that changed last first; with `q` those that it is about, best first."""
        kept = await memory.facts.stored()
        wanted = await _about(q, kept, memory=memory) if q.strip() else kept
        counts = FactCounts(total=len(kept), limit=memory.facts.limits.count, shown=standing(kept).shown)
        return FactsOut(facts=[FactOut.model_validate(fact) for fact in wanted[:limit]], counts=counts)

    @app.post("/api/memory/facts", tags=["memory"], status_code=201, responses=described(Duplicate, LimitReached))
    async def keep_fact(fact: NewFactIn, memory: UserMemory = the_callers) -> FactOut:
        """Keep a fact. One whose key is known takes the place of the fact that is kept under it."""
        [kept] = await memory.facts.create([fact], origin=ON_THE_PAGE)
        return FactOut.model_validate(kept)

    @app.patch(
        "/api/memory/facts/{fact_id}",
        tags=["memory"],
        responses=described(StaleVersion, Duplicate, LimitReached),
    )
    async def change_fact(fact_id: str, changes: FactChangesIn, memory: UserMemory = the_callers) -> FactOut:
        """Change a fact as it was read in `version`; what is not named stays, and `"key": null` removes the key."""
        known = memory_id_in(fact_id, kind="fact")
        fact = await memory.facts.change(known, _named(changes), version=changes.version, origin=ON_THE_PAGE)
        return FactOut.model_validate(fact)

    @app.delete("/api/memory/facts/{fact_id}", tags=["memory"], status_code=204, responses=described(StaleVersion))
    async def delete_fact(fact_id: str, version: int, memory: UserMemory = the_callers) -> Response:
        """Delete a fact as it was read in `version`."""
        await memory.facts.delete(memory_id_in(fact_id, kind="fact"), version=version)
        return Response(status_code=204)


async def _about(text: str, kept: Sequence[Fact], *, memory: UserMemory) -> list[Fact]:
    """Those of the facts that a search finds, best first."""
    known = {fact.id: fact for fact in kept}
    found = await memory.search.find(text, limit=MAX_FOUND, kinds=["fact"])
    return [known[one.id] for one in found if one.id in known]


def _named(changes: FactChangesIn) -> FactChanges:
    """What the request names, null for a key included.

    Raises:
        InvalidInput: nothing.
    """
    named = changes.model_dump(exclude_unset=True, exclude={"version"})
    if not named:
        raise InvalidInput("name what is to change: content, categories, key or importance")
    return FactChanges.model_validate(named)
