"""What a fact may be made from (S0, S4)."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from backend.ids import MemoryId
from backend.memory.facts.record import Fact, FactChanges, FactDraft


def draft(**named: Any) -> FactDraft:
    return FactDraft.model_validate({"content": "Likes coffee", **named})


@pytest.mark.parametrize(
    "named",
    [
        pytest.param({"content": "x" * 2_000}, id="content of 2,000 characters"),
        pytest.param({"content": " " + "東" * 2_000 + "\n"}, id="spaces around it do not count"),
        pytest.param({"key": "k" * 128}, id="key of 128 characters"),
        pytest.param({"key": None}, id="no key"),
        pytest.param({"categories": ["a", "b", "c" * 60]}, id="three categories, to 60 characters"),
        pytest.param({"categories": []}, id="no category"),
        pytest.param({"importance": 0}, id="least importance"),
        pytest.param({"importance": 1}, id="greatest importance"),
    ],
)
def test_up_to_its_limits_a_fact_is_taken(named: dict[str, Any]) -> None:
    draft(**named)


@pytest.mark.parametrize(
    "named",
    [
        pytest.param({"content": "x" * 2_001}, id="content too long"),
        pytest.param({"content": ""}, id="no content"),
        pytest.param({"content": " \n\0 "}, id="blank content"),
        pytest.param({"content": 7}, id="content is no text"),
        pytest.param({"key": "k" * 129}, id="key too long"),
        pytest.param({"key": " "}, id="blank key"),
        pytest.param({"categories": ["a", "b", "c", "d"]}, id="four categories"),
        pytest.param({"categories": ["c" * 61]}, id="category too long"),
        pytest.param({"categories": ["home/city"]}, id="category with a slash"),
        pytest.param({"categories": [""]}, id="blank category"),
        pytest.param({"importance": -0.1}, id="importance below 0"),
        pytest.param({"importance": 1.1}, id="importance above 1"),
        pytest.param({"importance": float("nan")}, id="importance is no number"),
        pytest.param({"user_id": "ben"}, id="unknown field"),
    ],
)
def test_beyond_its_limits_a_fact_is_refused(named: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        draft(**named)
    if "user_id" not in named:
        with pytest.raises(ValidationError):
            FactChanges.model_validate(named)


def test_what_no_connection_can_carry_is_taken_out() -> None:
    made = draft(content="a\0b \ud83d", key="k\0ey \udc00", categories=["c\0at \ud83d"])
    assert (made.content, made.key, made.categories) == ("ab \ufffd", "key \ufffd", ("cat \ufffd",))


@given(st.text(st.characters(categories=None), min_size=1, max_size=300))
def test_whatever_is_taken_can_be_encoded_and_stored(text: str) -> None:
    try:
        made = draft(content=text, key=text[:128])
    except ValidationError:
        return
    assert "\0" not in made.content.encode().decode()
    assert made.key is not None
    assert "\0" not in made.key.encode().decode()


def test_keys_and_categories_have_one_spelling() -> None:
    composed, decomposed = "café", "cafe\u0301"
    one, other = draft(key=f" {composed}\n bar", categories=[composed]), draft(key=f"{decomposed} bar ")
    assert one.key == other.key == "café bar"
    assert draft(categories=[composed, "CAFE\u0301", "tea"]).categories == (composed, "tea")


def test_a_fact_is_json_for_clients() -> None:
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    fact = Fact(
        id=MemoryId("an-id"),
        content="Likes coffee",
        categories=("taste",),
        key="drink",
        importance=0.5,
        version=2,
        said_by="user",
        thread_id=None,
        created_at=at,
        updated_at=at,
    )
    assert fact.as_json() == {
        "id": "an-id",
        "content": "Likes coffee",
        "categories": ["taste"],
        "key": "drink",
        "importance": 0.5,
        "version": 2,
        "said_by": "user",
        "thread_id": None,
        "created_at": "2026-03-01T12:00:00+00:00",
        "updated_at": "2026-03-01T12:00:00+00:00",
    }
