"""Who calls the HTTP API: the user whom the server signed in, never one that the request names."""

from collections.abc import Callable

from fastapi import Request

from backend.accounts.identity import Identity
from backend.accounts.server_user import identity_of
from backend.errors import Forbidden
from backend.settings import AuthMode

ReadCaller = Callable[[Request], Identity]


def make_read_caller(*, auth_mode: AuthMode, default_user: str) -> ReadCaller:
    """A FastAPI dependency that gives the caller's identity.

    The dependency raises Unauthenticated without a sign-in, and Forbidden for a service token, which is for the
    server's own runs and threads.
    """

    def read_caller(request: Request) -> Identity:
        identity = identity_of(request.scope.get("user"), auth_mode=auth_mode, default_user=default_user)
        if identity.is_service:
            raise Forbidden
        return identity

    return read_caller
