"""/api/memory as a whole, and /api/admin: everything of a user in one piece."""

from typing import Any

from fastapi import Depends, FastAPI, Request
from pydantic import BaseModel

from backend.accounts.identity import is_user_id
from backend.api.caller import ReadCaller
from backend.api.callers_memory import CallersMemory
from backend.api.episodes import EpisodeOut
from backend.api.facts import FactOut
from backend.errors import Forbidden, NotFound
from backend.ids import UserId
from backend.memory.forgetting import Forgetting
from backend.memory.summaries.record import SummaryRow
from backend.memory.user_memory import UserMemory


class ExportOut(BaseModel):
    """Everything that is remembered of a user."""

    user_id: str
    profile: dict[str, Any]
    account: dict[str, Any]
    facts: list[FactOut]
    episodes: list[EpisodeOut]
    thread_summaries: list[SummaryRow]


class ErasedOut(BaseModel):
    """How much was erased, by kind."""

    profile_keys: int
    facts: int
    episodes: int
    thread_summaries: int


class ErasedUserOut(ErasedOut):
    threads: int


def add_own_data_routes(
    app: FastAPI, *, callers_memory: CallersMemory, read_caller: ReadCaller, forgetting: Forgetting
) -> None:
    the_callers = Depends(callers_memory)

    @app.get("/api/memory/export", tags=["memory"])
    async def export(memory: UserMemory = the_callers) -> ExportOut:
        """Everything that is remembered of the caller."""
        return ExportOut.model_validate(await forgetting.export(memory.user_id))

    @app.delete("/api/memory", tags=["memory"])
    async def erase(memory: UserMemory = the_callers) -> ErasedOut:
        """Erase everything that is remembered of the caller; counts by kind. Threads stay."""
        return ErasedOut.model_validate(await forgetting.erase_memory(memory.user_id))

    @app.delete("/api/admin/users/{user_id:path}", tags=["admin"])
    async def erase_user(user_id: str, request: Request) -> ErasedUserOut:
        """Erase everything of a user, threads included; counts by kind. Needs the permission `admin`."""
        if not read_caller(request).is_admin:
            raise Forbidden
        if not is_user_id(user_id):
            raise NotFound("no such user")
        return ErasedUserOut.model_validate(await forgetting.erase_user(UserId(user_id)))
