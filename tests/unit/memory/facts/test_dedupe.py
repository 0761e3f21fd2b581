"""When two facts say the same."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.ids import MemoryId
from backend.memory.facts.dedupe import content_hash, folded, same_key, same_text
from backend.memory.facts.record import Fact

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def fact(name: str, content: str, key: str | None = None) -> Fact:
    return Fact(
        id=MemoryId(name), content=content, categories=(), key=key, importance=0.5, version=1, said_by="user",
        thread_id=None, created_at=NOW, updated_at=NOW,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Likes Coffee", "likes coffee", id="case"),
        pytest.param("likes  coffee\n", " likes\tcoffee", id="spaces"),
        pytest.param("likes\u00a0coffee", "likes\u3000coffee", id="other spaces"),
        pytest.param("café", "cafe\u0301", id="composed and decomposed"),
        pytest.param("ＡＢＣ １２", "abc 12", id="full width"),
        pytest.param("Straße", "STRASSE", id="sharp s"),
        pytest.param("ﬁne", "fine", id="ligature"),
        pytest.param("Άλφα", "ΆΛΦΑ", id="greek"),
        pytest.param("ｶﾞ", "ガ", id="half-width katakana"),
    ],
)
def test_spelling_makes_no_difference(one: str, other: str) -> None:
    assert folded(one) == folded(other)
    assert content_hash(one) == content_hash(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("likes coffee", "no longer likes coffee", id="negation"),
        pytest.param("likes coffee", "likes coffee.", id="punctuation"),
        pytest.param("writes C", "writes C++", id="signs"),
        pytest.param("résumé", "resume", id="accents"),
        pytest.param("born 1984", "born 1985", id="digits"),
        pytest.param("", "a", id="nothing"),
    ],
)
def test_words_make_a_difference(one: str, other: str) -> None:
    assert folded(one) != folded(other)
    assert content_hash(one) != content_hash(other)


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert folded(folded(text)) == folded(text)


def test_a_surrogate_can_be_hashed() -> None:
    assert len(content_hash("\ud83d")) == 32


def test_the_same_is_found_among_others_but_for_the_one_that_is_named() -> None:
    facts = [fact("1", "Likes tea"), fact("2", "Likes coffee", "drink"), fact("3", "Lives in Oslo")]
    assert same_text(facts, "likes COFFEE") is facts[1]
    assert same_text(facts, "likes coffee", but=MemoryId("2")) is None
    assert same_text(facts, "likes beer") is None
    assert same_key(facts, "drink") is facts[1]
    assert same_key(facts, "drink", but=MemoryId("2")) is None
    assert same_key(facts, "Drink") is None
    assert same_key(facts, None) is None
