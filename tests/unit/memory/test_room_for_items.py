"""How much of a call recalled items may take: one budget for all turns that are sent, and never nothing."""

import pytest

from backend.ids import MemoryId
from backend.memory.recall_items import room_for_items
from backend.memory.sent_memory import Note, SentItem, SentMemory


def sent_with(*chars: int) -> SentMemory:
    """One turn for each number, with an item that takes so many characters."""
    notes = {
        f"m{n}": Note((), [SentItem(MemoryId(f"e{n}"), 1, "x" * (count - 1))]) for n, count in enumerate(chars) if count
    }
    return SentMemory(scope="ana", cut=0, facts="", versions={}, notes=notes, checked="")


@pytest.mark.parametrize(
    ("chars", "room"),
    [
        pytest.param([], 12_000, id="nothing is sent yet"),
        pytest.param([8_000], 8_000, id="half of the rest"),
        pytest.param([8_000, 8_000], 4_000, id="of two turns"),
        pytest.param([12_000, 10_000], 2_000, id="little is left"),
        pytest.param([12_000, 12_000], 2_000, id="nothing is left"),
        pytest.param([20_000, 20_000], 2_000, id="more than there should be"),
    ],
)
def test_a_turn_gets_half_of_what_is_left_and_never_nothing(chars: list[int], room: int) -> None:
    assert room_for_items(sent_with(*chars)) == room
