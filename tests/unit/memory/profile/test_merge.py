"""The merged view, what of it is written back, and its size."""

from typing import Any

import pytest

from backend.errors import ProfileTooLarge
from backend.memory.profile.merge import check_size, filled_keys, merge, size_bytes, store_only
from backend.memory.profile.patch import ProfilePatch, apply_patches
from backend.memory.profile.record import AppliedPatch, Document, SavedProfile, read_stored

ACCOUNT: dict[str, Any] = {
    "socials": [{"provider": "github"}],
    "avatar": "https://x/a.png",
    "email": "ana@example.org",
    "name": "Ana",
}


def patch(op: str, path: str, value: object = None) -> ProfilePatch:
    return ProfilePatch.model_validate({"op": op, "path": path, "value": value})


@pytest.mark.parametrize(
    ("stored", "overlay", "merged"),
    [
        pytest.param({}, {}, {}, id="nothing"),
        pytest.param({"city": "Oslo"}, {}, {"city": "Oslo"}, id="stored only"),
        pytest.param({"name": "Anita"}, {"name": "Ana"}, {"name": "Anita"}, id="stored wins"),
        pytest.param({"name": None}, {"name": "Ana"}, {"name": None}, id="a stored null wins"),
        pytest.param({}, {"name": None, "email": "", "avatar": "  ", "socials": []}, {}, id="blanks fill nothing"),
        pytest.param({}, {"name": "Ana", "phone": "1", "id": 7}, {"name": "Ana"}, id="other account keys stay out"),
    ],
)
def test_the_account_fills_the_gaps_of_what_is_stored(stored: Document, overlay: Document, merged: Document) -> None:
    assert merge(stored, overlay) == merged


def test_the_view_starts_with_the_account_s_keys_in_their_order() -> None:
    stored = {"zoo": 1, "email": "b@example.org", "art": 2}
    assert list(merge(stored, ACCOUNT)) == ["name", "email", "avatar", "socials", "zoo", "art"]
    assert filled_keys(stored, ACCOUNT) == ["name", "avatar", "socials"]


def test_only_stored_and_touched_keys_are_written_back() -> None:
    stored = {"city": "Oslo", "pet": "cat"}
    view = merge(stored, ACCOUNT)
    after, applied = apply_patches(
        view, [patch("replace", "/email", "new@example.org"), patch("remove", "/pet"), patch("add", "/job", "cook")]
    )
    assert store_only(after, stored, applied) == {"city": "Oslo", "email": "new@example.org", "job": "cook"}


def test_a_save_does_not_copy_the_account_into_the_store() -> None:
    after, applied = apply_patches(merge({}, ACCOUNT), [patch("add", "/city", "Oslo")])
    assert store_only(after, {}, applied) == {"city": "Oslo"}


@pytest.mark.parametrize(
    ("document", "size"),
    [
        pytest.param({}, 2, id="empty"),
        pytest.param({"a": 1}, 7, id="compact"),
        pytest.param({"c": "東京"}, 14, id="three bytes a character"),
        pytest.param({"c": "é"}, 10, id="two bytes a character"),
        pytest.param({"c": "<&>"}, 11, id="unescaped"),
    ],
)
def test_the_size_is_utf8_bytes_of_compact_json(document: Document, size: int) -> None:
    assert size_bytes(document) == size


@pytest.mark.parametrize(
    ("before", "after", "passes"),
    [
        pytest.param(0, 92, True, id="just fits"),
        pytest.param(0, 93, False, id="one byte too many"),
        pytest.param(500, 400, True, id="shrinks what was too large"),
        pytest.param(500, 500, False, id="as large as before"),
        pytest.param(500, 501, False, id="grows what was too large"),
        pytest.param(500, 10, True, id="shrinks below"),
    ],
)
def test_a_document_over_the_limit_must_shrink(before: int, after: int, passes: bool) -> None:
    stored, document = {"x": "a" * before}, {"x": "a" * after}
    if passes:
        assert check_size(document, stored=stored, maximum_bytes=100) == after + 8
        return
    with pytest.raises(ProfileTooLarge) as caught:
        check_size(document, stored=stored, maximum_bytes=100)
    assert (caught.value.attempted_bytes, caught.value.maximum_bytes) == (after + 8, 100)
    assert f"{after + 8} bytes" in caught.value.message
    assert caught.value.code == "PROFILE_TOO_LARGE"


def test_the_account_does_not_count_towards_the_size() -> None:
    stored = {"city": "Oslo"}
    large = {"name": "A" * 500}
    after, applied = apply_patches(merge(stored, large), [patch("add", "/pet", "cat")])
    assert check_size(store_only(after, stored, applied), stored=stored, maximum_bytes=100) == 27


def test_the_answer_to_a_save_holds_before_after_and_the_patches() -> None:
    saved = SavedProfile(
        bytes=16,
        key_count=1,
        before={"city": "Oslo"},
        after={"city": "Bergen"},
        patches=[AppliedPatch("replace", "/city", "Bergen", "Oslo", existed=True)],
    )
    assert saved.as_json() == {
        "ok": True,
        "bytes": 16,
        "key_count": 1,
        "before": {"city": "Oslo"},
        "after": {"city": "Bergen"},
        "patches": [{"op": "replace", "path": "/city", "old_value": "Oslo", "value": "Bergen"}],
    }


@pytest.mark.parametrize(
    ("stored", "document", "readable"),
    [
        pytest.param(None, {}, True, id="nothing stored"),
        pytest.param({"city": "Oslo"}, {"city": "Oslo"}, True, id="object"),
        pytest.param([], {}, False, id="list"),
        pytest.param("x", {}, False, id="text"),
    ],
)
def test_a_stored_document_that_is_no_object_reads_as_empty_and_is_noticed(
    stored: object, document: Document, readable: bool
) -> None:
    profile = read_stored(stored)
    assert (profile.document, profile.readable) == (document, readable)
