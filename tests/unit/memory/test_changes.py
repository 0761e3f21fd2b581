"""Who is told of a change of memory: whoever watches that user's, once for all that was not asked for yet."""

from contextlib import ExitStack

import pytest

from backend.errors import LimitReached
from backend.ids import UserId
from backend.memory.changes import MAX_WATCHES, Changes

pytestmark = pytest.mark.anyio

ANA, BEN = UserId("ana"), UserId("ben")
NEVER = 0.01


async def test_whoever_watches_is_told_and_nobody_else() -> None:
    changes = Changes()
    with changes.watch(ANA) as here, changes.watch(ANA) as there, changes.watch(BEN) as bens:
        changes.tell(ANA)
        assert await here.changed(within=1)
        assert await there.changed(within=1)
        assert not await bens.changed(within=NEVER)


async def test_what_was_not_asked_for_counts_as_one_change() -> None:
    changes = Changes()
    with changes.watch(ANA) as watch:
        for _ in range(1_000):
            changes.tell(ANA)
        assert await watch.changed(within=1)
        assert not await watch.changed(within=NEVER)
        changes.tell(ANA)
        assert await watch.changed(within=1)


async def test_where_it_may_be_anybody_all_are_told() -> None:
    changes = Changes()
    with changes.watch(ANA) as anas, changes.watch(BEN) as bens:
        changes.tell(None)
        assert await anas.changed(within=1)
        assert await bens.changed(within=1)


async def test_who_waits_hears_of_it_at_once_and_an_earlier_change_is_none() -> None:
    changes = Changes()
    changes.tell(ANA)
    changes.tell(None)
    with changes.watch(ANA) as watch:
        assert not await watch.changed(within=NEVER)


async def test_no_time_left_is_no_change() -> None:
    with Changes().watch(ANA) as watch:
        assert not await watch.changed(within=-1)


def test_watches_that_ended_leave_nothing() -> None:
    changes = Changes()
    with changes.watch(ANA), changes.watch(BEN):
        with pytest.raises(ZeroDivisionError), changes.watch(ANA):
            raise ZeroDivisionError
        assert len(changes) == 2
    assert len(changes) == 0
    changes.tell(ANA)
    assert not changes._watches  # pyright: ignore[reportPrivateUsage]


def test_a_user_has_so_many_watches_and_no_more() -> None:
    changes = Changes()
    with ExitStack() as held:
        for _ in range(MAX_WATCHES):
            held.enter_context(changes.watch(ANA))
        with pytest.raises(LimitReached, match="20 streams"), changes.watch(ANA):
            pass
        with changes.watch(BEN):
            assert len(changes) == MAX_WATCHES + 1
    with changes.watch(ANA):
        assert len(changes) == 1
