"""Whose memory the HTTP API reads and changes (CASES 18): the caller's, whatever the request says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from backend.ids import Json, ThreadId, UserId
from backend.memory.scope import scope_label
from tests.support.http_api import Api, running_api
from tests.support.kept_words import keep_words
from tests.support.memory_homes import HomeInPostgres

pytestmark = pytest.mark.anyio

USERS = ("u1", "u10", "u_1", "uX1", "%", "_", "u", "ana.lopez@example.org", "ana.lopez@example_org", "Ana", "ana")
READS = ("/api/memory/profile", "/api/memory/threads", "/api/memory/export")
OF_A_THREAD = (
    "/api/memory/threads/{thread}",
    "/api/memory/threads/{thread}?rebuild=false",
    "/api/threads/{thread}",
)
CHANGES = ("/api/memory/profile/of", "/api/memory", *OF_A_THREAD)


@dataclass(frozen=True)
class Everybody:
    """Users who all have something of everything."""

    api: Api
    threads: Mapping[str, ThreadId]

    async def remembered(self, user_id: str) -> Json:
        """All that is kept of a user, past every cache."""
        memory = self.api.process.memory_of(user_id)
        return {
            "profile": dict((await memory.profile.view()).memory),
            "facts": [fact.as_json() for fact in await memory.facts.stored()],
            "episodes": [episode.as_json() for episode in await memory.episodes.all()],
            "rows": [row.as_json() for row in await memory.summaries.all()],
            "fenced": list((await memory.summaries.stored(self.threads[user_id])).fenced),
            "known": list(await self.api.process.ledger.threads_of(scope_label(UserId(user_id)))),
            "account": dict(await self.api.process.accounts.overlay(UserId(user_id))),
            "threads": list(await self.api.server.threads_of(UserId(user_id))),
        }

    async def all_but(self, *absent: str) -> Mapping[str, Json]:
        self.api.process.forget_cached()
        return {user_id: await self.remembered(user_id) for user_id in USERS if user_id not in absent}


@pytest.fixture
async def everybody(api: Api) -> Everybody:
    for user_id in USERS:
        await api.process.accounts.keep(
            UserId(user_id), name=f"I am {user_id}", email=None, avatar=None, socials=["github"]
        )
    threads = {user_id: await api.remember(user_id, of=user_id) for user_id in USERS}
    for user_id, thread_id in threads.items():
        await keep_words(api.process.memory_of(user_id), thread_id)
    return Everybody(api, threads)


async def test_everybody_reads_their_own_and_nothing_else(everybody: Everybody) -> None:
    for user_id in USERS:
        async with everybody.api.client(user_id) as caller:
            profile, threads, export = [(await caller.get(path)).json() for path in READS]
        expected = {"name": f"I am {user_id}", "socials": ["github"], "of": user_id}
        own = [everybody.threads[user_id]] * 2
        assert profile["memory"] == expected
        assert [row["thread_id"] for row in profile["summaries"]] == own
        assert [thread["thread_id"] for thread in threads["threads"]] == own[:1]
        assert (export["user_id"], export["profile"]) == (user_id, {"of": user_id})
        assert export["account"]["name"] == f"I am {user_id}"
        assert [row["thread_id"] for row in export["thread_summaries"]] == own
        assert {fact["content"].partition(" of ")[2] for fact in export["facts"]} == {f"{user_id} in {own[0]}"}
        said = [episode["content"].splitlines()[1] for episode in export["episodes"]]
        assert said == [f"Assistant: Answer {n} for {user_id}" for n in (2, 1, 0)]


@pytest.mark.parametrize("path", CHANGES)
async def test_nobody_else_notices_a_change(path: str, everybody: Everybody) -> None:
    for user_id in USERS:
        others = await everybody.all_but(user_id)
        own = await everybody.remembered(user_id)
        async with everybody.api.client(user_id) as caller:
            response = await caller.delete(path.format(thread=everybody.threads[user_id]))
        assert response.is_success
        assert await everybody.all_but(user_id) == others
        assert await everybody.remembered(user_id) != own


@pytest.mark.parametrize("path", OF_A_THREAD)
async def test_what_is_somebody_elses_is_not_found_and_stays(path: str, everybody: Everybody) -> None:
    before = await everybody.all_but()
    for user_id in USERS:
        async with everybody.api.client(user_id, "admin") as caller:
            for other in set(USERS) - {user_id}:
                response = await caller.delete(path.format(thread=everybody.threads[other]))
                missing = await caller.delete(path.format(thread="00000000-0000-4000-8000-000000000000"))
                assert response.status_code == 404
                assert response.json() == missing.json()
    assert await everybody.all_but() == before


async def test_an_admin_erases_the_user_who_is_named_and_nobody_else(everybody: Everybody) -> None:
    for user_id in USERS:
        others = await everybody.all_but(user_id)
        async with everybody.api.client("root", "admin") as admin:
            response = await admin.delete(httpx.URL("http://127.0.0.1").copy_with(path=f"/api/admin/users/{user_id}"))
        assert response.json() == {
            "threads": 1,
            "profile_keys": 1,
            "facts": 2,
            "episodes": 3,
            "thread_summaries": 2,
        }
        assert await everybody.all_but(user_id) == others


NAMING_ANOTHER: dict[str, dict[str, Any]] = {
    "query": {"params": {"user_id": "ana"}},
    "headers": {"headers": {"x-user-id": "ana", "user-id": "ana", "authorization": "Bearer ana", "cookie": "user=ana"}},
    "body": {"json": {"user_id": "ana"}},
}


@pytest.mark.parametrize("naming", NAMING_ANOTHER.values(), ids=NAMING_ANOTHER)
async def test_no_request_names_its_user(naming: dict[str, Any], everybody: Everybody) -> None:
    before = await everybody.all_but("u1")
    async with everybody.api.client("u1") as caller:
        for path in READS:
            response = await caller.request("GET", path, **naming)
            assert response.status_code == 400 or "I am ana" not in response.text
        for path in CHANGES:
            await caller.request("DELETE", path.format(thread=everybody.threads["ana"]), **naming)
    assert await everybody.all_but("u1") == before


EVERY_ROUTE = [("GET", path) for path in READS] + [("DELETE", path) for path in (*CHANGES, "/api/admin/users/ana")]


@pytest.mark.parametrize(("method", "path"), EVERY_ROUTE)
async def test_without_a_sign_in_nothing_is_told_or_changed(method: str, path: str, api: Api) -> None:
    thread_id = await api.remember("ana", of="ana")
    async with api.client() as nobody:
        response = await nobody.request(method, path.format(thread=thread_id))

    assert response.status_code == 401
    assert response.json()["error"]["kind"] == "unauthenticated"
    assert len(await api.summaries_of("ana").all()) == 2


@pytest.mark.parametrize(("method", "path"), EVERY_ROUTE)
async def test_a_service_token_is_refused(method: str, path: str, api: Api) -> None:
    thread_id = await api.remember("ana", of="ana")
    async with api.client("ana", "service", "erase", "admin") as service:
        response = await service.request(method, path.format(thread=thread_id))

    assert response.status_code == 403
    assert response.json()["error"]["kind"] == "forbidden"
    assert len(await api.summaries_of("ana").all()) == 2


class TestWithoutAuthentication:
    async def test_everybody_is_the_default_user(self, database_url: str) -> None:
        home = HomeInPostgres(database_url)
        async with running_api(home, auth_mode="none", auth_default_user="ana.lopez@example.org") as api:
            await api.remember("ana.lopez@example.org", city="Oslo")
            await api.remember("ben", city="Rome")
            for client in (api.client(), api.client("ben")):
                async with client as caller:
                    profile = (await caller.get("/api/memory/profile")).json()
                    assert profile["memory"] == {"city": "Oslo"}
                    assert len(profile["summaries"]) == 2

    async def test_without_a_default_user_there_is_nothing(self, database_url: str) -> None:
        home = HomeInPostgres(database_url)
        async with running_api(home, auth_mode="none", auth_default_user="") as api, api.client() as nobody:
            for path in READS:
                response = await nobody.get(path)
                assert (response.status_code, response.json()["error"]["kind"]) == (404, "not_found")
