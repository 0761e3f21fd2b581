import pytest

from backend.llm.json_answer import json_object_in

ANSWER = '{"route": "a", "why": "{x} </think> ```"}'
VALUE = {"route": "a", "why": "{x} </think> ```"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(ANSWER, id="alone"),
        pytest.param(f"\n {ANSWER} \n", id="in white space"),
        pytest.param('```json\n{"route": "a"}\n```', id="fenced"),
        pytest.param('Here you are:\n\n```json\n{"route": "a"}\n```\n', id="fenced after text"),
        pytest.param('Here you are: {"route": "a"}', id="after text"),
        pytest.param('I fill {route} and {why}: {"route": "a"}', id="after text with braces"),
        pytest.param('<think>{"route": "b"} or {so}</think>\n{"route": "a"}', id="after thoughts"),
        pytest.param('{"route": "b"}? no.</think>```\n{"route": "a"}```', id="after thoughts without a beginning"),
    ],
)
def test_the_object_at_the_end_is_found(text: str) -> None:
    assert json_object_in(text) in ({"route": "a"}, VALUE)


def test_an_answer_that_is_json_is_taken_as_it_is() -> None:
    assert json_object_in(ANSWER) == VALUE
    assert json_object_in("{}") == {}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("I cannot do that.", id="prose"),
        pytest.param('{"route": "a"} is my choice', id="text behind"),
        pytest.param('{"route": "a"}\n{"route": "b"}', id="two objects"),
        pytest.param('{"entries": [{"route": "a"}', id="cut off behind an inner object"),
        pytest.param('{"entries": {"route": "a"}, "note": "unfin', id="cut off in a text"),
        pytest.param('{"entries": {"route": "a"}, ', id="cut off behind a comma"),
        pytest.param('["route"]', id="list"),
        pytest.param('"route"', id="text"),
        pytest.param('{"size": NaN}', id="not a number"),
        pytest.param('<think>{"route": "a"}', id="unfinished thoughts"),
        pytest.param('<think>I would say {"route": "a"}</think>', id="only thoughts"),
        pytest.param('{"a":' * 100_000, id="nested without end"),
        pytest.param("{" * 100_000, id="braces"),
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert json_object_in(text) is None
