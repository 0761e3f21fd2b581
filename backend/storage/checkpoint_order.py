"""Checkpoints of a thread are ordered by their ids, and those are made of wall times.

See docs/decisions/0021-checkpoints-behind-a-clock.md.
"""

from typing import Final

from langgraph.checkpoint.base import id as checkpoint_ids

ORDERED_VERSION: Final = 6


def number_from(checkpoint_id: str) -> None:
    """Have every checkpoint that this process makes from now on come behind the given one.

    Ids that are none of LangGraph's are passed over.
    """
    try:
        known = checkpoint_ids.UUID(hex=checkpoint_id)
    except ValueError:
        return
    last = checkpoint_ids._last_v6_timestamp or 0  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    if known.version == ORDERED_VERSION and known.time > last:
        # upstream never goes below the last one that it gave, and has no other way to be told of one
        checkpoint_ids._last_v6_timestamp = known.time  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
