"""What the claims of a verified token say about a person."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from backend.accounts.identity import SERVICE, Identity, clean_text, is_user_id
from backend.errors import Unauthenticated
from backend.ids import MAX_USER_ID_CHARS, Json, UserId

NOT_A_SOCIAL: Final = "credential"
"""The provider name of a plain password account, which is no linked account (S1)."""
PROVIDER_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
"""Account ids, which some providers write where a name belongs (`google-oauth2|1234`), do not look like this."""
MAX_CLAIM_CHARS: Final = 2_048
MAX_LISTED: Final = 64


def identity_from_claims(claims: Mapping[str, Json]) -> Identity:
    """The identity of a token whose signature has been checked.

    `avatar` or `picture`; providers from `socials`, `providers` or `identities`, a list of names or of objects of which
    only the name is taken; permissions from the list `permissions` or the space-separated `scope`.

    Raises:
        Unauthenticated: `sub` is not a usable user id.
    """
    subject = claims.get("sub")
    if not is_user_id(subject):
        raise Unauthenticated(
            f"the token's subject must be 1 to {MAX_USER_ID_CHARS} characters without surrounding white space"
        )
    return Identity(
        user_id=UserId(str(subject)),
        permissions=_permissions(claims),
        name=_text(claims.get("name")),
        email=_text(claims.get("email")),
        avatar=_text(claims.get("avatar")) or _text(claims.get("picture")),
        socials=_socials(claims),
    )


def _permissions(claims: Mapping[str, Json]) -> frozenset[str]:
    listed, scope = claims.get("permissions"), claims.get("scope")
    names = _texts(listed) if isinstance(listed, list) else _texts(scope.split() if isinstance(scope, str) else [])
    return frozenset(names) - {SERVICE}


def _socials(claims: Mapping[str, Json]) -> tuple[str, ...]:
    for key in ("socials", "providers", "identities"):
        listed = claims.get(key)
        if isinstance(listed, list):
            names = (_provider_name(entry) for entry in listed)
            return tuple(name for name in dict.fromkeys(_texts(names)) if _is_social(name))
    return ()


def _provider_name(entry: Json) -> Json:
    return entry.get("provider") if isinstance(entry, Mapping) else entry


def _is_social(name: str) -> bool:
    return PROVIDER_NAME.fullmatch(name) is not None and name.casefold() != NOT_A_SOCIAL


def _texts(values: Iterable[Json]) -> list[str]:
    return [text for text in map(_text, values) if text is not None][:MAX_LISTED]


def _text(value: Json) -> str | None:
    if not isinstance(value, str):
        return None
    text = clean_text(value).strip()
    return text if 0 < len(text) <= MAX_CLAIM_CHARS else None
