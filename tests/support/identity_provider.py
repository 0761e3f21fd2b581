"""An identity provider on loopback: signs tokens and publishes its keys, rotates them, and fails on demand."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from tests.support.loopback_http import Connection, HttpRequest, LoopbackServer

ISSUER = "https://sign-in.example.org"
AUDIENCE = "afterthought-tests"
GENERATE: Mapping[str, Callable[[], Any]] = {
    "RS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "PS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ES384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}
DESCRIBE: Mapping[str, Callable[[Any], str]] = {
    "RS": RSAAlgorithm.to_jwk,
    "PS": RSAAlgorithm.to_jwk,
    "ES": ECAlgorithm.to_jwk,
    "Ed": OKPAlgorithm.to_jwk,
}


def claims_of(user_id: object, **more: Any) -> dict[str, Any]:
    """Claims that are good for an hour; `None` takes one out."""
    now = int(time.time())
    claims = {"sub": user_id, "iat": now, "exp": now + 3600, "aud": AUDIENCE, "iss": ISSUER, **more}
    return {name: value for name, value in claims.items() if value is not None}


class IdentityProvider:
    """Serves its public keys at `jwks_url` while it is entered; `requests` counts how often they were asked for."""

    def __init__(self) -> None:
        self._private: dict[str, tuple[str, Any]] = {}
        self._server = LoopbackServer(self._answer)
        self.published: list[dict[str, Any]] = []
        self.requests = 0
        self.status = 200
        self.delay_seconds = 0.0
        self.document: Any = None
        """What is served instead of the published keys, if anything."""

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._server.__exit__()

    @property
    def jwks_url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}/jwks.json"

    def add_key(self, key_id: str, algorithm: str, **described: Any) -> None:
        """Make a key and publish it; `described` replaces parts of its description, None removes them."""
        private = GENERATE[algorithm]()
        self._private[key_id] = (algorithm, private)
        public: dict[str, Any] = json.loads(DESCRIBE[algorithm[:2]](private.public_key()))
        entry = {**public, "kid": key_id, "alg": algorithm, "use": "sig", **described}
        self.published.append({name: value for name, value in entry.items() if value is not None})

    def private_key(self, key_id: str) -> Any:
        return self._private[key_id][1]

    def sign(self, key_id: str, claims: Mapping[str, Any], *, algorithm: str | None = None, **header: Any) -> str:
        made_for, private = self._private[key_id]
        return jwt.encode(dict(claims), private, algorithm=algorithm or made_for, headers={"kid": key_id, **header})

    async def _answer(self, request: HttpRequest, connection: Connection) -> None:
        self.requests += 1
        await asyncio.sleep(self.delay_seconds)
        published = {"keys": self.published}
        await connection.send_json(self.status, published if self.document is None else self.document)
