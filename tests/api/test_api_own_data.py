"""GET /api/memory/export, DELETE /api/memory, DELETE /api/admin/users/{user_id}."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

import pytest

from backend.accounts.identity import Identity
from backend.ids import Json, ThreadId, UserId
from backend.memory.scope import scope_label
from tests.support.conditions import eventually
from tests.support.http_api import TOKENS, Api, running_api
from tests.support.kept_words import keep_words
from tests.support.memory_homes import HomeInMemory, HomeInPostgres, Process
from tests.support.passes import NOW, a_pass, ids
from tests.support.profile_patches import add
from tests.support.user_ids import AWKWARD_IDS

pytestmark = pytest.mark.anyio

ANA = UserId("ana")
NOT_IN_A_PATH = (".", "..", "a\nb")
"""Clients resolve the first two, and no pattern of a route takes a line break; the command line takes them all."""


async def sign_in(api: Api, user_id: str = "ana", name: str = "Ana") -> None:
    await api.process.accounts.keep(UserId(user_id), name=name, email=None, avatar=None, socials=["github"])


def counts(**erased: int) -> dict[str, int]:
    """What an erasure answers: how much of each kind, without the threads."""
    return {"profile_keys": 0, "facts": 0, "episodes": 0, "thread_summaries": 0, **erased}


async def profile_of(api: Api, user_id: str = "ana") -> dict[str, object]:
    async with api.client(user_id) as caller:
        return (await caller.get("/api/memory/profile")).json()


async def test_an_export_holds_everything_that_is_remembered(api: Api) -> None:
    await sign_in(api)
    thread_id = await api.remember("ana", passes=12, city="東京", nothing=None)
    await keep_words(api.process.memory_of("ana"), thread_id)

    async with api.client("ana") as ana:
        export = (await ana.get("/api/memory/export")).json()

    assert set(export) == {"user_id", "profile", "account", "facts", "episodes", "thread_summaries"}
    assert export["user_id"] == "ana"
    assert export["profile"] == {"city": "東京", "nothing": None}
    assert export["account"] == {"name": "Ana", "email": None, "avatar": None, "socials": ["github"]}
    assert [row["sequence"] for row in export["thread_summaries"]] == list(range(1, 13))
    assert {row["thread_id"] for row in export["thread_summaries"]} == {thread_id}
    assert export["thread_summaries"][0]["message_ids"] == ["ana/0", "ana/1"]
    assert sorted(fact["content"] for fact in export["facts"]) == [f"Fact {n} of ana in {thread_id}" for n in range(2)]
    assert [episode["turn"] for episode in export["episodes"]] == [2, 1, 0]
    assert export["episodes"][2]["content"] == "User: Question 0\nAssistant: Answer 0 for ana"
    assert {item["thread_id"] for item in [*export["facts"], *export["episodes"]]} == {thread_id}


async def test_an_export_of_nothing_is_empty(api: Api) -> None:
    async with api.client("ana") as ana:
        export = (await ana.get("/api/memory/export")).json()

    empty: dict[str, Json] = {"facts": [], "episodes": [], "thread_summaries": []}
    assert export == {"user_id": "ana", "profile": {}, "account": {}, **empty}


async def test_erasing_ones_memory_counts_by_kind_and_leaves_the_threads(api: Api) -> None:
    await sign_in(api)
    threads = {await api.remember("ana", city="Oslo"), await api.remember("ana", pet="Al")}
    for thread_id in threads:
        await keep_words(api.process.memory_of("ana"), thread_id)
    before = await profile_of(api)

    async with api.client("ana") as ana:
        erased = await ana.delete("/api/memory")
        again = await ana.delete("/api/memory")

    assert before["memory"] == {"name": "Ana", "socials": ["github"], "city": "Oslo", "pet": "Al"}
    assert (erased.status_code, erased.json()) == (200, counts(profile_keys=2, facts=4, episodes=6, thread_summaries=4))
    assert again.json() == counts()
    assert await api.process.memory_of("ana").facts.stored() == ()
    assert await api.process.memory_of("ana").episodes.all() == []
    assert await profile_of(api) == {"memory": {}, "store_keys": [], "overlay_keys": [], "summaries": []}
    assert await api.process.ledger.threads_of(scope_label(ANA)) == []
    assert set(api.server.metadata) == threads


async def test_a_slash_at_the_end_erases_nothing(api: Api) -> None:
    """Clients make `/api/memory/` of `/api/memory/profile/..`, and follow redirects."""
    await api.remember("ana", city="Oslo")
    before = await profile_of(api)

    async with api.client("ana") as ana:
        answer = await ana.delete("/api/memory/", follow_redirects=True)

    assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "not_found")
    assert before["memory"] == {"city": "Oslo"}
    assert await profile_of(api) == before


async def test_a_pass_that_was_under_way_while_its_user_was_erased_writes_nothing(api: Api) -> None:
    thread_id = await api.remember("ana")
    summaries = api.summaries_of("ana")
    claim = await summaries.claim(thread_id)
    assert claim is not None

    async with api.client("ana") as ana:
        await ana.delete("/api/memory")

    assert await summaries.commit(thread_id, a_pass(0, 1, ids(2)), claim=claim, at=NOW) is None
    assert await summaries.all() == []


async def test_an_erased_user_is_remembered_anew_like_any_other(api: Api) -> None:
    await sign_in(api)
    await api.remember("ana", city="Oslo")
    async with api.client("ana") as ana:
        await ana.delete("/api/memory")

    await sign_in(api)
    await api.remember("ana", passes=1, city="Rome")

    profile = await profile_of(api)
    assert profile["memory"] == {"name": "Ana", "socials": ["github"], "city": "Rome"}


async def test_other_processes_soon_show_nothing_of_an_erased_user(database_url: str) -> None:
    home = HomeInPostgres(database_url)
    async with running_api(home) as here, running_api(home) as there:
        await sign_in(here)
        await here.remember("ana", city="Oslo")
        await eventually(lambda: is_known(there))
        async with here.client("ana") as ana:
            await ana.delete("/api/memory")
        await eventually(lambda: is_unknown(there))


async def is_known(api: Api) -> bool:
    return (await profile_of(api))["memory"] == {"name": "Ana", "socials": ["github"], "city": "Oslo"}


async def is_unknown(api: Api) -> bool:
    return (await profile_of(api))["memory"] == {}


async def test_a_sign_in_is_kept_again_after_its_user_was_erased_in_another_process(database_url: str) -> None:
    home, signed_in = HomeInPostgres(database_url), Identity(ANA, name="Ana")
    async with running_api(home) as here, running_api(home) as there:
        await here.process.services.accounts.keep(signed_in)
        async with there.client("ana") as ana:
            await ana.delete("/api/memory")

        async def is_kept_again() -> bool:
            await here.process.services.accounts.keep(signed_in)
            return (await here.process.accounts.overlay(ANA)).get("name") == "Ana"

        await eventually(is_kept_again)


class ReadJustBefore:
    """Accounts of which somebody's profile is read in the moment before the user's is forgotten."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def overlay(self, user_id: UserId) -> Mapping[str, Json]:
        return await self._process.accounts.overlay(user_id)

    async def forget(self, user_id: UserId) -> None:
        assert (await self._process.memory_of(user_id).profile.view()).memory["name"] == "Ana"
        await self._process.accounts.forget(user_id)


async def test_what_is_read_while_a_user_is_erased_is_not_shown_afterwards() -> None:
    async with HomeInMemory().process() as process:
        await process.accounts.keep(ANA, name="Ana", email=None, avatar=None, socials=[])

        await replace(process.services.forgetting, accounts=ReadJustBefore(process)).erase_memory(ANA)

        assert (await process.memory_of("ana").profile.view()).memory == {}


class TestAdmin:
    async def test_an_admin_erases_everything_of_a_user(self, api: Api) -> None:
        await sign_in(api)
        await api.remember("ana", city="Oslo")
        await keep_words(api.process.memory_of("ana"), await api.remember("ana"))
        bens = await api.remember("ben", city="Rome")
        await keep_words(api.process.memory_of("ben"), bens)

        async with api.client("root", "admin") as admin:
            erased = await admin.delete("/api/admin/users/ana")
            again = await admin.delete("/api/admin/users/ana")

        assert erased.status_code == 200
        assert erased.json() == counts(threads=2, profile_keys=1, facts=2, episodes=3, thread_summaries=4)
        assert again.json() == counts(threads=0)
        assert await profile_of(api) == {"memory": {}, "store_keys": [], "overlay_keys": [], "summaries": []}
        assert list(api.server.metadata) == [bens]
        assert (await profile_of(api, "ben"))["memory"] == {"city": "Rome"}
        assert len(await api.process.memory_of("ben").facts.stored()) == 2
        assert len(await api.process.memory_of("ben").episodes.all()) == 3

    async def test_every_user_id_can_be_named(self, api: Api) -> None:
        for user_id in [UserId(one) for one in AWKWARD_IDS if one not in NOT_IN_A_PATH]:
            await api.process.accounts.keep(user_id, name="x", email=None, avatar=None, socials=[])
            async with api.client("root", "admin") as admin:
                response = await admin.delete(f"/api/admin/users/{quote(user_id, safe='')}")
            assert response.status_code == 200, user_id
            assert await api.process.accounts.overlay(user_id) == {}, user_id

    async def test_summaries_that_the_server_purges_with_their_threads_are_counted_too(self, api: Api) -> None:
        api.server.purge = api.process.services.thread_gone
        for _ in range(2):
            await api.remember("ana")

        async with api.client("root", "admin") as admin:
            erased = (await admin.delete("/api/admin/users/ana")).json()

        assert erased == counts(threads=2, thread_summaries=4)

    async def test_what_is_remembered_while_threads_go_is_erased_and_counted_too(self, api: Api) -> None:
        async def save_late(late: ThreadId) -> None:
            await api.process.memory_of("ana").profile.save([add("city", "Oslo")])
            await keep_words(api.process.memory_of("ana"), late)

        await api.remember("ana", pet="Al")
        api.server.purge = save_late

        async with api.client("root", "admin") as admin:
            erased = (await admin.delete("/api/admin/users/ana")).json()

        assert erased == counts(threads=1, profile_keys=2, facts=2, episodes=3, thread_summaries=2)
        assert (await profile_of(api))["memory"] == {}

    @pytest.mark.parametrize("user_id", ["", "%20", "%20ana", "a%00b", "x" * 257])
    async def test_what_is_no_user_id_is_not_found(self, user_id: str, api: Api) -> None:
        async with api.client("root", "admin") as admin:
            response = await admin.delete(f"/api/admin/users/{user_id}")

        assert (response.status_code, response.json()["error"]["kind"]) == (404, "not_found")

    @pytest.mark.parametrize("permissions", [(), ("Admin",), ("administrator", "users"), ("admin", "service")])
    async def test_without_the_permission_nobody_is_erased_not_even_oneself(
        self, permissions: tuple[str, ...], api: Api
    ) -> None:
        await api.remember("ana", city="Oslo")

        async with api.client("ana", *permissions) as ana:
            for user_id in ("ana", "ben", ""):
                response = await ana.delete(f"/api/admin/users/{user_id}")
                assert (response.status_code, response.json()["error"]["kind"]) == (403, "forbidden")

        assert (await profile_of(api))["memory"] == {"city": "Oslo"}
        assert len(api.server.metadata) == 1

    async def test_without_the_server_nothing_is_erased_so_that_it_can_be_repeated(self, api: Api) -> None:
        await api.remember("ana", city="Oslo")
        api.server.down = True

        async with api.client("root", "admin") as admin:
            response = await admin.delete("/api/admin/users/ana")

        assert (response.status_code, response.json()["error"]["kind"]) == (503, "server_unavailable")
        assert (await profile_of(api))["memory"] == {"city": "Oslo"}

    async def test_without_authentication_everybody_is_an_admin(self, database_url: str) -> None:
        settings = {**TOKENS, "auth_mode": "none"}
        async with running_api(HomeInPostgres(database_url), **settings) as api:
            await api.remember("ana", city="Oslo")
            async with api.client() as anybody:
                erased = (await anybody.delete("/api/admin/users/ana")).json()

        assert erased == counts(threads=1, profile_keys=1, thread_summaries=2)
