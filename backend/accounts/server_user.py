"""The form in which an identity travels through the server: from our sign-in to runs, handlers and HTTP routes."""

from collections.abc import Iterable
from typing import Final, TypedDict, cast

from backend.accounts.identity import ADMIN, Identity, is_user_id, parse_user_id
from backend.errors import Unauthenticated
from backend.ids import UserId
from backend.settings import AuthMode

UNNAMED: Final = " unnamed "
"""The server's name for everybody with `AUTH_MODE=none`. It is no user id, because ids have no white space around them.

A server copies the identity into `configurable.user_id` where a run names no user. Were it the default user, that
copy would win over the `userId` that the client did send.
"""


class ServerUser(TypedDict):
    """What the server keeps with every run: no credentials, no claims."""

    identity: str
    display_name: str
    is_authenticated: bool
    permissions: list[str]


def server_user(identity: Identity, *, auth_mode: AuthMode) -> ServerUser:
    """The user object for the server, of somebody who signed in."""
    name = identity.user_id or UNNAMED
    return ServerUser(
        identity=UNNAMED if auth_mode == "none" else name,
        display_name=name.strip(),
        is_authenticated=True,
        permissions=sorted(identity.permissions),
    )


def visitor() -> ServerUser:
    """The user object for a request to an open path: nobody, who may do nothing."""
    return ServerUser(identity=UNNAMED, display_name="visitor", is_authenticated=False, permissions=[])


def identity_of(user: object, *, auth_mode: AuthMode, default_user: str) -> Identity:
    """Whom the server's user object stands for.

    With `AUTH_MODE=none` that is the default user, whatever the object says. Otherwise only the attribute `identity`
    of an object counts: all that a client can put in its place arrives as JSON, and no JSON value has attributes.

    Raises:
        Unauthenticated: there is no such object, or it was not signed in, or it names no user.
    """
    if auth_mode == "none":
        return Identity(parse_user_id(default_user), permissions=frozenset({ADMIN}))
    user_id = getattr(user, "identity", None)
    if not is_user_id(user_id) or getattr(user, "is_authenticated", True) is False:
        raise Unauthenticated
    return Identity(UserId(str(user_id)), permissions=_permissions_of(user))


def _permissions_of(user: object) -> frozenset[str]:
    permissions = getattr(user, "permissions", None)
    if not isinstance(permissions, Iterable) or isinstance(permissions, str):
        return frozenset()
    return frozenset(str(permission) for permission in cast("Iterable[object]", permissions))
