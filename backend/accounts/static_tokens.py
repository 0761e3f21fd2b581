"""`AUTH_MODE=tokens`: a fixed list of tokens, for small teams."""

import hmac
from collections.abc import Mapping
from hashlib import sha256

from backend.accounts.identity import Identity, is_user_id
from backend.errors import SettingsError, Unauthenticated
from backend.ids import UserId
from backend.settings import TokenOwner


class StaticTokens:
    """Fixed tokens and whom they stand for.

    Knows the tokens by their hashes and looks at all of them each time, so that timing tells nothing.

    Raises:
        SettingsError: a token or a user id cannot be used; the message repeats neither.
    """

    def __init__(self, owners: Mapping[str, TokenOwner]) -> None:
        self._identities = tuple((_hash(_sendable(token)), _identity(owner)) for token, owner in owners.items())

    async def verify(self, token: str) -> Identity:
        """Whose token it is.

        Raises:
            Unauthenticated: nobody's.
        """
        sent, found = _hash(token), None
        for known, identity in self._identities:
            if hmac.compare_digest(sent, known):
                found = identity
        if found is None:
            raise Unauthenticated("the token is not known here; ask the operator for one")
        return found


def _sendable(token: str) -> str:
    if not token.isascii() or not token.isprintable() or token.split() != [token]:
        raise SettingsError(
            "AUTH_TOKENS: a token must be ASCII characters without white space; no header can carry another"
        )
    return token


def _hash(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _identity(owner: TokenOwner) -> Identity:
    if not is_user_id(owner.user_id):
        raise SettingsError(
            "AUTH_TOKENS: a user_id is blank, has white space around it, or has a character that no id may have"
        )
    return Identity(
        user_id=UserId(owner.user_id),
        permissions=frozenset(owner.permissions),
        name=owner.name,
        email=owner.email,
        avatar=owner.avatar,
    )
