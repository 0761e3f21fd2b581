import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from bench.growth.measures import Point, TurnCost, bytes_a_turn, codes_in, is_linear, labels_in, point_of
from bench.growth.rivals import with_instructions
from bench.turns.talk import planted


def points(*stored: int) -> list[Point]:
    return [Point(turns, 0, 0, 0, {"rows": kept}) for turns, kept in zip((20, 200, 1_000), stored, strict=True)]


def test_bytes_are_told_by_what_a_turn_added() -> None:
    assert bytes_a_turn(points(200, 2_000, 10_000)) == [10, 10]


@pytest.mark.parametrize(
    ("stored", "linear"),
    [((200, 2_000, 10_000), True), ((200, 2_000, 12_000), True), ((200, 2_000, 50_000), False)],
    ids=["even", "a little more", "squared"],
)
def test_growth_is_linear_while_a_turn_adds_the_same(stored: tuple[int, int, int], linear: bool) -> None:
    assert is_linear(points(*stored), tolerance=0.25) is linear


def test_a_point_is_the_mean_of_tokens_and_the_median_of_times() -> None:
    costs = [TurnCost(1.0, 0.5, [400], []), TurnCost(2.0, 0.5, [800], [100]), TurnCost(9.0, 0.5, [1_200], [])]
    point = point_of(3, costs, {"rows": 7})
    assert (point.call_tokens, point.turn_seconds, point.background_seconds, point.bytes) == (200, 2.0, 0.5, 7)


def test_a_code_is_found_in_any_message_of_a_request() -> None:
    facts = planted(100, 3)
    request = {"messages": [{"content": facts[0].code}, {"content": [{"type": "text", "text": facts[2].code}]}]}
    assert codes_in(request, facts) == {facts[0].code, facts[2].code}


def test_no_request_holds_nothing() -> None:
    assert codes_in(None, planted(100, 3)) == labels_in(None) == frozenset()


def test_labels_count_from_one_and_only_inside_the_block() -> None:
    block = "labels such as #9\n<earlier_conversation>\nQ (#1, #12): a\nA: b\n</earlier_conversation>\nand #13"
    assert labels_in({"messages": [{"content": block}]}) == {0, 11}


def test_summaries_join_the_one_system_message_in_front() -> None:
    sent = with_instructions("rules", [SystemMessage("summary"), HumanMessage("hello"), AIMessage("hi")])
    assert [(message.type, message.text) for message in sent] == [
        ("system", "rules\n\nsummary"),
        ("human", "hello"),
        ("ai", "hi"),
    ]
