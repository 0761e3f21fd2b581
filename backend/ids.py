"""Names for the identifiers that travel through a turn, so that one cannot be passed for another."""

from collections.abc import Mapping, Sequence
from typing import NewType

UserId = NewType("UserId", str)
"""Who is speaking: never empty, at most `MAX_USER_ID_CHARS` characters, any other text a token may carry."""

ThreadId = NewType("ThreadId", str)
"""LangGraph's thread, a UUID in text form on every server."""

RunId = NewType("RunId", str)
MessageId = NewType("MessageId", str)

MemoryId = NewType("MemoryId", str)
"""A fact or an episode, a UUID in text form."""

MAX_USER_ID_CHARS = 256
"""A user id becomes part of index keys, which PostgreSQL limits to about 2,700 bytes."""

JsonScalar = str | int | float | bool | None
Json = JsonScalar | Sequence["Json"] | Mapping[str, "Json"]
"""Any value that JSON can hold. `Any` is allowed only where such a value is still unparsed."""
