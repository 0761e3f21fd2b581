import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from bench.growth.__main__ import report_of
from bench.growth.measures import (
    Grown,
    Knowledge,
    Point,
    TurnCost,
    bytes_a_turn,
    codes_in,
    cost_of,
    labels_in,
    point_of,
    prompt_of,
)
from bench.growth.rivals import with_instructions
from bench.turns.talk import planted


def test_bytes_are_told_by_what_a_turn_added() -> None:
    stored = {20: 200, 200: 2_000, 1_000: 42_000}
    assert bytes_a_turn([Point(turns, 0, 0, 0, kept) for turns, kept in stored.items()]) == [10, 50]


def test_a_cost_is_in_tokens_by_model() -> None:
    taken = [("chat", 400), ("summary", 80), ("chat", 800)]
    assert cost_of(1.0, 0.5, taken) == TurnCost(1.0, 0.5, [100, 200], [20])


def test_a_point_is_the_mean_of_tokens_and_the_median_of_times() -> None:
    costs = [TurnCost(1.0, 0.5, [100], []), TurnCost(2.0, 0.5, [200], [25]), TurnCost(9.0, 0.5, [300], [])]
    assert point_of(3, costs, 7) == Point(3, 200, 2.0, 0.5, 7)


def grown(*points: Point) -> Grown:
    return Grown("ours", points, [TurnCost(0, 0, [1], [2])], Knowledge(1, 1, 1, 1))


@pytest.mark.parametrize(
    ("last", "missed"),
    [
        (Point(1_000, 2_100, 0.2, 0, 1_000), 0),
        (Point(1_000, 2_300, 0.2, 0, 1_000), 1),
        (Point(1_000, 2_100, 0.4, 0, 1_000), 1),
        (Point(1_000, 2_100, 0.2, 0, 9_000), 1),
    ],
    ids=["as wanted", "more tokens", "slower", "more bytes a turn"],
)
def test_each_wanted_figure_of_growth_can_be_missed(last: Point, missed: int) -> None:
    ours = grown(Point(20, 1_000, 0.1, 0, 20), Point(200, 2_000, 0.2, 0, 200), last)
    assert report_of(ours).missed == missed


def test_a_code_is_found_in_any_message_of_a_request() -> None:
    facts = planted(100, 3)
    request = {"messages": [{"content": facts[0].code}, {"content": [{"type": "text", "text": facts[2].code}]}]}
    assert codes_in(prompt_of(request), facts) == {facts[0].code, facts[2].code}


def test_labels_count_from_one_and_only_inside_the_block() -> None:
    block = "labels such as #9\n<earlier_conversation>\nQ (#1, #12): a\nA: b\n</earlier_conversation>\nand #13"
    assert labels_in(block) == {0, 11}


def test_summaries_join_the_one_system_message_in_front() -> None:
    sent = with_instructions("rules", [SystemMessage("summary"), HumanMessage("hello"), AIMessage("hi")])
    assert [(message.type, message.text) for message in sent] == [
        ("system", "rules\n\nsummary"),
        ("human", "hello"),
        ("ai", "hi"),
    ]
