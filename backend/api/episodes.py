"""/api/memory/episodes: the finished turns that are kept of the caller, to read and delete (S0)."""

from datetime import datetime
from typing import Annotated

from fastapi import Depends, FastAPI, Query, Response
from pydantic import BaseModel, ConfigDict

from backend.api.callers_memory import CallersMemory
from backend.api.memory_ids import memory_id_in
from backend.memory.user_memory import UserMemory


class EpisodeOut(BaseModel):
    """What was said in a turn, as it is kept; `turn` counts the thread's human messages from 0."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    content: str
    thread_id: str | None
    turn: int | None
    created_at: datetime


class EpisodesOut(BaseModel):
    """A page of episodes, the newest first; `next` is the `after` of the page behind it, null on the last."""

    model_config = ConfigDict(from_attributes=True)

    episodes: list[EpisodeOut]
    next: str | None


def add_episode_routes(app: FastAPI, *, callers_memory: CallersMemory) -> None:
    the_callers = Depends(callers_memory)

    @app.get("/api/memory/episodes", tags=["memory"])
    async def list_episodes(
        memory: UserMemory = the_callers,
        *,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        after: str | None = None,
    ) -> EpisodesOut:
        """A page of what was said, the newest first; `after` is the `next` of the page before it, 400 if it is not."""
        return EpisodesOut.model_validate(await memory.episodes.page(limit=limit, after=after))

    @app.delete("/api/memory/episodes/{episode_id}", tags=["memory"], status_code=204)
    async def delete_episode(episode_id: str, memory: UserMemory = the_callers) -> Response:
        """Delete an episode; the thread in which it was said stays."""
        await memory.episodes.delete(memory_id_in(episode_id, kind="episode"))
        return Response(status_code=204)
