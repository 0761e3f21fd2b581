"""/api/memory/profile: what is remembered about the caller (S1)."""

from typing import Any

from fastapi import Depends, FastAPI, Response
from pydantic import BaseModel

from backend.api.callers_memory import CallersMemory
from backend.api.threads import SummaryOut, Titles, with_titles
from backend.memory.user_memory import UserMemory


class ProfileOut(BaseModel):
    """The merged profile; `store_keys` were saved, `overlay_keys` come from the account only."""

    memory: dict[str, Any]
    store_keys: list[str]
    overlay_keys: list[str]
    summaries: list[SummaryOut]


def add_profile_routes(app: FastAPI, *, callers_memory: CallersMemory, titles: Titles) -> None:
    the_callers = Depends(callers_memory)

    @app.get("/api/memory/profile", tags=["memory"])
    async def read_profile(memory: UserMemory = the_callers) -> ProfileOut:
        """The caller's profile and the summaries of all their threads."""
        view = await memory.profile.view()
        summaries = await with_titles(await memory.summaries.all(), titles=titles, user_id=memory.user_id)
        return ProfileOut(
            memory=dict(view.memory),
            store_keys=list(view.store_keys),
            overlay_keys=list(view.overlay_keys),
            summaries=summaries,
        )

    @app.delete("/api/memory/profile/{key}", tags=["memory"], status_code=204)
    async def remove_key(key: str, memory: UserMemory = the_callers) -> Response:
        """Remove one saved key; 404 when nothing is saved under it, or it comes from the account."""
        await memory.profile.remove(key)
        return Response(status_code=204)
