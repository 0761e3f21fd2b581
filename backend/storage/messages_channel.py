"""How a thread's messages are stored: each step stores what it adds, see docs/decisions/0001-messages-as-deltas.md.

This is the one place that says so. The chat state takes its type from here, and the checkpointer how to read it back.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Final, cast

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import DeltaChannelHistory
from langgraph.graph.message import _messages_delta_reducer  # pyright: ignore[reportPrivateUsage, reportUnknownVariableType]

CHANNEL: Final = "messages"
SNAPSHOT_EVERY: Final = 20
"""A full copy of the messages is stored every so many updates; reading replays at most as many."""

# LangGraph gives ids to messages that have none only where it finds this very function.
merge_messages = cast(
    "Callable[[list[AnyMessage], Sequence[list[AnyMessage]]], list[AnyMessage]]", _messages_delta_reducer
)

Messages = Annotated[list[AnyMessage], DeltaChannel(merge_messages, snapshot_frequency=SNAPSHOT_EVERY)]


def replay(history: DeltaChannelHistory) -> list[AnyMessage]:
    """The messages, from the last full copy and what was written since."""
    channel = cast("DeltaChannel[list[AnyMessage]]", DeltaChannel(merge_messages))
    restored = channel.from_checkpoint(history.get("seed"))
    restored.replay_writes(history["writes"])
    return restored.get()
