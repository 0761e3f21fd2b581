from typing import Any

import pytest

from bench.turns.postgres import kind_of, tally
from bench.turns.scripted import size_of
from bench.turns.summarizing import capped, entries_of, gist, summarize, summary_lines
from bench.turns.tables import Report, percentile, print_table, times
from bench.turns.talk import answer, fact_text, planted, said
from tests.support.model_requests import ModelRequest

STATEMENTS = [
    ("SELECT * FROM checkpoints WHERE thread_id = $1", "checkpoints"),
    ("INSERT INTO checkpoint_writes (thread_id) VALUES ($1)", "checkpoints"),
    ("WITH word AS (SELECT memory_word_query($1)) SELECT id FROM memories", "memory"),
    ("SELECT value FROM store WHERE prefix = $1", "memory"),
    ("SELECT set_config($1, $2, true)", "around"),
    ("BEGIN", "around"),
    ("SELECT version()", "other"),
]


@pytest.mark.parametrize(("query", "kind"), STATEMENTS, ids=[kind for _, kind in STATEMENTS])
def test_a_statement_is_told_by_its_tables(query: str, kind: str) -> None:
    assert kind_of(query) == kind


def test_statements_are_added_up_by_kind() -> None:
    counted = tally({"BEGIN": 2, "SELECT * FROM memories": 3, "SELECT * FROM checkpoints": 4, "SELECT 1": 1})
    assert (counted.memory, counted.checkpoints, counted.around, counted.other) == (3, 4, 2, 1)
    assert counted.total == 10


def test_every_turn_says_something_else_and_the_same_each_time() -> None:
    assert len({said(turn) for turn in range(300)}) == 300
    assert said(7) == said(7)
    assert answer(said(7)) == answer(said(7)) != answer(said(8))


def test_an_answer_is_about_what_was_asked() -> None:
    assert "couchette" in " ".join(answer("the night train to Vienna " + str(number)) for number in range(10))


def test_facts_are_numbered_apart() -> None:
    assert len({fact_text(number) for number in range(50)}) == 50


def test_planted_facts_are_distinct_and_in_turns_of_their_own() -> None:
    facts = planted(1_000)
    assert len(facts) == len({fact.code for fact in facts}) == len({fact.turn for fact in facts}) == 40
    assert all(fact.turn < 1_000 for fact in facts)


def test_no_planted_code_is_part_of_another() -> None:
    codes = [fact.code for fact in planted(1_000)]
    assert not [(one, other) for one in codes for other in codes if one != other and one in other]


def test_a_planted_fact_is_said_in_its_turn_only() -> None:
    facts = planted(100, 4)
    assert [[turn for turn in range(100) if fact.code in said(turn, facts)] for fact in facts] == [
        [fact.turn] for fact in facts
    ]


def test_an_early_fact_is_in_the_gist_of_its_turn_and_a_late_one_is_not() -> None:
    facts = planted(100, 6)
    assert [fact.code in gist(said(fact.turn, facts)) for fact in facts] == [fact.early for fact in facts]


def test_the_oldest_lines_go_first_when_a_summary_is_too_long() -> None:
    assert capped(["one two", "three four", "five six"], 4) == "three four\nfive six"


def test_a_single_line_is_kept_however_long() -> None:
    assert capped(["one two three"], 1) == "one two three"


def test_our_own_transcript_becomes_one_entry_a_turn() -> None:
    transcript = '{"id":"#3","messages":[{"role":"human","content":"a b"},{"role":"ai","content":"c"}]}'
    assert entries_of(transcript) == {"entries": [{"question": "a b", "answer": "c", "refs": ["#3"]}]}


LANGCHAIN_PROMPT = """Instructions about <messages> and more
<messages>
Messages to summarize:
<message type="human">Here is a summary of the conversation to date:

human: old
ai: older</message>
<message type="ai">this &amp; that</message>
</messages>"""


def test_langchains_prompt_gives_its_earlier_summary_and_its_messages() -> None:
    asked = [{"role": "user", "content": LANGCHAIN_PROMPT}]
    assert list(summary_lines(asked)) == ["human: old", "ai: older", "ai: this & that"]


def test_langmems_prompt_gives_its_earlier_summary_and_its_messages() -> None:
    asked = [
        {"role": "user", "content": "new"},
        {"role": "user", "content": "This is summary of the conversation so far: human: old\n\nExtend this summary by"},
    ]
    assert list(summary_lines(asked)) == ["human: old", "human: new"]


def a_request(**body: Any) -> ModelRequest:
    return ModelRequest(number=1, at=0, headers={}, body={"model": "summary", **body})


def test_a_summary_that_is_written_anew_has_at_most_so_many_words() -> None:
    messages = [{"role": "user", "content": f"{'word ' * 12}"} for _ in range(100)]
    summary = summarize(a_request(messages=messages)).content
    assert summary is not None
    assert 580 < len(summary.split()) <= 600


def test_a_request_is_as_long_as_its_messages_and_tools() -> None:
    messages = [
        {"role": "user", "content": "12345"},
        {"role": "assistant", "content": [{"type": "text", "text": "67"}]},
    ]
    assert size_of(a_request(messages=messages)) == ("summary", 7)
    assert size_of(a_request(messages=messages, tools=[{}])) == ("summary", 11)


def test_a_table_is_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("Title", ("name", "a"), [("one", "1.5 ms")])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "**Title**",
        "",
        "| name |      a |",
        "| ---- | -----: |",
        "| one  | 1.5 ms |",
    ]


def test_a_percentile_is_one_of_the_values() -> None:
    assert [percentile([3, 1, 2, 4], share) for share in (0.0, 0.5, 0.95)] == [1, 3, 4]


def test_a_ratio_to_nothing_is_no_ratio() -> None:
    assert (times(3, 2), times(3, 0)) == ("1.50x", "-")


def test_a_report_counts_what_is_not_reached() -> None:
    report = Report("A title")
    report.figure("good", "1", wanted="at most 2", reached=True)
    report.figure("bad", "3", wanted="at most 2", reached=False)
    report.figure("open", "3")
    assert report.missed == 1
    assert [row[-1] for row in report.rows] == ["reached", "NOT REACHED", ""]
