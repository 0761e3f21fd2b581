"""Service tokens made by hand, with one thing or another wrong."""

from datetime import UTC, datetime, timedelta
from typing import Any

import jwt

from backend.accounts.service_token import AUDIENCE, HEADER_TYPE

SERVICE_SECRET = "the-service-secret-of-these-tests-0123"


def now() -> datetime:
    return datetime.now(UTC)


def signed(secret: str = SERVICE_SECRET, typ: str = HEADER_TYPE, **changes: Any) -> str:
    """A token that is good for an hour unless `changes` replace its claims; None takes a claim out."""
    claims = {"sub": "ana", "purpose": "dispatch", "aud": AUDIENCE, "iat": now(), "exp": now() + timedelta(hours=1)}
    kept = {name: value for name, value in {**claims, **changes}.items() if value is not None}
    return jwt.encode(kept, secret, algorithm="HS256", headers={"typ": typ})
