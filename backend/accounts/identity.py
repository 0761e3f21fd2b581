"""Who is speaking: a user id that is safe to key memory with, and what a sign-in said about the person."""

from dataclasses import dataclass
from typing import Final

from backend.ids import MAX_USER_ID_CHARS, UserId

ADMIN: Final = "admin"
"""The permission to act on what other users own."""
SERVICE: Final = "service"
"""Marks an identity that signed in with a service token; it may do little, see `ownership`."""

ERASE: Final = "erase"
"""Lets a service token delete the threads of its user; worth nothing without `service`."""

MAX_INTEGER_BITS: Final = 1_000
"""Python refuses to write very long integers as text; such a number is over the length of an id long before."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What is known of whoever sent a request. Never holds a token, a provider's token or an account id."""

    user_id: UserId | None
    """None only with `AUTH_MODE=none` and no default user: nobody, hence no memory."""
    permissions: frozenset[str] = frozenset()
    name: str | None = None
    email: str | None = None
    avatar: str | None = None
    socials: tuple[str, ...] = ()
    """Names of linked sign-in providers, such as `github` (S1); never `credential`, which is no linked account."""

    @property
    def is_service(self) -> bool:
        return SERVICE in self.permissions

    @property
    def may_erase(self) -> bool:
        return self.is_service and ERASE in self.permissions

    @property
    def is_admin(self) -> bool:
        return ADMIN in self.permissions and not self.is_service


def parse_user_id(value: object) -> UserId | None:
    """The user that `value` names; None when it names nobody. Never raises.

    Text is cleaned as the database needs it (NUL removed, lone surrogates become U+FFFD) and stripped of surrounding
    white space: an id that was pasted with a line break must not open a second, empty memory. Nothing else is
    changed, so that two ids stay two users, composed and decomposed Unicode included. An integer is taken as text.
    Blank text, longer text than `MAX_USER_ID_CHARS`, and every other type name nobody.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if value.bit_length() <= MAX_INTEGER_BITS else None
    if not isinstance(value, str):
        return None
    cleaned = clean_text(value).strip()
    return UserId(cleaned) if 0 < len(cleaned) <= MAX_USER_ID_CHARS else None


def clean_text(text: str) -> str:
    """Text that the database can hold: without NUL, and with U+FFFD for lone surrogates."""
    return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_user_id(value: object) -> bool:
    """Whether `value` is a user id as it stands. Where a sign-in is at stake, an id that would first have to be
    cleaned is refused: cleaning would make two subjects of an identity provider one user.
    """
    return isinstance(value, str) and parse_user_id(value) == value
