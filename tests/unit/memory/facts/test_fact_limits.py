"""How much of facts a scope may keep."""

import pytest

from backend.errors import InvalidInput, LimitReached
from backend.memory.facts.limits import MAX_IN_ONE_CALL, FactLimits, require_few, require_room

LIMITS = FactLimits(count=3, chars=10)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([], ["aaa", "bbb", "cccc"], id="exactly full"),
        pytest.param(["a", "b", "c"], ["a", "b", "d"], id="a change in a full scope"),
        pytest.param(["a"] * 5, ["a"] * 4, id="fewer, still too many"),
        pytest.param(["a"] * 5, ["a"] * 5, id="as many as before"),
        pytest.param(["a" * 20], ["a" * 19], id="shorter, still too long"),
        pytest.param(["a" * 20], ["b" * 20], id="as long as before"),
        pytest.param(["東" * 10], ["京" * 10], id="characters, not bytes"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_there_is_room_up_to_the_limits_and_for_making_an_excess_smaller(before: list[str], after: list[str]) -> None:
    require_room(LIMITS, before=before, after=after)


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        pytest.param(["a", "b", "c"], ["a", "b", "c", "d"], "3 facts", id="one too many"),
        pytest.param(["a"] * 5, ["a"] * 6, "3 facts", id="a greater excess"),
        pytest.param([], ["a" * 11], "10 characters", id="one character too many"),
        pytest.param(["a" * 20], ["a" * 21], "would have 21", id="longer than what is too long"),
        pytest.param(["a"] * 5, ["a" * 11, "b"], "10 characters", id="fewer, but too long"),
    ],
)
def test_beyond_the_limits_there_is_none(before: list[str], after: list[str], names: str) -> None:
    with pytest.raises(LimitReached, match=names):
        require_room(LIMITS, before=before, after=after)


@pytest.mark.parametrize("count", [-1, 0, MAX_IN_ONE_CALL + 1])
def test_one_call_brings_between_one_and_five(count: int) -> None:
    with pytest.raises(InvalidInput, match="5"):
        require_few(count)


def test_five_in_one_call_are_few() -> None:
    require_few(1)
    require_few(MAX_IN_ONE_CALL)
