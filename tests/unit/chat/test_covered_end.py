"""How far summaries reach is read once a turn: the dispatch takes it from the answer's receipt."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from backend.chat.dispatch import covered_in


@pytest.mark.parametrize("covered", [-1, 0, 9], ids=["nothing", "the first turn", "ten turns"])
def test_what_the_receipt_says_is_handed_over(covered: int) -> None:
    answer = AIMessage("hi", response_metadata={"memory": {"covered_end": covered}})
    assert covered_in([HumanMessage("hi"), answer]) == {"covered_end": covered}


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"memory": None},
        {"memory": {}},
        {"memory": {"covered_end": None}},
        {"memory": {"covered_end": "9"}},
        {"memory": {"covered_end": True}},
    ],
    ids=["no receipt", "null", "an older receipt", "not known", "no number", "a truth"],
)
def test_what_is_not_known_is_not_said(metadata: dict[str, object]) -> None:
    assert covered_in([HumanMessage("hi"), AIMessage("hi", response_metadata=metadata)]) == {}


def test_a_thread_without_messages_says_nothing() -> None:
    assert covered_in([]) == {}
