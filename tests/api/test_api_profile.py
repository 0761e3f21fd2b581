"""GET /api/memory/profile and DELETE /api/memory/profile/{key}."""

import pytest

from backend.ids import UserId
from tests.support.http_api import Api

pytestmark = pytest.mark.anyio

ANA = UserId("ana")


async def sign_in(api: Api, *, name: str | None = None, email: str | None = None) -> None:
    await api.process.accounts.keep(ANA, name=name, email=email, avatar=None, socials=["github"])


async def test_a_user_of_whom_nothing_is_known_has_an_empty_profile(api: Api) -> None:
    async with api.client("ana") as ana:
        response = await ana.get("/api/memory/profile")

    assert response.status_code == 200
    assert response.json() == {"memory": {}, "store_keys": [], "overlay_keys": [], "summaries": []}


async def test_the_profile_is_merged_and_says_which_keys_come_from_where(api: Api) -> None:
    await sign_in(api, name="Ana of the account", email="ana@example.org")
    await api.remember("ana", passes=0, city="東京", name="Ana", pets=["Al", None])

    async with api.client("ana") as ana:
        profile = (await ana.get("/api/memory/profile")).json()

    assert profile["memory"] == {
        "name": "Ana",
        "email": "ana@example.org",
        "socials": ["github"],
        "city": "東京",
        "pets": ["Al", None],
    }
    assert sorted(profile["store_keys"]) == ["city", "name", "pets"]
    assert profile["overlay_keys"] == ["email", "socials"]


async def test_the_summaries_of_all_threads_come_flat_and_with_titles(api: Api) -> None:
    oslo, rome = await api.remember("ana", passes=2), await api.remember("ana", passes=1)
    api.server.metadata[oslo]["title"] = "Oslo"
    del api.server.metadata[rome]["title"]

    async with api.client("ana") as ana:
        summaries = (await ana.get("/api/memory/profile")).json()["summaries"]

    shown = {(row["thread_id"], row["sequence"], row["title"]) for row in summaries}
    assert shown == {(oslo, 1, "Oslo"), (oslo, 2, "Oslo"), (rome, 1, None)}
    first = next(row for row in summaries if row["sequence"] == 1 and row["title"])
    assert {name: first[name] for name in ("start_message_index", "end_message_index", "message_count")} == {
        "start_message_index": 0,
        "end_message_index": 1,
        "message_count": 2,
    }
    assert first["message_ids"] == ["ana/0", "ana/1"]
    assert first["summary"]["entries"][0]["refs"] == ["#1", "#2"]
    assert first["created_at"] == "2026-03-01T12:00:00Z"


async def test_without_the_server_the_profile_is_shown_without_titles(api: Api) -> None:
    await api.remember("ana", city="Oslo")
    api.server.down = True

    async with api.client("ana") as ana:
        response = await ana.get("/api/memory/profile")

    assert response.status_code == 200
    assert [row["title"] for row in response.json()["summaries"]] == [None, None]


async def test_a_saved_key_is_removed_and_the_page_sees_it_at_once(api: Api) -> None:
    await api.remember("ana", passes=0, city="Oslo", pet="Al")

    async with api.client("ana") as ana:
        await ana.get("/api/memory/profile")
        removed = await ana.delete("/api/memory/profile/city")
        profile = (await ana.get("/api/memory/profile")).json()

    assert (removed.status_code, removed.content) == (204, b"")
    assert profile["memory"] == {"pet": "Al"}


async def test_what_the_account_says_shows_again_where_a_saved_key_was_removed(api: Api) -> None:
    await sign_in(api, name="Ana of the account")
    await api.remember("ana", passes=0, name="Ana")

    async with api.client("ana") as ana:
        await ana.delete("/api/memory/profile/name")
        profile = (await ana.get("/api/memory/profile")).json()

    assert profile["memory"]["name"] == "Ana of the account"
    assert profile["store_keys"] == []


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("town", id="never saved"),
        pytest.param("name", id="from the account only"),
        pytest.param("%00", id="NUL"),
        pytest.param("%ED%A0%80", id="lone surrogate"),
        pytest.param("x" * 10_000, id="endless"),
        pytest.param("__class__", id="word of python"),
        pytest.param("a%2Fb", id="slash"),
        pytest.param("%25", id="percent"),
    ],
)
async def test_a_key_that_is_not_saved_is_not_found(key: str, api: Api) -> None:
    await sign_in(api, name="Ana")
    await api.remember("ana", passes=0, city="Oslo")

    async with api.client("ana") as ana:
        response = await ana.delete(f"/api/memory/profile/{key}")
        profile = (await ana.get("/api/memory/profile")).json()

    assert response.status_code == 404
    assert response.json()["error"]["kind"] == "not_found"
    assert profile["memory"] == {"name": "Ana", "socials": ["github"], "city": "Oslo"}
