"""DELETE /api/threads/{thread_id}?memories=true: what was kept of a thread goes with it, or later (S0)."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from backend.ids import ThreadId
from backend.memory.episodes import FinishedWords
from backend.memory.facts.record import ON_THE_PAGE, FactDraft, Origin
from tests.support.http_api import Api
from tests.support.passes import NOW

pytestmark = pytest.mark.anyio

MISSING = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True)
class Kept:
    """The contents of a user's facts, and the threads of the episodes."""

    facts: Sequence[str]
    episodes: Sequence[str | None]


def a_turn(thread_id: ThreadId) -> FinishedWords:
    return FinishedWords(
        thread_id=thread_id,
        turn=0,
        message_ids=[f"{thread_id}/h0", f"{thread_id}/a0"],
        user_text="I like tea",
        assistant_text="noted",
        finished_at=NOW,
    )


async def a_thread(api: Api, user_id: str = "ana", *, says: str) -> ThreadId:
    """A thread with summaries, a fact and an episode."""
    thread_id = await api.remember(user_id)
    memory = api.process.memory_of(user_id)
    origin = Origin(said_by="assistant", thread_id=thread_id, turn=0, message_ids=("h0",))
    await memory.facts.create([FactDraft(content=says)], origin=origin)
    assert await memory.episodes.record(a_turn(thread_id))
    return thread_id


async def kept(api: Api, user_id: str = "ana") -> Kept:
    memory = api.process.memory_of(user_id)
    facts = sorted(fact.content for fact in await memory.facts.stored())
    return Kept(facts, [episode.thread_id for episode in await memory.episodes.all()])


@pytest.mark.parametrize("query", ["", "?memories=false"])
async def test_deleting_a_thread_keeps_its_facts_and_episodes(query: str, api: Api) -> None:
    thread_id = await a_thread(api, says="likes tea")
    async with api.client("ana") as ana:
        assert (await ana.delete(f"/api/threads/{thread_id}{query}")).status_code == 204

    assert await kept(api) == Kept(["likes tea"], [thread_id])
    assert await api.summaries_of("ana").all() == []


async def test_they_go_with_the_thread_when_that_is_asked_for_and_others_stay(api: Api) -> None:
    thread_id, other = await a_thread(api, says="likes tea"), await a_thread(api, says="has a dog")
    await api.process.memory_of("ana").facts.create([FactDraft(content="by hand")], origin=ON_THE_PAGE)
    async with api.client("ana") as ana:
        deleted = await ana.delete(f"/api/threads/{thread_id}?memories=true")
        again = await ana.delete(f"/api/threads/{thread_id}?memories=true")

    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (again.status_code, again.json()["error"]["kind"]) == (404, "not_found")
    assert list(api.server.metadata) == [other]
    assert await kept(api) == Kept(["by hand", "has a dog"], [other])


async def test_what_was_kept_can_be_erased_after_the_thread(api: Api) -> None:
    thread_id = await a_thread(api, says="likes tea")
    async with api.client("ana") as ana:
        await ana.delete(f"/api/threads/{thread_id}")
        assert (await ana.delete(f"/api/threads/{thread_id}?memories=true")).status_code == 204

    assert await kept(api) == Kept([], [])


async def test_a_turn_that_was_finished_before_is_not_recorded_after(api: Api) -> None:
    thread_id = await a_thread(api, says="likes tea")
    async with api.client("ana") as ana:
        await ana.delete(f"/api/threads/{thread_id}?memories=true")

    assert not await api.process.memory_of("ana").episodes.record(a_turn(thread_id))
    assert await kept(api) == Kept([], [])


async def test_without_the_server_nothing_is_erased(api: Api) -> None:
    thread_id = await a_thread(api, says="likes tea")
    api.server.down = True
    async with api.client("ana") as ana:
        response = await ana.delete(f"/api/threads/{thread_id}?memories=true")

    assert (response.status_code, response.json()["error"]["kind"]) == (503, "server_unavailable")
    assert await kept(api) == Kept(["likes tea"], [thread_id])


async def test_somebody_elses_thread_is_as_one_that_does_not_exist(api: Api) -> None:
    thread_id = await a_thread(api, says="likes tea")
    async with api.client("ben") as ben:
        response = await ben.delete(f"/api/threads/{thread_id}?memories=true")
        missing = await ben.delete(f"/api/threads/{MISSING}?memories=true")

    assert (response.status_code, response.json()) == (missing.status_code, missing.json())
    assert response.status_code == 404
    assert await kept(api) == Kept(["likes tea"], [thread_id])


async def test_removing_the_summaries_alone_keeps_them(api: Api) -> None:
    thread_id = await a_thread(api, says="likes tea")
    async with api.client("ana") as ana:
        assert (await ana.delete(f"/api/memory/threads/{thread_id}")).json() == {"deleted": 2}

    assert await kept(api) == Kept(["likes tea"], [thread_id])
