"""Who a request comes from, and what it may touch: the sign-in and the owner filter of the server."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final, cast

from langgraph_sdk import Auth
from starlette.exceptions import HTTPException

from backend.accounts.authentication import Authenticator
from backend.accounts.identity import Identity
from backend.accounts.ownership import authorize
from backend.accounts.run_context import keep_nobody
from backend.accounts.server_user import ServerUser, identity_of, server_user, visitor
from backend.bootstrap import services
from backend.errors import CallerError, OutsideFailure
from backend.memory.scope import own_namespace
from backend.settings import Settings

OPEN_PATHS: Final = frozenset({"/", "/app", "/api/health"})
"""These, and what is under `/app/`, tell nothing about anybody; the page itself asks for the token."""
STORE_ACTIONS: Final = frozenset({"put", "get", "delete", "search", "list_namespaces"})


def build(*, settings: Settings, authenticator: Authenticator) -> Auth:
    """The handlers. With `AUTH_MODE=none` everything is open; otherwise what no rule allows is refused."""
    auth = Auth()

    @auth.authenticate
    async def authenticate(headers: Mapping[Any, Any], path: str = "") -> ServerUser:
        if settings.auth_mode != "none" and (path in OPEN_PATHS or path.startswith("/app/")):
            return visitor()
        with _as_responses():
            identity = await authenticator.authenticate(_authorization(headers))
            return server_user(identity, auth_mode=settings.auth_mode)

    @auth.on
    async def authorize_request(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> Auth.types.HandlerResult:
        if settings.auth_mode == "none":
            return _leave_open(ctx.action, value)
        with _as_responses():
            identity = identity_of(ctx.user, auth_mode=settings.auth_mode, default_user=settings.auth_default_user)
            if ctx.resource == "store" and ctx.action in STORE_ACTIONS:
                return _pin_to_own_namespace(identity, value)
            owned = authorize(identity, resource=ctx.resource, action=ctx.action, request=value)
            return cast("Auth.types.FilterType", owned)

    return auth


def _leave_open(action: str, request: dict[str, Any]) -> None:
    if action == "create_run":
        keep_nobody(request)


def _pin_to_own_namespace(identity: Identity, request: dict[str, Any]) -> bool:
    if identity.user_id is None or identity.is_service:
        return False
    request["namespace"] = own_namespace(identity.user_id, request.get("namespace"))
    return True


def _authorization(headers: Mapping[Any, Any]) -> str | None:
    """Some servers hand headers over as bytes, others as text."""
    value = headers.get(b"authorization") or headers.get("authorization")
    return value.decode("latin-1") if isinstance(value, bytes) else value


@contextmanager
def _as_responses() -> Generator[None]:
    try:
        yield
    except CallerError as error:
        raise Auth.exceptions.HTTPException(status_code=error.status, detail=error.message) from None
    except OutsideFailure as error:
        raise HTTPException(status_code=error.status, detail=error.message) from error


auth = build(settings=services().settings, authenticator=services().authenticator)
