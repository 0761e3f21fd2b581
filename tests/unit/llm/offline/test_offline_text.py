"""Blocks of a prompt, titles and summaries."""

import json
from typing import Any

import pytest

from backend.llm.offline.blocks import find_blocks, inside_of, without_blocks, without_quotations, without_tags
from backend.llm.offline.replies import OFFLINE_NOTICE
from backend.llm.offline.summarizing import summarize
from backend.llm.offline.titles import make_title


def test_a_block_that_prose_mentions_is_found_where_it_stands() -> None:
    system = (
        "The blocks <memory> and <earlier_conversation> are data.\n"
        "<memory>\n{}\n</memory>\n<earlier_conversation>\nx\n</earlier_conversation>"
    )
    assert [(block.tag, block.inside) for block in find_blocks(system)] == [
        ("memory", "{}"),
        ("earlier_conversation", "x"),
    ]
    assert inside_of(["no block", system], "memory") == "{}"
    assert inside_of([system], "facts") == ""


def test_a_block_inside_a_block_belongs_to_it() -> None:
    assert without_blocks("a<outer>x<inner>y</inner>z</outer>b") == "a\nb"


@pytest.mark.timeout(5)
@pytest.mark.parametrize("text", ["<aa>" * 50_000, "<aa></aa>" * 20_000, "</aa>" * 50_000, "<" * 200_000])
def test_many_tags_do_not_take_long(text: str) -> None:
    assert "</aa><aa>" not in without_blocks(text)


def test_an_unclosed_tag_is_text() -> None:
    assert without_blocks("1 <memory> 2") == "1 <memory> 2"
    assert without_tags("1 <memory> 2</memory> 3 < 4") == "1  2 3 < 4"


def test_quotations_go_and_single_words_stay() -> None:
    assert without_quotations('say "a b" and "c" or “d e”').split() == ["say", "and", "c", "or"]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        pytest.param("Plan a trip to Lisbon", "Plan a trip to Lisbon", id="as it is"),
        pytest.param("Hi! Can you tell me about the weather in Oslo, please?", "Weather in Oslo, please", id="opening"),
        pytest.param("what's the price of bitcoin?", "Price of bitcoin", id="question"),
        pytest.param("one two three four five six seven eight", "One two three four five six", id="six words"),
        pytest.param("x" * 100, "X" + "x" * 58 + "…", id="long word"),
        pytest.param("## *Hello*\nmore", "Hello", id="Markdown"),
        pytest.param("你好", "你好", id="Chinese"),
        pytest.param("<context>today</context>Buy milk", "Buy milk", id="block beside the words"),
        pytest.param("<message>Buy milk</message>", "Buy milk", id="words in a block"),
        pytest.param("Hi.", "Hi", id="nothing but an opening"),
        pytest.param("?!", "", id="no words"),
        pytest.param("", "", id="empty"),
    ],
)
def test_titles_are_short_and_of_the_users_words(said: str, title: str) -> None:
    assert make_title(said) == title


def line(number: int, *messages: dict[str, Any]) -> str:
    return json.dumps({"id": f"#{number}", "messages": messages}, ensure_ascii=False)


def test_each_turn_of_a_transcript_becomes_an_entry_in_its_own_words() -> None:
    transcript = "\n".join(
        [
            "Summarize this. Lines look like {'id': '#1'}:",
            line(3, {"role": "human", "content": "When do we\nship?"}, {"role": "ai", "content": "On Friday."}),
            line(
                4,
                {"role": "human", "content": "Погода в Осло?"},
                {"role": "ai", "content": "", "tool_calls": [{"name": "get_weather", "args": {}}]},
                {"role": "tool", "content": "4 °C"},
                {"role": "assistant", "content": f"Там 4 °C.\u2028\n\n{OFFLINE_NOTICE}"},
            ),
            "Answer in JSON.",
        ]
    )
    assert summarize(transcript) == {
        "entries": [
            {"question": "When do we ship?", "answer": "On Friday.", "refs": ["#3"]},
            {"question": "Погода в Осло?", "answer": "Там 4 °C.", "refs": ["#4"]},
        ]
    }


def test_long_texts_are_shortened_and_blocks_lose_their_tags() -> None:
    transcript = line(
        1, {"role": "human", "content": "w " * 1000}, {"role": "ai", "content": "<memory>x</memory> " + "z " * 1000}
    )
    (entry,) = summarize(transcript)["entries"]
    assert len(entry["question"]) == 160
    assert len(entry["answer"]) == 240
    assert "<" not in entry["answer"]


@pytest.mark.parametrize(
    ("messages", "entries"),
    [
        pytest.param(
            [{"role": "human", "content": [{"type": "text", "text": "Hi"}]}], [("Hi", "…")], id="no answer yet"
        ),
        pytest.param([{"role": "ai", "content": "Hello"}], [("…", "Hello")], id="no question"),
        pytest.param([{"role": "tool", "content": "x"}], [], id="neither"),
        pytest.param([], [], id="nothing"),
        pytest.param(["odd", {"role": 7, "content": None}], [], id="odd messages"),
    ],
)
def test_turns_with_missing_parts_do_not_disturb(messages: list[Any], entries: list[tuple[str, str]]) -> None:
    found = summarize(json.dumps({"id": "#1", "messages": messages}))["entries"]
    assert [(entry["question"], entry["answer"]) for entry in found] == entries


@pytest.mark.parametrize("prompt", ["", "{", '{"id": 3, "messages": []}', "[" * 100_000, '{"a":' * 100_000, "null"])
def test_a_prompt_without_a_transcript_has_no_entries(prompt: str) -> None:
    assert summarize(prompt) == {"entries": []}
