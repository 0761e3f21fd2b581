"""From the `Authorization` header to an identity, in each of the three modes."""

from typing import Final, Protocol
from urllib.parse import urlsplit

from backend.accounts.identity import ADMIN, Identity, parse_user_id
from backend.accounts.key_set import KeySet
from backend.accounts.service_token import is_service_token, verify_service_token
from backend.accounts.signed_tokens import ProviderKeys, SharedSecret, SignedTokens, TrustSource
from backend.accounts.static_tokens import StaticTokens
from backend.errors import SettingsError, Unauthenticated
from backend.settings import Settings

MAX_TOKEN_CHARS: Final = 16_384
KEY_SERVER_TIMEOUT_SECONDS: Final = 5.0


class Authenticator(Protocol):
    """Says who sent a request."""

    async def authenticate(self, authorization: str | None) -> Identity:
        """The sender, by the value of the `Authorization` header.

        Raises:
            Unauthenticated: who it is cannot be told; the message says what to do and never repeats the token.
            ServiceUnavailable: the identity provider's keys cannot be had at the moment.
        """
        ...


class Tokens(Protocol):
    """One way of issuing tokens to users."""

    async def verify(self, token: str) -> Identity: ...


class Everybody:
    """`AUTH_MODE=none`: everybody is the default user and may do everything."""

    def __init__(self, default_user: str) -> None:
        self._identity = Identity(parse_user_id(default_user), permissions=frozenset({ADMIN}))

    async def authenticate(self, authorization: str | None) -> Identity:  # noqa: ARG002
        return self._identity


class BearerTokens:
    """A user's token, or the one that a run signs for itself."""

    def __init__(self, tokens: Tokens, *, service_secret: str) -> None:
        self._tokens = tokens
        self._service_secret = service_secret

    async def authenticate(self, authorization: str | None) -> Identity:
        token = bearer_token(authorization)
        if is_service_token(token):
            return verify_service_token(token, secret=self._service_secret)
        return await self._tokens.verify(token)


def make_authenticator(settings: Settings) -> Authenticator:
    """The authenticator for the configured mode.

    Raises:
        SettingsError: a user id in `AUTH_TOKENS`, or `AUTH_JWKS_URL`, cannot be used.
    """
    if settings.auth_mode == "none":
        return Everybody(settings.auth_default_user)
    tokens = StaticTokens(settings.auth_tokens) if settings.auth_mode == "tokens" else _signed_tokens(settings)
    return BearerTokens(tokens, service_secret=settings.service_secret.get_secret_value())


def bearer_token(authorization: str | None) -> str:
    """The token of a header `Bearer <token>`; the scheme in any case, as RFC 9110 has it.

    Raises:
        Unauthenticated: there is none, or it is another scheme.
    """
    scheme, _, token = (authorization or "").strip().partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated("send the header `Authorization: Bearer <token>`")
    if len(token) > MAX_TOKEN_CHARS or not token.isascii():
        raise Unauthenticated("the token is not valid here; sign in again")
    return token


def _signed_tokens(settings: Settings) -> SignedTokens:
    return SignedTokens(
        _trust_source(settings),
        audience=settings.auth_jwt_audience or None,
        issuer=settings.auth_jwt_issuer or None,
    )


def _trust_source(settings: Settings) -> TrustSource:
    if not settings.auth_jwks_url:
        return SharedSecret(settings.auth_jwt_secret.get_secret_value())
    if urlsplit(settings.auth_jwks_url).scheme not in ("https", "http"):
        raise SettingsError("AUTH_JWKS_URL: must be an http or https address")
    return ProviderKeys(KeySet(settings.auth_jwks_url, timeout_seconds=KEY_SERVER_TIMEOUT_SECONDS))
