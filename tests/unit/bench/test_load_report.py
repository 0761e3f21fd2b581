"""What of a load is wanted, and that each of it can be missed."""

import pytest

from bench.load.__main__ import Load, Measured, report_of
from bench.load.ledger import Check, Sent


def measured(*, answered: bool = True, seconds: float = 10.0) -> Measured:
    turn = Sent(user="ana", thread_id="t", mark="a", answered=answered, seconds=1.0, error="" if answered else "no")
    return Measured([turn] * 20, seconds, [2.0, 1.0])


def test_figures_of_ours_stand_beside_those_of_plain() -> None:
    report = report_of(Load(blocks=2), {"plain": measured(seconds=5.0), "agent": measured()}, [])
    rows = {name: (value, compared) for name, value, compared, *_ in report.rows}
    assert rows["turns a second"] == ("2.0", "0.50x of plain")
    assert rows["p95 of a turn"] == ("1.00 s", "1.00x of plain")
    assert rows["background work left when a block ends"] == ("2.0 s", "0.40x of a block")
    assert report.missed == 0


@pytest.mark.parametrize("graph", ["plain", "agent"], ids=["plain", "ours"])
def test_a_failed_turn_is_missed(graph: str) -> None:
    both = {"plain": measured(), "agent": measured(), graph: measured(answered=False)}
    both["plain"].sent[0] = measured().sent[0]
    assert report_of(Load(), both, []).missed == 1


def test_what_is_lost_is_missed_and_counted() -> None:
    report = report_of(Load(), {"plain": measured(), "agent": measured()}, [Check("saves lost", 9, ["a", "b", "c"])])
    assert report.missed == 1
    assert report.rows[-1][:3] == ("saves lost", "3/9", "a; b")


def test_a_load_is_dealt_out_evenly() -> None:
    load = Load()
    assert load.turns_a_thread * load.threads * load.blocks == load.turns == 2_000
    assert sum(map(len, load.chats("agent"))) == 50
    assert len({chat.user for own in load.chats("agent") for chat in own}) == 4
