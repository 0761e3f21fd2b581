"""/api/memory as a whole, and /api/admin: everything of a user in one piece."""

from typing import Any

from fastapi import Depends, FastAPI, Request

from backend.accounts.identity import is_user_id
from backend.api.caller import ReadCaller
from backend.api.callers_memory import CallersMemory
from backend.errors import Forbidden, NotFound
from backend.ids import UserId
from backend.memory.forgetting import Forgetting
from backend.memory.user_memory import UserMemory


def add_own_data_routes(
    app: FastAPI, *, callers_memory: CallersMemory, read_caller: ReadCaller, forgetting: Forgetting
) -> None:
    the_callers = Depends(callers_memory)

    @app.get("/api/memory/export", tags=["memory"])
    async def export(memory: UserMemory = the_callers) -> dict[str, Any]:
        """Everything that is remembered of the caller."""
        return dict(await forgetting.export(memory.user_id))

    @app.delete("/api/memory", tags=["memory"])
    async def erase(memory: UserMemory = the_callers) -> dict[str, int]:
        """Erase everything that is remembered of the caller; counts by kind. Threads stay."""
        return dict(await forgetting.erase_memory(memory.user_id))

    @app.delete("/api/admin/users/{user_id}", tags=["admin"])
    async def erase_user(user_id: str, request: Request) -> dict[str, int]:
        """Erase everything of a user, threads included; counts by kind. Needs the permission `admin`."""
        if not read_caller(request).is_admin:
            raise Forbidden
        if not is_user_id(user_id):
            raise NotFound("no such user")
        return dict(await forgetting.erase_user(UserId(user_id)))
