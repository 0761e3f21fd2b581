"""/api/memory/search: what recall finds for a text, with what speaks for each."""

from fastapi import Depends, FastAPI
from pydantic import BaseModel, ConfigDict

from backend.api.callers_memory import CallersMemory
from backend.memory.user_memory import UserMemory
from backend.storage.memory_rows import Kind


class FoundOut(BaseModel):
    """A fact or an episode; its score is the sum of its parts."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    kind: Kind
    content: str
    score: float
    parts: dict[str, float]


class SearchOut(BaseModel):
    results: list[FoundOut]


def add_search_route(app: FastAPI, *, callers_memory: CallersMemory) -> None:
    the_callers = Depends(callers_memory)

    @app.get("/api/memory/search", tags=["memory"])
    async def search(q: str, memory: UserMemory = the_callers) -> SearchOut:
        """What recall would find for `q`, best first; nothing where nothing is relevant."""
        return SearchOut(results=[FoundOut.model_validate(found) for found in await memory.search.find(q)])
