"""GET and DELETE /api/memory/threads, DELETE /api/threads/{thread_id}."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from backend.ids import ThreadId, UserId
from backend.memory.scope import scope_label
from backend.memory.summaries.service import ThreadRecord
from tests.support.http_api import SPELLINGS, Api
from tests.support.passes import NOW, a_pass, commit, fill, ids

pytestmark = pytest.mark.anyio

SCOPE = scope_label(UserId("ana"))
MISSING = "00000000-0000-4000-8000-000000000000"


async def kept_of(api: Api, thread_id: ThreadId) -> ThreadRecord:
    return await api.summaries_of("ana").stored(thread_id)


async def test_a_user_without_summaries_has_no_threads(api: Api) -> None:
    api.server.make_thread("ana")

    async with api.client("ana") as ana:
        assert (await ana.get("/api/memory/threads")).json() == {"threads": []}


async def test_threads_come_by_their_newest_activity_each_with_its_passes_in_order(api: Api) -> None:
    summaries, threads = api.summaries_of("ana"), [api.server.make_thread("ana", title=f"Thread {n}") for n in range(3)]
    await fill(summaries, threads[0], 12)
    for number, thread_id in enumerate(threads[1:]):
        await commit(summaries, thread_id, a_pass(0, 1, ids(2)), at=NOW - timedelta(days=1 + number))
    await commit(summaries, threads[2], a_pass(2, 3, ids(4)), at=NOW + timedelta(days=1))

    async with api.client("ana") as ana:
        body = (await ana.get("/api/memory/threads")).json()

    assert list(body) == ["threads"]
    assert [thread["thread_id"] for thread in body["threads"]] == [threads[2], threads[0], threads[1]]
    assert [thread["title"] for thread in body["threads"]] == ["Thread 2", "Thread 0", "Thread 1"]
    assert [thread["last_activity"] for thread in body["threads"]] == [
        "2026-03-02T12:00:00Z",
        "2026-03-01T12:00:00Z",
        "2026-02-28T12:00:00Z",
    ]
    assert set(body["threads"][0]) == {"thread_id", "title", "last_activity", "summaries"}
    assert [row["sequence"] for row in body["threads"][1]["summaries"]] == list(range(1, 13))
    assert "title" not in body["threads"][1]["summaries"][0]


async def test_a_thread_that_the_server_no_longer_has_is_still_listed(api: Api) -> None:
    thread_id = await api.remember("ana")
    api.server.metadata.clear()

    async with api.client("ana") as ana:
        [thread] = (await ana.get("/api/memory/threads")).json()["threads"]

    assert (thread["thread_id"], thread["title"], len(thread["summaries"])) == (thread_id, None, 2)


@pytest.mark.parametrize("query", ["", "?rebuild=true"])
async def test_deleted_summaries_may_be_written_again(query: str, api: Api) -> None:
    thread_id, other = await api.remember("ana"), await api.remember("ana", passes=1)

    async with api.client("ana") as ana:
        deleted = await ana.delete(f"/api/memory/threads/{thread_id}{query}")
        listed = (await ana.get("/api/memory/threads")).json()["threads"]

    assert (deleted.status_code, deleted.json()) == (200, {"deleted": 2})
    assert [thread["thread_id"] for thread in listed] == [other]
    assert await kept_of(api, thread_id) == ThreadRecord(rows=[], fenced=[])
    assert await commit(api.summaries_of("ana"), thread_id, a_pass(0, 3, ids(4, "ana/")))


async def test_summaries_that_are_deleted_for_good_leave_a_fence(api: Api) -> None:
    thread_id = await api.remember("ana")

    async with api.client("ana") as ana:
        deleted = await ana.delete(f"/api/memory/threads/{thread_id}", params={"rebuild": False})

    assert deleted.json() == {"deleted": 2}
    assert await kept_of(api, thread_id) == ThreadRecord(rows=[], fenced=ids(4, "ana/"))
    assert await commit(api.summaries_of("ana"), thread_id, a_pass(0, 3, ids(4, "ana/"))) is None
    assert thread_id in api.server.metadata


async def test_deleting_a_thread_removes_it_and_all_that_was_kept_of_it(api: Api) -> None:
    thread_id, other = await api.remember("ana", city="Oslo"), await api.remember("ana")
    await api.summaries_of("ana").claim(thread_id)

    async with api.client("ana") as ana:
        deleted = await ana.delete(f"/api/threads/{thread_id}")
        again = await ana.delete(f"/api/threads/{thread_id}")
        profile = (await ana.get("/api/memory/profile")).json()

    assert (deleted.status_code, deleted.content) == (204, b"")
    assert again.status_code == 404
    assert list(api.server.metadata) == [other]
    assert await kept_of(api, thread_id) == ThreadRecord(rows=[], fenced=())
    assert await api.process.ledger.threads_of(SCOPE) == [other]
    assert profile["memory"] == {"city": "Oslo"}
    assert {row["thread_id"] for row in profile["summaries"]} == {other}


async def test_what_is_left_of_a_thread_that_the_server_has_lost_can_be_deleted(api: Api) -> None:
    thread_id = await api.remember("ana")
    api.server.metadata.clear()

    async with api.client("ana") as ana:
        assert (await ana.delete(f"/api/threads/{thread_id}")).status_code == 204
        assert (await ana.get("/api/memory/threads")).json() == {"threads": []}


async def test_without_the_server_nothing_of_the_thread_is_deleted(api: Api) -> None:
    thread_id = await api.remember("ana")
    api.server.down = True

    async with api.client("ana") as ana:
        response = await ana.delete(f"/api/threads/{thread_id}")

    assert (response.status_code, response.json()["error"]["kind"]) == (503, "server_unavailable")
    assert len((await kept_of(api, thread_id)).rows) == 2


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("path", ["/api/memory/threads", "/api/threads"])
async def test_a_thread_is_meant_in_every_spelling_of_its_id(path: str, spell: Callable[[str], str], api: Api) -> None:
    thread_id = await api.remember("ana")

    async with api.client("ana") as ana:
        response = await ana.delete(f"{path}/{spell(thread_id)}")

    assert response.is_success
    assert (await kept_of(api, thread_id)).rows == []


@pytest.mark.parametrize(
    "thread_id",
    ["new", "t-1", "x" * 10_000, MISSING, "%00", f"{MISSING}%00", "%20", "%", "..%2Fthreads", "１"],
    ids=["word", "number", "endless", "missing", "NUL", "UUID and NUL", "blank", "percent", "path", "wide digit"],
)
@pytest.mark.parametrize("path", ["/api/memory/threads", "/api/threads"])
async def test_a_thread_that_does_not_exist_is_not_found(path: str, thread_id: str, api: Api) -> None:
    async with api.client("ana") as ana:
        for query in ("", "?rebuild=false") if path.endswith("memory/threads") else ("",):
            response = await ana.delete(f"{path}/{thread_id}{query}")
            assert response.status_code == 404
            assert response.json()["error"]["kind"] == "not_found"
