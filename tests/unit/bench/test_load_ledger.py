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


def failed(turns: Sequence[Sent], found: Stored) -> Mapping[str, int]:
    """How many things were wrong, by what was looked for."""
    return {check.name: len(check.wrong) for check in checks(turns, found, keep_recent=KEEP_RECENT) if not check.held}


def test_when_all_is_there_once_everything_holds() -> None:
    turns = [sent("a"), sent("b", kept=BOTH), sent("c")]
    found = stored(["a", "b", "c"], keys={"ana": [key_of("b")]}, facts={"ana": [fact_of("b")]})
    assert failed(turns, found) == {}


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"answers": {"t": ["a"]}}, "answers lost"),
        ({"answers": {"t": ["a", "b", "b"]}}, "messages twice"),
        ({"episodes": ["a"]}, "episodes lost"),
        ({"episodes": ["a", "b", "b"]}, "episodes twice"),
        ({"windows": {"t": []}}, "threads with a summary due"),
        ({"windows": {"t": [(0, 1), (0, 1)]}}, "summaries with a gap or twice"),
        ({"windows": {"t": [(1, 2)]}}, "summaries with a gap or twice"),
        ({"facts": {"ana": ["the same", "the same"]}}, "facts twice"),
    ],
    ids=["no answer", "answer twice", "no episode", "episode twice", "no pass", "pass twice", "gap", "fact twice"],
)
def test_what_is_missing_or_there_twice_is_found(values: Mapping[str, Any], name: str) -> None:
    assert failed([sent("a"), sent("b")], stored(["a", "b"], **values)) == {name: 1}


def test_a_save_counts_from_when_its_tool_has_told_of_it() -> None:
    cut_off = sent("a", answered=False, kept=BOTH)
    assert failed([cut_off], stored(["a"])) == {"saves lost": 2}
    assert failed([sent("a", answered=False)], stored([])) == {}


def test_a_turn_that_failed_may_be_stored_or_not() -> None:
    turns = [sent("a", answered=False)]
    assert failed(turns, stored(["a"])) == failed(turns, stored([])) == {}


def test_the_same_fact_of_two_users_is_none_twice() -> None:
    assert failed([], stored([], facts={"ana": ["one"], "bo": ["one"]})) == {}


def test_a_check_tells_how_much_it_looked_at() -> None:
    [answers, *_] = checks([sent("a"), sent("b")], stored(["a"]), keep_recent=KEEP_RECENT)
    assert answers == Check("answers lost", 2, ["b"])


@pytest.mark.parametrize("saves", [True, False], ids=["saving", "talking"])
def test_a_turn_is_found_again_by_its_mark(saves: bool) -> None:
    assert mark_in(said("c1t2n3", saves=saves)) == "c1t2n3"
    assert mark_in("nothing of the kind") is None
