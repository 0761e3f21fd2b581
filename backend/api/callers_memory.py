"""The memory of whoever calls the HTTP API: the only way in, so that no route can read another user's."""

from collections.abc import Callable

from fastapi import Request

from backend.api.caller import ReadCaller
from backend.errors import NotFound
from backend.ids import UserId
from backend.memory.user_memory import UserMemory

CallersMemory = Callable[[Request], UserMemory]


def make_callers_memory(*, read_caller: ReadCaller, memory_of: Callable[[UserId], UserMemory]) -> CallersMemory:
    """A FastAPI dependency. It raises as `read_caller` does, and NotFound where nobody speaks."""

    def callers_memory(request: Request) -> UserMemory:
        user_id = read_caller(request).user_id
        if user_id is None:
            raise NotFound("nobody is speaking: AUTH_DEFAULT_USER is empty, so nothing is remembered")
        return memory_of(user_id)

    return callers_memory
