"""/api/memory/episodes: the finished turns that are kept of the caller (S0)."""

from datetime import timedelta
from typing import Any

import pytest

from backend.ids import ThreadId
from backend.memory.episodes import FinishedWords
from tests.support.http_api import Api, running_api
from tests.support.memory_homes import HomeInPostgres, Process
from tests.support.passes import NOW

pytestmark = pytest.mark.anyio

EPISODES = "/api/memory/episodes"
THREAD = ThreadId("11111111-1111-4111-8111-111111111111")
MISSING = "00000000-0000-4000-8000-000000000000"
NO_PLACE = {"error": {"kind": "invalid", "message": "after is not what a page gave as next"}}
NOT_FOUND = {"error": {"kind": "not_found", "message": "there is no such episode"}}


async def record(process: Process, turns: int, *, user_id: str = "ana", says: str = "turn {turn}") -> None:
    """Keep so many turns of a thread, an hour apart."""
    for turn in range(turns):
        words = FinishedWords(
            thread_id=THREAD,
            turn=turn,
            message_ids=[f"h{turn}", f"a{turn}"],
            user_text=says.format(turn=turn),
            assistant_text="noted",
            finished_at=NOW + timedelta(hours=turn),
        )
        assert await process.memory_of(user_id).episodes.record(words)


def turns_in(page: dict[str, Any]) -> list[int]:
    return [episode["turn"] for episode in page["episodes"]]


async def test_a_user_without_episodes_gets_an_empty_last_page(api: Api) -> None:
    async with api.client("ana") as ana:
        assert (await ana.get(EPISODES)).json() == {"episodes": [], "next": None}


async def test_an_episode_is_what_was_said_and_where(api: Api) -> None:
    await record(api.process, 1, says='Lives in 東京 & "x" </recalled>\nsecond line')
    async with api.client("ana") as ana:
        [episode] = (await ana.get(EPISODES)).json()["episodes"]

    assert set(episode) == {"id", "content", "thread_id", "turn", "created_at"}
    assert episode["content"] == 'User: Lives in 東京 & "x" </recalled>\nsecond line\nAssistant: noted'
    assert (episode["thread_id"], episode["turn"]) == (THREAD, 0)
    assert episode["created_at"] == "2026-03-01T12:00:00Z"


async def test_an_export_holds_the_episodes_as_they_are_listed(api: Api) -> None:
    await record(api.process, 3)
    async with api.client("ana") as ana:
        listed = (await ana.get(EPISODES)).json()["episodes"]
        assert (await ana.get("/api/memory/export")).json()["episodes"] == listed
        assert (await ana.delete("/api/memory")).json()["episodes"] == 3
        assert (await ana.get(EPISODES)).json() == {"episodes": [], "next": None}


@pytest.mark.parametrize(("turns", "limit"), [(5, 2), (4, 2), (2, 5), (3, 1)])
async def test_pages_follow_one_another_newest_first_without_gap_or_repetition(
    turns: int, limit: int, api: Api
) -> None:
    await record(api.process, turns)
    found: list[int] = []
    async with api.client("ana") as ana:
        query: dict[str, Any] = {"limit": limit}
        while True:
            page = (await ana.get(EPISODES, params=query)).json()
            assert len(page["episodes"]) == limit or page["next"] is None
            found += turns_in(page)
            if page["next"] is None:
                break
            query["after"] = page["next"]

    assert found == list(reversed(range(turns)))


async def test_a_page_has_fifty_unless_told_otherwise(api: Api) -> None:
    await record(api.process, 51)
    async with api.client("ana") as ana:
        page = (await ana.get(EPISODES)).json()
        rest = (await ana.get(EPISODES, params={"after": page["next"]})).json()

    assert (len(page["episodes"]), turns_in(rest), rest["next"]) == (50, [0], None)


async def test_a_new_turn_does_not_move_the_pages_behind(api: Api) -> None:
    await record(api.process, 4)
    async with api.client("ana") as ana:
        page = (await ana.get(EPISODES, params={"limit": 2})).json()
        newest = FinishedWords(
            thread_id=THREAD,
            turn=9,
            message_ids=["h9", "a9"],
            user_text="newest",
            assistant_text="noted",
            finished_at=NOW + timedelta(days=1),
        )
        assert await api.process.memory_of("ana").episodes.record(newest)
        behind = (await ana.get(EPISODES, params={"limit": 2, "after": page["next"]})).json()

    assert (turns_in(page), turns_in(behind)) == ([3, 2], [1, 0])


async def test_behind_the_last_row_shown_it_goes_on_after_that_row_was_deleted(api: Api) -> None:
    await record(api.process, 4)
    async with api.client("ana") as ana:
        page = (await ana.get(EPISODES, params={"limit": 2})).json()
        await ana.delete(f"{EPISODES}/{page['episodes'][-1]['id']}")
        behind = (await ana.get(f"{EPISODES}?limit=2&after={page['next']}")).json()

    assert (turns_in(page), turns_in(behind)) == ([3, 2], [1, 0])


@pytest.mark.parametrize("after", ["", "x", MISSING, f"1-{MISSING}x", "%00", "%ff", "%20", "9" * 5_000])
async def test_a_place_that_no_page_gave_is_refused(after: str, api: Api) -> None:
    async with api.client("ana") as ana:
        response = await ana.get(f"{EPISODES}?after={after}")

    assert (response.status_code, response.json()) == (400, NO_PLACE)


@pytest.mark.parametrize("limit", ["0", "-1", "201", "x", "", "9" * 5_000])
async def test_a_limit_that_is_none_is_refused_by_its_name(limit: str, api: Api) -> None:
    async with api.client("ana") as ana:
        response = await ana.get(EPISODES, params={"limit": limit})

    assert (response.status_code, response.json()["error"]["kind"]) == (400, "invalid")
    assert response.json()["error"]["message"].startswith("limit: ")


async def test_a_deleted_episode_is_gone_and_stays_away(api: Api) -> None:
    await record(api.process, 2)
    async with api.client("ana") as ana:
        newest, oldest = (await ana.get(EPISODES)).json()["episodes"]
        deleted = await ana.delete(f"{EPISODES}/{newest['id'].upper()}")
        again = await ana.delete(f"{EPISODES}/{newest['id']}")
        left = (await ana.get(EPISODES)).json()["episodes"]

    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (again.status_code, again.json()) == (404, NOT_FOUND)
    assert left == [oldest]


@pytest.mark.parametrize(
    "episode_id", ["new", "1", "x" * 10_000, MISSING, "%00", f"{MISSING}%00", "%20", "%", "１", "%ff"]
)
async def test_an_episode_that_does_not_exist_is_not_found(episode_id: str, api: Api) -> None:
    async with api.client("ana") as ana:
        deleted = await ana.delete(f"{EPISODES}/{episode_id}")

    assert (deleted.status_code, deleted.json()) == (404, NOT_FOUND)


async def test_an_episode_of_somebody_else_is_as_one_that_does_not_exist(api: Api) -> None:
    await record(api.process, 2)
    async with api.client("ana") as ana, api.client("ben", "admin") as ben:
        page = (await ana.get(EPISODES)).json()
        anas = (await ana.get(EPISODES, params={"limit": 1})).json()["next"]
        for episode in page["episodes"]:
            deleted = await ben.delete(f"{EPISODES}/{episode['id']}")
            assert (deleted.status_code, deleted.json()) == (404, NOT_FOUND)
        assert (await ben.get(EPISODES)).json() == {"episodes": [], "next": None}
        assert (await ben.get(EPISODES, params={"after": anas})).json() == {"episodes": [], "next": None}
        assert (await ana.get(EPISODES)).json() == page


async def test_a_fact_is_no_episode(api: Api) -> None:
    async with api.client("ana") as ana:
        fact = (await ana.post("/api/memory/facts", json={"content": "likes tea"})).json()
        assert (await ana.delete(f"{EPISODES}/{fact['id']}")).json() == NOT_FOUND
        assert (await ana.get("/api/memory/facts")).json()["facts"] == [fact]


async def test_without_authentication_everybody_is_the_default_user(database_url: str) -> None:
    home = HomeInPostgres(database_url)
    async with running_api(home, auth_mode="none", auth_default_user="ana") as api, api.client() as somebody:
        await record(api.process, 1)
        [episode] = (await somebody.get(EPISODES)).json()["episodes"]
        assert (await somebody.delete(f"{EPISODES}/{episode['id']}")).status_code == 204
    async with running_api(home, auth_mode="none", auth_default_user="") as api, api.client() as nobody:
        assert (await nobody.get(EPISODES)).json()["error"]["kind"] == "not_found"
