"""The server's own ways of deleting threads end as ours does: with nothing kept of them."""

from collections.abc import AsyncGenerator, Callable
from uuid import uuid4

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.testing import capture_logs

from backend.api.deleted_threads import DeletedThreads
from backend.errors import StorageUnavailable
from backend.ids import ThreadId, UserId
from backend.memory.scope import scope_label
from tests.support.http_api import SPELLINGS, Api, client_of
from tests.support.passes import NOW, a_pass, fill, ids

pytestmark = pytest.mark.anyio


async def known_of(api: Api, user_id: str) -> list[ThreadId]:
    return list(await api.process.ledger.threads_of(scope_label(UserId(user_id))))


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
async def test_nothing_is_kept_of_a_thread_that_the_server_deleted(spell: Callable[[str], str], api: Api) -> None:
    thread_id, other = await api.remember("ana"), await api.remember("ana")

    async with api.client("ana") as ana:
        response = await ana.delete(f"/threads/{spell(thread_id)}")
        listed = (await ana.get("/api/memory/threads")).json()["threads"]

    assert response.json() == {"pruned_count": 1}
    assert [thread["thread_id"] for thread in listed] == [other]
    assert await known_of(api, "ana") == [other]


async def test_a_pass_that_was_under_way_writes_nothing_afterwards(api: Api) -> None:
    thread_id = await api.remember("ana")
    summaries = api.summaries_of("ana")
    claim = await summaries.claim(thread_id)
    assert claim is not None

    async with api.client("ana") as ana:
        await ana.delete(f"/threads/{thread_id}")

    assert await summaries.commit(thread_id, a_pass(0, 1, ids(2)), claim=claim, at=NOW) is None
    assert await summaries.all() == []


async def test_a_new_thread_of_the_same_id_is_summarized_like_any_other(api: Api) -> None:
    thread_id = await api.remember("ana")
    async with api.client("ana") as ana:
        await ana.delete(f"/threads/{thread_id}")

    await fill(api.summaries_of("ana"), thread_id, 1)

    assert [row.sequence for row in await api.summaries_of("ana").all()] == [1]


async def test_every_user_who_had_summaries_of_the_thread_loses_them(api: Api) -> None:
    """Without authentication a thread may have been several users'."""
    thread_id = await api.remember("ana")
    await fill(api.summaries_of("ben"), thread_id, 1)

    async with api.client("ana") as ana:
        await ana.delete(f"/threads/{thread_id}")

    assert await api.summaries_of("ben").all() == []


async def test_a_deletion_that_the_server_refuses_purges_nothing(api: Api) -> None:
    thread_id = await api.remember("ana")
    async with api.client("ben") as ben:
        refused = await ben.delete(f"/threads/{thread_id}")
        pruned = await ben.post("/threads/prune", json={"thread_ids": [thread_id]})

    assert refused.status_code == pruned.status_code == 404
    assert len(await api.summaries_of("ana").all()) == 2


@pytest.mark.parametrize("strategy", [{}, {"strategy": "delete"}], ids=["default", "named"])
async def test_threads_that_are_pruned_are_purged(strategy: dict[str, str], api: Api) -> None:
    gone, other = [await api.remember("ana") for _ in range(2)], await api.remember("ana")
    async with api.client("ana") as ana:
        body = {"thread_ids": [gone[0].upper(), gone[1]], **strategy}
        response = await ana.post("/threads/prune", json=body)

    assert response.json() == {"pruned_count": 2}
    assert await known_of(api, "ana") == [other]


async def test_pruning_older_states_keeps_the_summaries(api: Api) -> None:
    thread_id = await api.remember("ana")
    async with api.client("ana") as ana:
        response = await ana.post("/threads/prune", json={"thread_ids": [thread_id], "strategy": "keep_latest"})

    assert response.is_success
    assert len(await api.summaries_of("ana").all()) == 2


@pytest.mark.parametrize("method", ["GET", "PATCH", "PUT", "OPTIONS"])
async def test_other_methods_purge_nothing(method: str, api: Api) -> None:
    thread_id = await api.remember("ana")
    async with api.client("ana") as ana:
        await ana.request(method, f"/threads/{thread_id}")

    assert len(await api.summaries_of("ana").all()) == 2


THREAD = "00000000-0000-4000-8000-000000000000"


class Purges:
    """What the middleware asks for. The first of `failures` that is left is what a purge raises."""

    def __init__(self, *failures: Exception) -> None:
        self.asked: list[ThreadId] = []
        self._failures = list(failures)

    async def __call__(self, thread_id: ThreadId) -> None:
        self.asked.append(thread_id)
        if self._failures:
            raise self._failures.pop(0)


def agreeing(status: int = 204) -> ASGIApp:
    """A server that answers everything with one status."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        await PlainTextResponse("" if status == 204 else "ok", status)(scope, receive, send)

    return app


async def ask(purges: Purges, method: str, path: str, *, status: int = 204, body: bytes = b"") -> httpx.Response:
    async with client_of(DeletedThreads(agreeing(status), purge=purges)) as client:
        return await client.request(method, path, content=body)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", f"/threads/{THREAD}/runs/{THREAD}"),
        ("DELETE", f"/api/threads/{THREAD}"),
        ("DELETE", f"/x/threads/{THREAD}"),
        ("DELETE", "/threads"),
        ("DELETE", "/threads/"),
        ("DELETE", f"/assistants/{THREAD}"),
        ("POST", f"/threads/{THREAD}"),
        ("POST", "/threads/prune/x"),
        ("GET", "/threads/prune"),
    ],
)
async def test_other_requests_are_not_touched(method: str, path: str) -> None:
    purges = Purges()
    body = f'{{"thread_ids": ["{THREAD}"]}}'.encode()

    assert (await ask(purges, method, path, body=body)).status_code == 204
    assert purges.asked == []


@pytest.mark.parametrize("status", [307, 400, 401, 403, 404, 409, 422, 500, 503])
@pytest.mark.parametrize(("method", "path"), [("DELETE", f"/threads/{THREAD}"), ("POST", "/threads/prune")])
async def test_only_a_deletion_that_succeeded_counts(method: str, path: str, status: int) -> None:
    purges = Purges()
    body = f'{{"thread_ids": ["{THREAD}"]}}'.encode()

    assert (await ask(purges, method, path, status=status, body=body)).status_code == status
    assert purges.asked == []


async def test_the_purge_comes_before_the_answer() -> None:
    purges, asked_before = Purges(), list[int]()

    async def outside(scope: Scope, receive: Receive, send: Send) -> None:
        async def noting_send(message: Message) -> None:
            asked_before.append(len(purges.asked))
            await send(message)

        await DeletedThreads(agreeing(), purge=purges)(scope, receive, noting_send)

    async with client_of(outside) as client:
        await client.delete(f"/threads/{THREAD}")

    assert asked_before == [1, 1]


@pytest.mark.parametrize("status", [200, 202, 204])
async def test_each_success_counts(status: int) -> None:
    purges = Purges()

    await ask(purges, "DELETE", f"/threads/{THREAD}/", status=status)

    assert purges.asked == [THREAD]


@pytest.mark.parametrize("failure", [StorageUnavailable(), KeyError("a mistake of ours")], ids=["expected", "not"])
async def test_a_purge_that_fails_is_logged_and_the_answer_goes_out(failure: Exception) -> None:
    with capture_logs() as logs:
        response = await ask(Purges(failure), "DELETE", f"/threads/{THREAD}")

    assert response.status_code == 204
    assert [(line["event"], line["thread_id"]) for line in logs] == [("purge_failed", THREAD)]


async def test_after_a_purge_that_failed_the_client_does_not_wait_for_the_others() -> None:
    threads = [str(uuid4()) for _ in range(3)]
    purges = Purges(StorageUnavailable())
    with capture_logs() as logs:
        body = f'{{"thread_ids": ["{threads[0]}", "{threads[1]}", "{threads[2]}"]}}'.encode()
        await ask(purges, "POST", "/threads/prune", status=200, body=body)

    assert purges.asked == threads[:1]
    assert [(line["event"], line["left"]) for line in logs] == [("purge_failed", 3)]


async def test_a_body_that_comes_in_pieces_reaches_the_server_and_the_purge() -> None:
    purges, text = Purges(), f'{{"thread_ids": ["{THREAD}"]}}'.encode()

    async def pieces() -> AsyncGenerator[bytes]:
        for byte in range(len(text)):
            yield text[byte : byte + 1]

    async with client_of(DeletedThreads(agreeing(200), purge=purges)) as client:
        response = await client.post("/threads/prune", content=pieces())

    assert response.text == "ok"
    assert purges.asked == [THREAD]
