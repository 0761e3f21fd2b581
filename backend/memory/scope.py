"""Whose memory: the one place where a store namespace is spelled, and so the one that keeps users apart.

A label of a namespace must not be empty, contain a dot, or be `langgraph` in the first place; `*` is a wildcard where
namespaces are listed, and `_` and `%` are in SQL. User ids may be and have all of that.
"""

import itertools
import re
from collections.abc import Sequence
from typing import Final

from langgraph.store.base import BaseStore, SearchItem

from backend.errors import NotFound
from backend.ids import ThreadId, UserId

PLAIN: Final = re.compile(r"[A-Za-z0-9-]|[^\x00-\x7f]")
"""What stands for itself in a label. Every other character is written as `=` and two hexadecimal digits."""
RESERVED: Final = "langgraph"
PAGE: Final = 500

Namespace = tuple[str, ...]


def scope_label(user_id: UserId) -> str:
    """The first label of every namespace of a user: `ana` stays as it is, `ana@x.org` becomes `ana=40x=2Eorg`.

    Two users never share a label, and `user_of` gives the user back.
    """
    if user_id == RESERVED:
        return _escape(RESERVED[0]) + RESERVED[1:]
    return "".join(character if PLAIN.fullmatch(character) else _escape(character) for character in user_id)


def user_of(label: str) -> UserId:
    """The user whose label this is.

    Raises:
        ValueError: no user has this label.
    """
    user_id = UserId(re.sub(r"=([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), label))
    if not user_id or scope_label(user_id) != label:
        raise ValueError(f"not the label of a user: {label!r}")
    return user_id


def profile_namespace(user_id: UserId) -> Namespace:
    """Where the profile is kept, under the key `main` (S1)."""
    return (scope_label(user_id), "memory")


def threads_namespace(user_id: UserId) -> Namespace:
    """Where the thread summaries are kept, under keys `<thread_id>:<sequence>` (S1)."""
    return (scope_label(user_id), "threads")


def own_namespace(user_id: UserId, namespace: Sequence[str] | None) -> Namespace:
    """The namespace that a client may use when it asks for `namespace`; none or an empty one is all of the user's.

    Raises:
        NotFound: it is not under the user's label, whether or not anything is there.
    """
    label = scope_label(user_id)
    if namespace and namespace[0] != label:
        raise NotFound("there is nothing of yours in this namespace")
    return tuple(namespace) if namespace else (label,)


async def search_all(store: BaseStore, namespace: Namespace, *, thread_id: ThreadId | None = None) -> list[SearchItem]:
    """Every item of a namespace, or those whose value names the thread. A store's own search stops at ten."""
    found: dict[str, SearchItem] = {}
    wanted = {"thread_id": thread_id} if thread_id is not None else None
    for offset in itertools.count(0, PAGE):
        page = await store.asearch(namespace, filter=wanted, limit=PAGE, offset=offset)
        # items of deeper namespaces match a search by prefix; a row written meanwhile shifts the pages
        found.update({item.key: item for item in page if item.namespace == namespace})
        if len(page) < PAGE:
            break
    return list(found.values())


def _escape(character: str) -> str:
    return f"={ord(character):02X}"
