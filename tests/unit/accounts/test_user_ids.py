"""What names a user, and what does not."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.accounts.identity import Identity, is_user_id, parse_user_id
from backend.ids import MAX_USER_ID_CHARS, UserId

COMPOSED = unicodedata.normalize("NFC", "José")
DECOMPOSED = unicodedata.normalize("NFD", "José")


@pytest.mark.parametrize(
    ("value", "user_id"),
    [
        pytest.param("ana.lopez@example.org", "ana.lopez@example.org", id="e-mail"),
        pytest.param(42, "42", id="integer"),
        pytest.param(0, "0", id="zero"),
        pytest.param(-7, "-7", id="negative integer"),
        pytest.param("langgraph", "langgraph", id="reserved word of the store"),
        pytest.param("an\0a", "ana", id="NUL"),
        pytest.param("an\ud800a", "an\N{REPLACEMENT CHARACTER}a", id="lone surrogate"),
        pytest.param("\ud83d\ude00", "\N{GRINNING FACE}", id="split surrogate pair"),
        pytest.param(" ana\n", "ana", id="white space around"),
        pytest.param("an a", "an a", id="white space inside"),
        pytest.param("ANA", "ANA", id="upper case"),
        pytest.param(COMPOSED, COMPOSED, id="composed"),
        pytest.param(DECOMPOSED, DECOMPOSED, id="decomposed"),
        pytest.param("x" * MAX_USER_ID_CHARS, "x" * MAX_USER_ID_CHARS, id="as long as allowed"),
    ],
)
def test_a_value_that_names_somebody(value: object, user_id: str) -> None:
    assert parse_user_id(value) == user_id


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("", id="empty"),
        pytest.param(" \t\n", id="blank"),
        pytest.param("\0", id="only NUL"),
        pytest.param(None, id="nothing"),
        pytest.param(True, id="true"),
        pytest.param(False, id="false"),
        pytest.param(1.5, id="fraction"),
        pytest.param(["ana"], id="list"),
        pytest.param({"id": "ana"}, id="object"),
        pytest.param("x" * (MAX_USER_ID_CHARS + 1), id="too long"),
        pytest.param(10**300, id="a very long integer"),
        pytest.param(10**5000, id="an integer that Python does not write out"),
    ],
)
def test_a_value_that_names_nobody(value: object) -> None:
    assert parse_user_id(value) is None


def test_composed_and_decomposed_spellings_are_two_users() -> None:
    assert parse_user_id(COMPOSED) != parse_user_id(DECOMPOSED)


@given(st.text(alphabet=st.characters(codec=None), max_size=300))
def test_parsing_twice_changes_nothing_more(text: str) -> None:
    user_id = parse_user_id(text)

    assert user_id is None or (parse_user_id(user_id) == user_id and is_user_id(user_id))


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_two_ids_that_need_no_cleaning_stay_two_users(one: str, other: str) -> None:
    if is_user_id(one) and is_user_id(other) and one != other:
        assert parse_user_id(one) != parse_user_id(other)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("ana\0", id="NUL"),
        pytest.param(" ana", id="white space before"),
        pytest.param("ana\n", id="white space after"),
        pytest.param("ana\ud800", id="lone surrogate"),
        pytest.param("", id="empty"),
        pytest.param(42, id="integer"),
    ],
)
def test_an_id_that_would_have_to_be_cleaned_is_not_one_to_sign_in_with(value: object) -> None:
    assert not is_user_id(value)


def test_a_service_is_never_an_admin() -> None:
    assert Identity(UserId("ana"), permissions=frozenset({"admin"})).is_admin
    assert not Identity(UserId("ana"), permissions=frozenset({"admin", "service"})).is_admin
