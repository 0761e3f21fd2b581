"""The profile of a user as stored and shown, over both stores."""

import asyncio
from typing import Any

import pytest

from backend.errors import NotFound, PatchFailed, ProfileTooLarge, StorageUnavailable
from backend.ids import Json, UserId
from backend.memory.profile.service import KEY, UNREADABLE_KEY, Profile
from backend.memory.scope import profile_namespace
from tests.support.conditions import eventually
from tests.support.memory_homes import Home, Process, put_by_hand, warmed
from tests.support.profile_patches import add, remove, replace

pytestmark = pytest.mark.anyio

ANA = UserId("ana")
EMAIL = "ana@example.org"


@pytest.fixture
def profile(process: Process) -> Profile:
    return process.memory_of(ANA).profile


async def sign_in(process: Process, **said: Any) -> None:
    values: dict[str, Any] = {"name": None, "email": None, "avatar": None, "socials": [], **said}
    await process.accounts.keep(ANA, **values)


async def stored(process: Process, key: str = KEY) -> Any:
    item = await process.store.aget(profile_namespace(ANA), key)
    return item.value if item else None


async def test_nothing_saved_and_no_account_is_an_empty_profile(profile: Profile) -> None:
    view = await profile.view()
    assert (view.memory, view.store_keys, view.overlay_keys) == ({}, [], [])


async def test_what_is_saved_is_shown_and_stored_as_it_was(process: Process, profile: Profile) -> None:
    document: dict[str, Json] = {"city": "東京", "tags": ["a", 1, True], "pets": {"dog": "Al"}, "car": None}
    await profile.save([add(key, value) for key, value in document.items()])
    assert (await profile.view()).memory == document
    assert await stored(process) == document


async def test_a_save_tells_what_was_before_and_after_and_what_each_patch_replaced(profile: Profile) -> None:
    await profile.save([add("city", "Oslo"), add("job", "baker")])
    saved = await profile.save([replace("city", "Bergen"), replace("city", "東京"), remove("job"), add("dog", None)])
    assert saved.as_json() == {
        "ok": True,
        "bytes": len('{"city":"東京","dog":null}'.encode()),
        "key_count": 2,
        "before": {"city": "Oslo", "job": "baker"},
        "after": {"city": "東京", "dog": None},
        "patches": [
            {"op": "replace", "path": "/city", "old_value": "Oslo", "value": "Bergen"},
            {"op": "replace", "path": "/city", "old_value": "Bergen", "value": "東京"},
            {"op": "remove", "path": "/job", "old_value": "baker"},
            {"op": "add", "path": "/dog", "value": None},
        ],
    }


async def test_one_patch_that_fails_changes_nothing(process: Process, profile: Profile) -> None:
    await profile.save([add("city", "Oslo")])
    with pytest.raises(PatchFailed, match="town"):
        await profile.save([replace("city", "Bergen"), add("job", "baker"), replace("town", "Bergen")])
    assert await stored(process) == {"city": "Oslo"}
    assert (await profile.view()).memory == {"city": "Oslo"}


class TestAccount:
    async def test_it_fills_what_was_not_saved(self, process: Process, profile: Profile) -> None:
        await sign_in(process, name="Ana", email=EMAIL, socials=["github"])
        await profile.save([add("name", "Anita"), add("city", "Oslo")])
        view = await profile.view()
        assert view.memory == {"name": "Anita", "email": EMAIL, "socials": ["github"], "city": "Oslo"}
        assert sorted(view.store_keys) == ["city", "name"]
        assert view.overlay_keys == ["email", "socials"]

    async def test_it_is_never_copied_into_the_store(self, process: Process, profile: Profile) -> None:
        await sign_in(process, name="Ana", email=EMAIL)
        saved = await profile.save([add("city", "Oslo")])
        assert await stored(process) == {"city": "Oslo"}
        assert (saved.key_count, saved.bytes) == (1, len('{"city":"Oslo"}'))
        assert saved.before == {"name": "Ana", "email": EMAIL}

    async def test_a_saved_value_may_replace_it_and_shows_it_again_when_removed(
        self, process: Process, profile: Profile
    ) -> None:
        await sign_in(process, email=EMAIL)
        saved = await profile.save([replace("email", "other@example.org")])
        assert saved.as_json()["patches"] == [
            {"op": "replace", "path": "/email", "old_value": EMAIL, "value": "other@example.org"}
        ]
        assert (await profile.view()).memory == {"email": "other@example.org"}
        await profile.save([remove("email")])
        assert (await profile.view()).memory == {"email": EMAIL}
        await profile.save([add("email", "other@example.org")])
        await profile.remove("email")
        assert (await profile.view()).memory == {"email": EMAIL}

    async def test_what_only_it_says_can_be_removed_by_nobody_here(self, process: Process, profile: Profile) -> None:
        await sign_in(process, email=EMAIL)
        with pytest.raises(PatchFailed, match="account"):
            await profile.save([remove("email")])
        with pytest.raises(NotFound):
            await profile.remove("email")


class TestSize:
    async def test_a_profile_over_the_limit_is_refused_with_both_sizes(self, home: Home) -> None:
        async with home.process(memory_profile_max_bytes=256) as process:
            profile = process.memory_of(ANA).profile
            await profile.save([add("city", "Oslo")])
            with pytest.raises(ProfileTooLarge) as refused:
                await profile.save([add("note", "東" * 80)])
            document = '{"city":"Oslo","note":"' + "東" * 80 + '"}'
            assert refused.value.attempted_bytes == len(document.encode())
            assert refused.value.maximum_bytes == 256
            assert await stored(process) == {"city": "Oslo"}

    async def test_what_was_stored_under_a_larger_limit_can_still_be_made_smaller(self, home: Home) -> None:
        async with home.process() as roomy:
            await roomy.memory_of(ANA).profile.save([add("note", "x" * 600), add("more", "x" * 600)])
        async with home.process(memory_profile_max_bytes=256) as process:
            profile = process.memory_of(ANA).profile
            with pytest.raises(ProfileTooLarge):
                await profile.save([add("city", "Oslo")])
            assert (await profile.save([replace("note", "x" * 500)])).key_count == 2
            assert (await profile.save([remove("more"), add("city", "Oslo")])).key_count == 2


NO_OBJECTS = [
    pytest.param(["a", "b"], id="list"),
    pytest.param([], id="empty list"),
    pytest.param("text", id="text"),
    pytest.param(7, id="number"),
]


class TestUnreadable:
    """A document that is no object, as another program may have left it (CASES 16)."""

    @pytest.mark.parametrize("document", NO_OBJECTS)
    async def test_it_reads_as_empty(self, process: Process, profile: Profile, document: object) -> None:
        await sign_in(process, email=EMAIL)
        await put_by_hand(process.store, profile_namespace(ANA), KEY, document)
        view = await profile.view()
        assert (view.memory, view.store_keys) == ({"email": EMAIL}, [])

    @pytest.mark.parametrize("document", NO_OBJECTS)
    async def test_a_save_sets_it_aside(self, process: Process, profile: Profile, document: object) -> None:
        await put_by_hand(process.store, profile_namespace(ANA), KEY, document)
        await profile.save([add("city", "Oslo")])
        assert await stored(process) == {"city": "Oslo"}
        assert await stored(process, UNREADABLE_KEY) == {"document": document}

    async def test_erasing_removes_it_and_what_was_set_aside(self, process: Process, profile: Profile) -> None:
        await put_by_hand(process.store, profile_namespace(ANA), KEY, ["a"])
        await profile.save([add("city", "Oslo")])
        await put_by_hand(process.store, profile_namespace(ANA), KEY, ["b"])
        await profile.erase()
        assert await process.store.asearch(profile_namespace(ANA)) == []


async def test_removing_one_key_leaves_the_others(profile: Profile) -> None:
    await profile.save([add("city", "Oslo"), add("job", "baker")])
    await profile.remove("city")
    assert (await profile.view()).memory == {"job": "baker"}
    with pytest.raises(NotFound):
        await profile.remove("city")


async def test_erasing_counts_the_keys_and_may_be_repeated(process: Process, profile: Profile) -> None:
    await profile.save([add("city", "Oslo"), add("job", "baker")])
    assert await profile.erase() == 2
    assert await profile.erase() == 0
    assert (await profile.view()).memory == {}
    assert await stored(process) is None


class TestTogether:
    async def test_saves_at_once_in_one_process_all_survive(self, process: Process, profile: Profile) -> None:
        await asyncio.gather(*(profile.save([add(f"k{number}", number)]) for number in range(12)))
        assert await stored(process) == {f"k{number}": number for number in range(12)}

    async def test_saves_at_once_from_two_processes_all_survive(self, home: Home) -> None:
        async with home.process() as one, home.process() as other:
            profiles = (one.memory_of(ANA).profile, other.memory_of(ANA).profile)
            await asyncio.gather(*(profiles[number % 2].save([add(f"k{number}", number)]) for number in range(20)))
            assert await stored(one) == {f"k{number}": number for number in range(20)}

    async def test_a_save_and_a_removal_at_once_both_count(self, home: Home) -> None:
        async with home.process() as one, home.process() as other:
            await one.memory_of(ANA).profile.save([add("city", "Oslo"), add("job", "baker")])
            await asyncio.gather(
                one.memory_of(ANA).profile.save([add("dog", "Al")]), other.memory_of(ANA).profile.remove("city")
            )
            assert await stored(one) == {"job": "baker", "dog": "Al"}

    async def test_what_one_process_saves_is_soon_seen_in_another(self, home: Home) -> None:
        async with home.process() as one, home.process() as other:
            reader = other.memory_of(ANA).profile
            assert (await reader.view()).memory == {}

            async def sees(document: dict[str, Json]) -> bool:
                return (await reader.view()).memory == document

            await one.memory_of(ANA).profile.save([add("city", "Oslo")])
            await eventually(lambda: sees({"city": "Oslo"}))
            await one.memory_of(ANA).profile.remove("city")
            await eventually(lambda: sees({}))


class TestCache:
    async def test_a_second_read_asks_the_database_nothing(self, process: Process, profile: Profile) -> None:
        await profile.save([add("city", "Oslo")])
        await warmed(profile.view, process.watch)
        process.watch.error = StorageUnavailable()
        assert (await profile.view()).memory == {"city": "Oslo"}

    async def test_a_write_is_seen_at_once_where_it_was_made(self, profile: Profile) -> None:
        await profile.view()
        await profile.save([add("city", "Oslo")])
        assert (await profile.view()).memory == {"city": "Oslo"}
        await profile.erase()
        assert (await profile.view()).memory == {}

    async def test_a_failed_read_is_told_and_not_kept(self, process: Process, profile: Profile) -> None:
        await profile.save([add("city", "Oslo")])
        process.watch.error = StorageUnavailable()
        with pytest.raises(StorageUnavailable):
            await profile.view()
        process.watch.error = None
        assert (await profile.view()).memory == {"city": "Oslo"}

    async def test_a_save_that_storage_refuses_changes_nothing(self, process: Process, profile: Profile) -> None:
        await profile.save([add("city", "Oslo")])
        process.watch.error = StorageUnavailable()
        with pytest.raises(StorageUnavailable):
            await profile.save([add("city", "Bergen")])
        process.watch.error = None
        assert (await profile.view()).memory == {"city": "Oslo"}
