"""`AUTH_MODE=jwt`: tokens that an identity provider signed, with a shared secret or with one of its keys."""

from dataclasses import dataclass
from typing import Final, Protocol

import jwt
from jwt.algorithms import AllowedPublicKeys

from backend.accounts import service_token
from backend.accounts.claims import identity_from_claims
from backend.accounts.identity import Identity
from backend.accounts.key_set import KeySet
from backend.errors import Unauthenticated

LEEWAY_SECONDS: Final = 10
"""By how much the provider's clock may differ from ours."""


@dataclass(frozen=True, slots=True)
class Trust:
    """A key and the algorithms for which it is trusted; never chosen by the token."""

    key: AllowedPublicKeys | str
    algorithms: tuple[str, ...]


class TrustSource(Protocol):
    """Finds the key for a token, by the `kid` and `alg` of its header."""

    async def find(self, key_id: str | None, algorithm: str) -> Trust: ...


class SharedSecret:
    """One secret, HS256."""

    def __init__(self, secret: str) -> None:
        self._trust = Trust(secret, ("HS256",))

    async def find(self, key_id: str | None, algorithm: str) -> Trust:  # noqa: ARG002
        return self._trust


class ProviderKeys:
    """The provider's public keys."""

    def __init__(self, keys: KeySet) -> None:
        self._keys = keys

    async def find(self, key_id: str | None, algorithm: str) -> Trust:
        found = await self._keys.signing_key(key_id, algorithm)
        return Trust(found.key, found.algorithms)


class SignedTokens:
    """Checks signature, expiry and, where configured, audience and issuer."""

    def __init__(self, source: TrustSource, *, audience: str | None, issuer: str | None) -> None:
        self._source = source
        self._audience = audience
        self._issuer = issuer

    async def verify(self, token: str) -> Identity:
        """Whose token it is.

        Raises:
            Unauthenticated: forged, expired, not yet valid, for somebody else's service, or without a usable `sub`.
            ServiceUnavailable: the provider's keys cannot be had.
        """
        try:
            header = jwt.get_unverified_header(token)
            trust = await self._source.find(header.get("kid"), str(header.get("alg")))
            claims = jwt.decode(
                token,
                trust.key,
                algorithms=trust.algorithms,
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "sub"], "verify_aud": self._audience is not None},
            )
        except jwt.ExpiredSignatureError:
            raise Unauthenticated("the token has expired; sign in again") from None
        except (jwt.PyJWTError, ValueError, TypeError):
            raise Unauthenticated("the token is not valid here; sign in again") from None
        if claims.get("aud") == service_token.AUDIENCE or claims.get("purpose") in service_token.PURPOSES:
            raise Unauthenticated("this token is for background runs only")
        return identity_from_claims(claims)
