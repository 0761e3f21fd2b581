"""How a thread's messages are stored: each step stores what it adds, see docs/decisions/0001-messages-as-deltas.md.

This is the one place that says so. The chat state takes its type from here, and the checkpointer how to read it back.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar, Final, cast

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import DeltaChannelHistory
from langgraph.graph.message import _messages_delta_reducer  # pyright: ignore[reportPrivateUsage, reportUnknownVariableType]

CHANNEL: Final = "messages"
SNAPSHOT_EVERY: Final = 20
"""A full copy of the messages is stored after so many updates at the soonest."""
SNAPSHOT_SHARE: Final = 4
"""In a long thread it is stored after as many updates as this part of the messages, so that all copies together grow
with the thread and not with its square; reading replays at most as many.
"""

# LangGraph gives ids to messages that have none only where it finds this very function.
merge_messages = cast(
    "Callable[[list[AnyMessage], Sequence[list[AnyMessage]]], list[AnyMessage]]", _messages_delta_reducer
)


class GrowingDeltaChannel(DeltaChannel[list[AnyMessage]]):
    """A `DeltaChannel` whose full copies are the farther apart the more messages there are.

    LangGraph compares the updates since the last copy with `snapshot_frequency` whenever it stores a checkpoint.
    """

    __slots__ = ()
    share: ClassVar[int] = SNAPSHOT_SHARE

    @property
    def snapshot_frequency(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return updates_between_copies(len(self.get()) if self.is_available() else 0, share=self.share)

    @snapshot_frequency.setter
    def snapshot_frequency(self, _: int) -> None:
        """Upstream hands on what it reads here whenever it makes the channel anew."""


def updates_between_copies(messages: int, *, share: int = SNAPSHOT_SHARE) -> int:
    """How many updates of so many messages are stored as they are before all messages are stored again."""
    return max(SNAPSHOT_EVERY, messages // share)


Messages = Annotated[list[AnyMessage], GrowingDeltaChannel(merge_messages)]


def replay(history: DeltaChannelHistory) -> list[AnyMessage]:
    """The messages, from the last full copy and what was written since."""
    channel = cast("DeltaChannel[list[AnyMessage]]", DeltaChannel(merge_messages))
    restored = channel.from_checkpoint(history.get("seed"))
    restored.replay_writes(history["writes"])
    return restored.get()
