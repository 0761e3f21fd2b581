"""What a message says about its writer."""

from typing import Any

import pytest

from backend.llm.offline.saving import asks_to_keep_secret, patches_for


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        pytest.param("My name is Ana.", {"name": "Ana"}, id="name"),
        pytest.param("Hi, I'm Ana.", {"name": "Ana"}, id="greeting"),
        pytest.param("Hello my name is Ana and I live in Oslo", {"name": "Ana", "city": "Oslo"}, id="two at once"),
        pytest.param("You can call me Al", {"name": "Al"}, id="call me"),
        pytest.param("my name is Ana. My name is Bea.", {"name": "Bea"}, id="the last one counts"),
        pytest.param("I live in St. Louis, which is nice", {"city": "St. Louis"}, id="period in a name"),
        pytest.param("I'm from Norway but I moved to Rome last year", {"from": "Norway", "city": "Rome"}, id="moved"),
        pytest.param("I work as a nurse at night", {"job": "nurse at night"}, id="job"),
        pytest.param("I work at Rema", {"employer": "Rema"}, id="employer"),
        pytest.param(
            "I like tea, coffee and cake and I live in Oslo",
            {"likes": "tea, coffee and cake", "city": "Oslo"},
            id="likes",
        ),
        pytest.param("I don't like rain but I love snow", {"dislikes": "rain", "likes": "snow"}, id="dislikes"),
        pytest.param("My favourite colour is dark blue!", {"favourite_colour": "dark blue"}, id="favourite"),
        pytest.param("Remember that my dog's name is Rex", {"dog_name": "Rex"}, id="key is value"),
        pytest.param("please remember that I am allergic to nuts.", {"notes": "I am allergic to nuts"}, id="sentence"),
        pytest.param("Remember that I sing. Also remember that I dance!", {"notes": "I sing; I dance"}, id="sentences"),
        pytest.param("Remember that I live in Oslo", {"city": "Oslo"}, id="remember a statement"),
        pytest.param("remember that мой номер is 7", {"notes": "мой номер is 7"}, id="no key in ASCII"),
        pytest.param("Ich heiße Jörg und ich wohne in Köln", {"name": "Jörg", "city": "Köln"}, id="German"),
        pytest.param("меня зовут Анна", {"name": "Анна"}, id="Russian"),
        pytest.param("我叫小明", {"name": "小明"}, id="Chinese"),
        pytest.param('My name is "Ana"', {"name": "Ana"}, id="one quoted word"),
    ],
)
def test_what_people_say_of_themselves_is_kept(said: str, kept: dict[str, Any]) -> None:
    patches = patches_for(said, {})
    assert {patch["path"].strip("/"): patch["value"] for patch in patches} == kept
    assert {patch["op"] for patch in patches} == {"add"}


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("Do I like tea?", id="question"),
        pytest.param("What if my name is Bob?", id="supposition"),
        pytest.param("He said, my name is Bob", id="reported"),
        pytest.param('She wrote "my name is Bob" on it', id="quotation"),
        pytest.param("> my name is Bob", id="quoted line"),
        pytest.param("```\nmy name is Bob\n```", id="code"),
        pytest.param("My name is not Bob", id="negation"),
        pytest.param("Call me back later", id="call back"),
        pytest.param("I like it here", id="it"),
        pytest.param("I love you", id="you"),
        pytest.param("Do you remember that I live in Oslo?", id="asked back"),
        pytest.param("Don't remember that I live in Oslo", id="not to be kept"),
        pytest.param("remember to buy milk", id="a task"),
        pytest.param("Don't forget my name", id="not to be forgotten"),
        pytest.param("I always forget my keys", id="somebody's keys"),
        pytest.param("My name is Ana who has a very long story to tell", id="too long for a name"),
        pytest.param("", id="empty"),
    ],
)
def test_other_sentences_with_the_same_words_keep_nothing(said: str) -> None:
    assert patches_for(said, {}) == []


@pytest.mark.parametrize(
    ("said", "keys"),
    [
        pytest.param("Forget my city", ["city"], id="key"),
        pytest.param("please forget where I live.", ["city"], id="in other words"),
        pytest.param("forget that I live in Oslo and my name is Ana", ["name", "city"], id="statements"),
        pytest.param("Can you delete my favourite colour?", ["favourite_colour"], id="asked politely"),
        pytest.param("forget my home", ["home"], id="a key of the profile before a synonym"),
    ],
)
def test_forgetting_removes_keys(said: str, keys: list[str]) -> None:
    assert patches_for(said, {"home": "x"}) == [{"op": "remove", "path": f"/{key}"} for key in keys]


@pytest.mark.parametrize(
    ("known", "value"),
    [
        pytest.param("jazz", "jazz, tea", id="text"),
        pytest.param(["jazz"], ["jazz", "tea"], id="list"),
        pytest.param("jazz, tea", "jazz, tea", id="known already"),
        pytest.param(["tea"], ["tea"], id="known already in a list"),
        pytest.param(7, "tea", id="something else"),
        pytest.param(None, "tea", id="nothing"),
    ],
)
def test_likes_are_collected(known: object, value: object) -> None:
    assert patches_for("I like tea", {"likes": known}) == [{"op": "add", "path": "/likes", "value": value}]


def test_secrets_are_not_kept() -> None:
    said = "Remember that my password is hunter2"
    assert asks_to_keep_secret(said)
    assert patches_for(said, {}) == []
    assert not asks_to_keep_secret("remember that my pinboard is red")


@pytest.mark.parametrize(
    "said",
    ["my name is " * 400, "remember that " * 300, "I like , and " * 300, "(" * 4000, "forget " * 600, "a " * 2000],
)
@pytest.mark.timeout(5)
def test_no_text_takes_long(said: str) -> None:
    patches_for(said[:4000], {})
