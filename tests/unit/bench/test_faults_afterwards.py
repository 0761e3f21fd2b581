"""What is looked for after a fault can really be found to be wrong, and is told."""

import pytest

from bench.faults.__main__ import Outcome, columns_of, print_outcome, row_of
from bench.faults.afterwards import failed_turns, unknown_keys
from bench.faults.kinds import FAULTS
from bench.load.ledger import Check, Sent


def turn(mark: str, *, thread_id: str = "t", answered: bool = True) -> Sent:
    error = "" if answered else "StorageUnavailable"
    return Sent(user="ana", thread_id=thread_id, mark=mark, answered=answered, error=error)


def test_a_thread_that_does_not_answer_any_more_is_found() -> None:
    assert failed_turns([turn("a"), turn("b", answered=False)]) == Check(
        "failed afterwards", 2, ["b: StorageUnavailable"]
    )


def test_every_key_is_looked_for_in_the_newest_prompt_of_each_thread() -> None:
    last = [turn("a"), turn("b"), turn("c", thread_id="another")]
    prompts = {"a": "", "b": '{"k_1": 1, "k_2": 1}', "c": '{"k_1": 1, "k_2": 1}'}
    assert unknown_keys(last, prompts, {"ana": ["k_1", "k_2"], "ben": ["k_3"]}) == Check("unknown keys", 4, [])


@pytest.mark.parametrize(
    "prompts", [{"a": '{"k_2": 1}'}, {"a": '{"k_12": 1}'}, {"b": '{"k_1": 1}'}], ids=["absent", "longer", "no prompt"]
)
def test_a_key_that_a_prompt_has_not_is_found(prompts: dict[str, str]) -> None:
    assert unknown_keys([turn("a")], prompts, {"ana": ["k_1"]}).wrong == ["a: k_1"]


def test_a_row_tells_of_each_check_how_much_was_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    turns = [turn("a"), turn("b", answered=False)]
    good = Outcome(FAULTS[0], 61.2, turns, [Check("answers lost", 1, [])])
    bad = Outcome(FAULTS[1], 9.0, turns, [Check("answers lost", 1, ["a"]), Check("written twice", 3, [])])
    broken = Outcome(FAULTS[2], 9.0, [], [Check("broken", 1, ["TimeoutError: no"])])
    columns = columns_of([good, bad, broken])
    assert columns == ["answers lost", "written twice", "broken"]
    assert [row_of(outcome, columns)[1:] for outcome in (good, bad, broken)] == [
        ("61 s", "1", "1", "0/1", "-", "-", "held"),
        ("9 s", "1", "1", "1/1", "0/3", "-", "NOT HELD"),
        ("9 s", "0", "0", "-", "-", "1/1", "NOT HELD"),
    ]
    print_outcome(bad)
    assert capsys.readouterr().out.splitlines()[1:] == ["  answers lost 1/1: a"]


def test_all_faults_have_a_name_of_their_own() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) == 11
