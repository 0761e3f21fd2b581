"""Labels and namespaces: each user's own, whatever their id looks like."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.accounts.identity import is_user_id
from backend.errors import NotFound
from backend.ids import MAX_USER_ID_CHARS, UserId
from backend.memory.scope import own_namespace, profile_namespace, scope_label, threads_namespace, user_of
from tests.support.user_ids import AWKWARD_IDS


@pytest.mark.parametrize("user_id", AWKWARD_IDS)
def test_the_label_gives_the_user_back(user_id: str) -> None:
    assert user_of(scope_label(UserId(user_id))) == user_id


def test_no_two_users_share_a_label() -> None:
    assert len({scope_label(UserId(user_id)) for user_id in AWKWARD_IDS}) == len(AWKWARD_IDS)


@given(st.text(min_size=1, max_size=MAX_USER_ID_CHARS), st.text(min_size=1, max_size=MAX_USER_ID_CHARS))
def test_labels_are_reversible_and_never_shared(one: str, other: str) -> None:
    if is_user_id(one) and is_user_id(other):
        assert user_of(scope_label(UserId(one))) == one
        assert (scope_label(UserId(one)) == scope_label(UserId(other))) == (one == other)


@pytest.mark.parametrize("user_id", AWKWARD_IDS)
def test_no_label_means_anything_to_the_store_or_to_sql(user_id: str) -> None:
    label = scope_label(UserId(user_id))

    assert label
    assert label != "langgraph"
    assert not set(label) & set("._%*\\'\"\n\t ")


def test_a_plain_id_is_its_own_label() -> None:
    assert scope_label(UserId("user-42")) == "user-42"


def test_the_longest_id_fits_an_index_entry_of_postgresql() -> None:
    for character in ("_", "\N{GRINNING FACE}", "é", "\x01"):
        label = scope_label(UserId(character * MAX_USER_ID_CHARS))
        assert len(label.encode()) < 2_600


@pytest.mark.parametrize("label", ["", "a.b", "a_b", "=5f", "=41", "langgraph", "=", "=5", "a=zz"])
def test_text_that_is_nobodys_label_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match="label"):
        user_of(label)


def test_the_kinds_of_memory_have_namespaces_of_their_own() -> None:
    assert profile_namespace(UserId("u_1")) == ("u=5F1", "memory")
    assert threads_namespace(UserId("u_1")) == ("u=5F1", "threads")


def test_a_client_may_use_what_is_under_its_label() -> None:
    ana = UserId("ana")

    assert own_namespace(ana, ["ana", "notes", "work"]) == ("ana", "notes", "work")
    assert own_namespace(ana, ("ana",)) == ("ana",)


@pytest.mark.parametrize("asked", [None, [], ()])
def test_asking_for_everything_means_everything_of_ones_own(asked: list[str] | None) -> None:
    assert own_namespace(UserId("u_1"), asked) == ("u=5F1",)


@pytest.mark.parametrize("label", ["u10", "u", "U1", "*", "langgraph", "", "u=31"])
def test_anybody_elses_label_leads_nowhere(label: str) -> None:
    with pytest.raises(NotFound):
        own_namespace(UserId("u1"), [label, "memory"])
