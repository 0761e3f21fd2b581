"""The public keys of an identity provider: fetched without blocking, kept for a while, renewed when keys rotate."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, cast

import httpx
import jwt
import structlog
from jwt.algorithms import AllowedPublicKeys

from backend.errors import ServiceUnavailable, Unauthenticated

log = structlog.stdlib.get_logger(__name__)

ALGORITHMS: Final[Mapping[str, tuple[str, ...]]] = {"RSA": ("RS256", "PS256"), "EC": ("ES256",), "OKP": ("EdDSA",)}
"""By key type. No HMAC: a public key must never serve as a shared secret."""
KEPT_SECONDS: Final = 600.0
KEPT_WHILE_UNREACHABLE_SECONDS: Final = 3_600.0
"""Longer than this, keys that may have been revoked are not trusted, even if the provider does not answer."""
REFETCH_SECONDS: Final = 30.0
"""At most one fetch in this time, however many tokens name a key that is not there."""
RETRY_SECONDS: Final = 5.0
"""The same after a fetch that failed."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A public key and the algorithms whose signatures it may check."""

    key_id: str | None
    algorithms: tuple[str, ...]
    key: AllowedPublicKeys


class KeySet:
    """The keys behind a JWKS URL. Belongs to the event loop of the server, like every lock of asyncio."""

    def __init__(self, url: str, *, timeout_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self._tls = httpx.create_ssl_context()
        self._lock = asyncio.Lock()
        self._keys: tuple[SigningKey, ...] = ()
        self._fetched_at = float("-inf")
        self._next_fetch_at = float("-inf")

    async def signing_key(self, key_id: str | None, algorithm: str) -> SigningKey:
        """The key that a token names in its header; without a name, the only one that fits.

        Raises:
            Unauthenticated: there is no such key.
            ServiceUnavailable: the provider has not answered yet, or not for a long time.
        """
        if self._age() > KEPT_SECONDS:
            await self._fetch()
        found = self._find(key_id, algorithm)
        if found is None:
            await self._fetch()
            found = self._find(key_id, algorithm)
        if self._age() > KEPT_WHILE_UNREACHABLE_SECONDS:
            raise ServiceUnavailable("the key server of AUTH_JWKS_URL does not answer; try again in a moment")
        if found is None:
            raise Unauthenticated("the token was signed with a key that is not known here; sign in again")
        return found

    def _age(self) -> float:
        return self._clock() - self._fetched_at

    def _find(self, key_id: str | None, algorithm: str) -> SigningKey | None:
        fitting = [key for key in self._keys if algorithm in key.algorithms and key_id in (None, key.key_id)]
        return fitting[0] if len(fitting) == 1 or (fitting and key_id is not None) else None

    async def _fetch(self) -> None:
        """One request at a time; those that waited for it find its keys and send none of their own."""
        async with self._lock:
            if self._clock() < self._next_fetch_at:
                return
            self._next_fetch_at = self._clock() + RETRY_SECONDS
            try:
                self._keys = read_keys(await self._download())
                self._fetched_at = self._clock()
                self._next_fetch_at = self._fetched_at + REFETCH_SECONDS
            except (httpx.HTTPError, httpx.InvalidURL, jwt.PyJWTError, ValueError) as error:
                log.warning("keys_not_fetched", error=type(error).__name__)

    async def _download(self) -> object:
        async with httpx.AsyncClient(verify=self._tls, timeout=self._timeout_seconds) as client:
            response = await client.get(self._url, headers={"accept": "application/json"})
            return response.raise_for_status().json()


def read_keys(document: object) -> tuple[SigningKey, ...]:
    """The usable signing keys of a JWKS document; keys for encryption, of other kinds or broken ones are left out.

    Raises:
        ValueError: it is not a JWKS document.
    """
    listed = cast("Mapping[str, object]", document).get("keys") if isinstance(document, Mapping) else None
    if not isinstance(listed, list):
        raise ValueError("not a JWKS document")  # noqa: TRY004
    keys = (_read_key(entry) for entry in cast("list[object]", listed))
    return tuple(key for key in keys if key is not None)


def _read_key(entry: object) -> SigningKey | None:
    if not isinstance(entry, dict):
        return None
    described = cast("dict[str, object]", entry)
    algorithms = ALGORITHMS.get(str(described.get("kty")), ())
    if "alg" in described:
        algorithms = tuple(algorithm for algorithm in algorithms if algorithm == described["alg"])
    if not algorithms or described.get("use", "sig") != "sig":
        return None
    try:
        parsed = jwt.PyJWK(described, algorithm=algorithms[0])
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    return SigningKey(parsed.key_id, algorithms, cast("AllowedPublicKeys", parsed.key))
