"""Service tokens: with these a run calls its own server in the user's name, without keeping the user's credentials."""

from datetime import datetime, timedelta
from typing import Final, Literal, get_args

import jwt

from backend.accounts.identity import ERASE, SERVICE, Identity, is_user_id
from backend.errors import Unauthenticated
from backend.ids import UserId

LIFETIME: Final = timedelta(seconds=60)
AUDIENCE: Final = "afterthought-service"
Purpose = Literal["dispatch", "erase"]
"""What a token was signed for: the work of a turn, or deleting what an erased user or thread leaves on the server."""
PURPOSES: Final = get_args(Purpose)
HEADER_TYPE: Final = "afterthought-service+jwt"
"""In the token's header. Type, audience and purpose keep service tokens and users' tokens apart even where both are
signed with the same secret.
"""
ALGORITHM: Final = "HS256"


def sign_service_token(user_id: UserId, *, secret: str, now: datetime, purpose: Purpose = "dispatch") -> str:
    """A token that lets its bearer act for `user_id` for a minute, within what `ownership` allows for the purpose."""
    claims = {"sub": user_id, "purpose": purpose, "aud": AUDIENCE, "iat": now, "exp": now + LIFETIME}
    return jwt.encode(claims, secret, algorithm=ALGORITHM, headers={"typ": HEADER_TYPE})


def is_service_token(token: str) -> bool:
    """Whether `token` says that it is one; not whether it is valid."""
    try:
        return jwt.get_unverified_header(token).get("typ") == HEADER_TYPE
    except (jwt.PyJWTError, ValueError):
        return False


def verify_service_token(token: str, *, secret: str) -> Identity:
    """The user in whose name the token was signed, with the permissions `service` and, if it was for that, `erase`.

    Raises:
        Unauthenticated: forged, expired, or made for something else.
    """
    try:
        claims = jwt.decode(
            token,
            secret,
            algorithms=[ALGORITHM],
            audience=AUDIENCE,
            options={"require": ["sub", "exp", "iat", "aud"]},
        )
    except (jwt.PyJWTError, ValueError):
        raise Unauthenticated("the service token is not valid; sign a new one") from None
    purpose = claims.get("purpose")
    if not is_service_token(token) or purpose not in PURPOSES or not is_user_id(claims["sub"]):
        raise Unauthenticated("the service token was made for something else; sign a new one")
    permissions = {SERVICE, ERASE} if purpose == "erase" else {SERVICE}
    return Identity(UserId(claims["sub"]), permissions=frozenset(permissions))
