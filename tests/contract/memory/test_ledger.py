"""Who summarizes a thread now, and which turns are fenced: `SummaryLedger` and its double."""

import asyncio

import pytest

from backend.ids import ThreadId
from backend.storage.summary_ledger import SummaryLedger
from tests.support.memory_doubles import LedgerInMemory
from tests.support.memory_homes import Process

pytestmark = pytest.mark.anyio

ANA, BEN = "ana", "ben"
T1, T10 = ThreadId("t-1"), ThreadId("t-10")
LONG = 600.0

Ledger = SummaryLedger | LedgerInMemory


@pytest.fixture
def ledger(process: Process) -> Ledger:
    return process.ledger


async def claimed(ledger: Ledger, scope: str = ANA, thread_id: ThreadId = T1, *, seconds: float = LONG) -> str:
    claim = await ledger.claim(scope, thread_id, seconds=seconds)
    assert claim is not None
    return claim


async def test_one_at_a_time_has_the_claim(ledger: Ledger) -> None:
    claim = await claimed(ledger)
    assert await ledger.claim(ANA, T1, seconds=LONG) is None
    assert await ledger.holds(ANA, T1, claim)


async def test_of_many_at_once_one_has_the_claim(ledger: Ledger) -> None:
    claims = await asyncio.gather(*(ledger.claim(ANA, T1, seconds=LONG) for _ in range(8)))
    assert sum(claim is not None for claim in claims) == 1


async def test_other_threads_and_scopes_have_claims_of_their_own(ledger: Ledger) -> None:
    first, second, third = await claimed(ledger), await claimed(ledger, ANA, T10), await claimed(ledger, BEN, T1)
    assert len({first, second, third}) == 3
    assert not await ledger.holds(ANA, T10, first)
    assert not await ledger.holds(BEN, T1, first)


async def test_a_released_claim_is_lost_and_free(ledger: Ledger) -> None:
    claim = await claimed(ledger)
    await ledger.release(ANA, T1, claim)
    assert not await ledger.holds(ANA, T1, claim)
    assert await claimed(ledger) != claim


async def test_who_lost_the_claim_cannot_release_its_new_holder(ledger: Ledger) -> None:
    lost = await claimed(ledger)
    await ledger.void(ANA, T1)
    claim = await claimed(ledger)
    await ledger.release(ANA, T1, lost)
    assert await ledger.holds(ANA, T1, claim)
    assert await ledger.claim(ANA, T1, seconds=LONG) is None


async def test_a_claim_that_ran_out_can_be_taken_over(ledger: Ledger) -> None:
    expired = await claimed(ledger, seconds=0)
    assert await ledger.holds(ANA, T1, expired), "as long as nobody wants it"
    claim = await claimed(ledger)
    assert not await ledger.holds(ANA, T1, expired)
    assert await ledger.holds(ANA, T1, claim)


async def test_a_claim_that_is_renewed_does_not_run_out(ledger: Ledger) -> None:
    claim = await claimed(ledger, seconds=0)
    await ledger.renew(ANA, T1, claim, seconds=LONG)
    assert await ledger.claim(ANA, T1, seconds=LONG) is None
    assert await ledger.holds(ANA, T1, claim)


async def test_a_claim_that_was_lost_cannot_be_renewed(ledger: Ledger) -> None:
    lost = await claimed(ledger, seconds=0)
    later = await claimed(ledger, seconds=0)
    await ledger.renew(ANA, T1, lost, seconds=LONG)
    assert not await ledger.holds(ANA, T1, lost)
    assert await ledger.holds(ANA, T1, later)
    await claimed(ledger)


async def test_a_thread_that_nobody_knows_is_held_and_fenced_by_nobody(ledger: Ledger) -> None:
    await ledger.void(ANA, T1)
    assert not await ledger.holds(ANA, T1, "6c4f2d0e-6f7e-4c55-8e0f-5a5a2f0f1f11")
    assert list(await ledger.fenced(ANA, T1)) == []
    assert list(await ledger.threads_of(ANA)) == []


async def test_a_fence_takes_the_claim_away_and_stays_until_it_is_replaced(ledger: Ledger) -> None:
    claim = await claimed(ledger)
    await ledger.fence(ANA, T1, ["h0", "h1"])
    assert not await ledger.holds(ANA, T1, claim)
    later = await claimed(ledger)
    await ledger.release(ANA, T1, later)
    await ledger.void(ANA, T1)
    assert list(await ledger.fenced(ANA, T1)) == ["h0", "h1"]
    await ledger.fence(ANA, T1, ["h0", "h1", "h2"])
    assert list(await ledger.fenced(ANA, T1)) == ["h0", "h1", "h2"]
    assert list(await ledger.fenced(BEN, T1)) == []
    assert list(await ledger.fenced(ANA, T10)) == []


async def test_what_is_forgotten_has_neither_claim_nor_fence_and_starts_anew(ledger: Ledger) -> None:
    await ledger.fence(ANA, T1, ["h0"])
    await claimed(ledger, BEN, T1)
    claim = await claimed(ledger)
    await ledger.forget(ANA, T1)
    assert not await ledger.holds(ANA, T1, claim)
    assert list(await ledger.fenced(ANA, T1)) == []
    assert list(await ledger.scopes_of(T1)) == [BEN]
    assert await claimed(ledger) != claim


async def test_threads_and_scopes_are_found_by_each_other(ledger: Ledger) -> None:
    await claimed(ledger, ANA, T10)
    await ledger.fence(ANA, T1, [])
    await claimed(ledger, BEN, T1)
    assert list(await ledger.threads_of(ANA)) == [T1, T10]
    assert list(await ledger.scopes_of(T1)) == [ANA, BEN]
    assert list(await ledger.scopes_of(ThreadId("t"))) == []
