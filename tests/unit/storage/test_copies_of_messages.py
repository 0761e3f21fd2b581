"""How often a thread's messages are stored whole: their copies together grow with the thread, not with its square."""

from collections.abc import Sequence

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from backend.storage.messages_channel import CHANNEL, SNAPSHOT_SHARE, updates_between_copies
from tests.support.echo_graph import in_thread, make_echo_graph

TURNS = 150
"""Of two updates and two messages each; where the distance does not grow, a copy is stored at every tenth."""


@pytest.mark.parametrize(
    ("messages", "updates"),
    [(0, 20), (40, 20), (80, 20), (83, 20), (84, 21), (400, 100), (2_000, 500)],
)
def test_the_distance_between_copies(messages: int, updates: int) -> None:
    assert updates_between_copies(messages) == updates


@pytest.mark.anyio
async def test_all_copies_together_are_a_few_times_the_thread() -> None:
    copies = await lengths_of_copies(TURNS)
    assert copies == sorted(set(copies))
    assert sum(copies) <= (SNAPSHOT_SHARE + 1) * 2 * TURNS
    distances = [after - before for before, after in zip([0, *copies], copies, strict=False)]
    assert distances[:4] == [20] * 4
    assert distances[4:] == sorted(distances[4:])
    assert distances[-1] > 2 * distances[0]


async def lengths_of_copies(turns: int) -> Sequence[int]:
    """How many messages each full copy of a thread holds, in order."""
    saver = InMemorySaver()
    graph = make_echo_graph(saver)
    for turn in range(turns):
        await graph.ainvoke({"messages": [HumanMessage(f"turn {turn}")]}, in_thread("thread"))
    stored = [blob for (_, _, channel, _), blob in saver.blobs.items() if channel == CHANNEL and blob[0] != "empty"]
    return sorted(len(saver.serde.loads_typed(blob).value) for blob in stored)
