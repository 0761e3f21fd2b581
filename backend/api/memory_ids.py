"""Ids of facts and episodes as clients spell them."""

from uuid import UUID

from backend.errors import NotFound
from backend.ids import MemoryId
from backend.storage.memory_rows import Kind


def memory_id_in(text: str, *, kind: Kind) -> MemoryId:
    """The id that is meant, in the spelling in which it is kept.

    Raises:
        NotFound: nothing has such an id; told as of one that nobody has.
    """
    try:
        return MemoryId(str(UUID(text)))
    except ValueError:
        raise NotFound(f"there is no such {kind}") from None
