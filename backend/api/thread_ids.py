"""Ids of threads as clients spell them."""

from uuid import UUID

from backend.errors import NotFound
from backend.ids import ThreadId


def thread_id_in(text: str) -> ThreadId:
    """The id that is meant, in the server's own spelling: it takes a UUID in any.

    Raises:
        NotFound: no thread has such an id.
    """
    try:
        return ThreadId(str(UUID(text)))
    except ValueError:
        raise NotFound("no such thread") from None
