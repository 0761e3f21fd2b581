"""What was acknowledged against what is stored: each kind of loss and each doubled row is found."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from bench.load.ledger import Check, Sent, Stored, checks
from bench.load.script import fact_of, key_of, mark_in, said

KEEP_RECENT = 2
BOTH = frozenset({"save_memory", "manage_memory"})


def sent(mark: str, *, answered: bool = True, kept: frozenset[str] = frozenset()) -> Sent:
    return Sent(user="ana", thread_id="t", mark=mark, answered=answered, kept=kept)


def stored(marks: Sequence[str], **values: Any) -> Stored:
    """As it should be after these turns of one thread, apart from what is given."""
    pairs = len(marks) // KEEP_RECENT
    whole: dict[str, Any] = {
        "asked": {"t": marks},
        "answers": {"t": marks},
        "episodes": marks,
        "windows": {"t": [(KEEP_RECENT * pair, KEEP_RECENT * pair + KEEP_RECENT - 1) for pair in range(pairs)]},
    }
    return Stored(**{**whole, **values})


def failed(turns: Sequence[Sent], found: Stored) -> Mapping[str, Sequence[str]]:
    """What was wrong, by what was looked for."""
    return {check.name: check.wrong for check in checks(turns, found, keep_recent=KEEP_RECENT) if not check.held}


def test_when_all_is_there_once_everything_holds() -> None:
    turns = [sent("a"), sent("b", kept=BOTH), sent("c")]
    found = stored(["a", "b", "c"], keys={"ana": [key_of("b")]}, facts=[fact_of("b")])
    assert failed(turns, found) == {}


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ({"asked": {"t": ["a", "c"]}}, {"answers lost": ["b"]}),
        ({"answers": {"t": ["a"]}}, {"answers lost": ["b"]}),
        ({"answers": {"t": ["a"], "another": ["b"]}}, {"answers lost": ["b"]}),
        ({"episodes": ["a"]}, {"episodes lost": ["b"]}),
        ({"windows": {}}, {"summaries lost": ["t: 2 turns, 0 covered"]}),
        ({"windows": {"t": [(1, 2)]}}, {"summaries lost": ["t: 2 turns, 0 covered"]}),
        ({"asked": {"t": ["a", "b", "b"]}}, {"written twice": ["question b"]}),
        ({"answers": {"t": ["a", "b", "b"]}}, {"written twice": ["answer b"]}),
        ({"answers": {"t": ["a", "b"], "another": ["b"]}}, {"written twice": ["answer b"]}),
        ({"episodes": ["a", "b", "b"]}, {"written twice": ["episode b"]}),
        ({"facts": ["the same", "the same"]}, {"written twice": ["fact 'the same'"]}),
        ({"windows": {"t": [(0, 1), (1, 2)]}}, {"written twice": ["summary of turn 1 in t"]}),
    ],
    ids=[
        "no question", "no answer", "answer in another thread", "no episode", "no pass", "gap",
        "question twice", "answer twice", "answer in two threads", "episode twice", "fact twice", "passes overlap",
    ],
)  # fmt: skip
def test_what_is_missing_or_there_twice_is_found(values: Mapping[str, Any], wrong: Mapping[str, Any]) -> None:
    assert failed([sent("a"), sent("b")], stored(["a", "b"], **values)) == wrong


def test_a_save_counts_from_when_its_tool_has_told_of_it() -> None:
    cut_off = sent("a", answered=False, kept=BOTH)
    assert failed([cut_off], stored(["a"])) == {"saves lost": ["a", "a"]}
    assert failed([sent("a", answered=False)], stored([])) == {}


def test_a_save_in_the_profile_of_another_user_is_lost() -> None:
    turn = sent("a", kept=frozenset({"save_memory"}))
    assert failed([turn], stored(["a"], keys={"ben": [key_of("a")]})) == {"saves lost": ["a"]}


def test_a_turn_that_failed_may_be_stored_or_not() -> None:
    turns = [sent("a", answered=False)]
    assert failed(turns, stored(["a"])) == failed(turns, stored([])) == {}


def test_passes_one_behind_another_cover_all_turns() -> None:
    marks = [str(number) for number in range(7)]
    assert failed([], stored(marks, windows={"t": [(2, 5), (0, 1)]})) == {}
    assert failed([], stored(marks, windows={"t": [(0, 1), (3, 6)]})) == {"summaries lost": ["t: 7 turns, 2 covered"]}


def test_a_check_tells_how_much_it_looked_at() -> None:
    [answers, *_] = checks([sent("a"), sent("b")], stored(["a"]), keep_recent=KEEP_RECENT)
    assert answers == Check("answers lost", 2, ["b"])
    assert str(answers) == "1/2"


def test_only_background_work_is_waited_for() -> None:
    found = checks([], stored([]), keep_recent=KEEP_RECENT)
    assert {check.name for check in found if check.waits} == {"episodes lost", "summaries lost"}


@pytest.mark.parametrize("saves", [True, False], ids=["saving", "talking"])
def test_a_turn_is_found_again_by_its_mark(saves: bool) -> None:
    assert mark_in(said("c1t2n3", saves=saves)) == "c1t2n3"
    assert mark_in("nothing of the kind") is None
