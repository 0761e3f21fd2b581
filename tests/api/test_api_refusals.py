"""What the HTTP API refuses, and how it says so: `{"error": {"kind", "message"}}`."""

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from backend.api.errors import install_error_handlers
from backend.ids import ThreadId, UserId
from backend.memory.scope import profile_namespace, threads_namespace
from tests.support.http_api import Api, client_of, running_api
from tests.support.memory_homes import HomeInPostgres, put_by_hand
from tests.support.passes import a_row
from tests.support.postgres import TestServer

pytestmark = pytest.mark.anyio

ANA = UserId("ana")
THREAD = ThreadId("11111111-1111-4111-8111-111111111111")
FACT = f"/api/memory/facts/{THREAD}"
ROUTES = [
    ("GET", "/api/memory/profile"),
    ("DELETE", "/api/memory/profile/city"),
    ("GET", "/api/memory/threads"),
    ("DELETE", f"/api/memory/threads/{THREAD}"),
    ("DELETE", f"/api/threads/{THREAD}"),
    ("GET", "/api/memory/facts"),
    ("GET", "/api/memory/facts?q=tea"),
    ("DELETE", f"{FACT}?version=1"),
    ("GET", "/api/memory/episodes"),
    ("DELETE", f"/api/memory/episodes/{THREAD}"),
    ("GET", "/api/memory/search?q=tea"),
    ("GET", "/api/memory/export"),
    ("DELETE", "/api/memory"),
    ("DELETE", "/api/admin/users/ana"),
]
BODIES: dict[tuple[str, str], Mapping[str, Any]] = {
    ("POST", "/api/memory/facts"): {"content": "likes tea"},
    ("PATCH", FACT): {"version": 1, "content": "likes tea"},
}


def refusal(response: httpx.Response) -> tuple[int, str]:
    """Status and kind of a response that is an error of our form and nothing besides."""
    assert response.headers["content-type"] == "application/json"
    assert int(response.headers["content-length"]) == len(response.content)
    body = response.json()
    assert list(body) == ["error"]
    assert set(body["error"]) == {"kind", "message"}
    assert body["error"]["message"]
    return response.status_code, body["error"]["kind"]


@pytest.mark.parametrize(("method", "path"), [*ROUTES, *BODIES])
async def test_a_query_parameter_that_is_not_there_is_refused(method: str, path: str, api: Api) -> None:
    await api.remember("ana", city="Oslo")
    url = f"{path}{'&' if '?' in path else '?'}rebuid=false"
    async with api.client("ana", "admin") as ana:
        response = await ana.request(method, url, json=BODIES.get((method, path)))

    assert refusal(response) == (400, "invalid")
    assert "rebuid" in response.json()["error"]["message"]
    assert len(await api.summaries_of("ana").all()) == 2


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_a_body_where_none_is_expected_is_refused(method: str, path: str, api: Api) -> None:
    await api.remember("ana", city="Oslo")
    async with api.client("ana", "admin") as ana:
        for body in (b"{}", b'{"user_id": "ben"}', b"not JSON", b"\xff\x00"):
            response = await ana.request(method, path, content=body, headers={"content-type": "application/json"})
            assert refusal(response) == (400, "invalid"), body

    assert len(await api.summaries_of("ana").all()) == 2


@pytest.mark.parametrize("rebuild", ["", "maybe", "2", "%00", "None"])
async def test_a_malformed_parameter_is_refused_by_its_name(rebuild: str, api: Api) -> None:
    thread_id = await api.remember("ana")
    async with api.client("ana") as ana:
        response = await ana.delete(f"/api/memory/threads/{thread_id}?rebuild={rebuild}")

    assert refusal(response) == (400, "invalid")
    assert response.json()["error"]["message"].startswith("rebuild: ")
    assert len(await api.summaries_of("ana").all()) == 2


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/api/nothing", 404, "not_found"),
        ("GET", "/api/", 404, "not_found"),
        ("POST", "/api/memory/profile", 405, "invalid"),
        ("PUT", "/api/memory", 405, "invalid"),
        ("GET", f"/api/threads/{THREAD}", 405, "invalid"),
    ],
)
async def test_what_no_route_takes_is_refused_in_our_form(
    method: str, path: str, status: int, kind: str, api: Api
) -> None:
    async with api.client("ana") as ana:
        assert refusal(await ana.request(method, path)) == (status, kind)


async def test_other_paths_keep_the_servers_form(api: Api) -> None:
    async with api.client("ana") as ana:
        assert (await ana.get("/nothing")).json() == {"detail": "Not Found"}


class TestUnexpected:
    """A mistake of ours is a 500 that tells nothing of it."""

    @pytest.fixture
    async def client(self) -> AsyncIterator[httpx.AsyncClient]:
        app = FastAPI()
        install_error_handlers(app)

        @app.get("/{path:path}")
        async def fail(path: str) -> None:  # pyright: ignore[reportUnusedFunction]
            raise ZeroDivisionError(f"a secret of {path}")

        async with client_of(app) as client:
            yield client

    async def test_under_api_it_has_our_form(self, client: httpx.AsyncClient) -> None:
        response = await client.get("/api/memory/profile")

        assert refusal(response) == (500, "internal")
        assert "secret" not in response.text

    async def test_elsewhere_it_is_the_servers(self, client: httpx.AsyncClient) -> None:
        response = await client.get("/threads")

        assert (response.status_code, response.text) == (500, "Internal Server Error")


class TestTooLarge:
    LIMIT = 10_000

    @pytest.fixture
    async def api(self, database_url: str) -> AsyncGenerator[Api]:
        async with running_api(HomeInPostgres(database_url), max_body_bytes=self.LIMIT) as api:
            yield api

    async def test_a_declared_length_over_the_limit_is_refused_unread(self, api: Api) -> None:
        async with api.client("ana") as ana:
            response = await ana.request("DELETE", "/api/memory", content=b"x" * (self.LIMIT + 1))

        assert refusal(response) == (413, "too_large")
        assert "MAX_BODY_BYTES" in response.json()["error"]["message"]

    async def test_a_body_of_undeclared_length_is_refused_where_it_is_over_the_limit(self, api: Api) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(self.LIMIT // 1_000 + 1):
                yield b"x" * 1_000

        async with api.client("ana") as ana:
            response = await ana.request("DELETE", "/api/memory", content=pieces())

        assert refusal(response) == (413, "too_large")

    @pytest.mark.parametrize("declared", ["-1", "ten", "١٢", "1e9", ""])
    async def test_a_length_that_is_no_number_is_not_believed(self, declared: str, api: Api) -> None:
        async with api.client("ana") as ana:
            headers = [(b"content-length", declared.encode())]
            response = await ana.request("DELETE", "/api/memory", content=pieces_of(b"x" * 20_000), headers=headers)

        assert refusal(response) == (413, "too_large")

    async def test_what_is_within_the_limit_arrives(self, api: Api) -> None:
        thread_id = await api.remember("ana")
        body = {"thread_ids": [thread_id], "padding": "x" * 9_000}
        async with api.client("ana") as ana:
            assert (await ana.post("/threads/prune", json=body)).json() == {"pruned_count": 1}

    async def test_the_limit_holds_for_the_servers_own_paths(self, api: Api) -> None:
        async with api.client("ana") as ana:
            declared = await ana.post("/threads/prune", content=b"x" * 20_000)
            undeclared = await ana.post("/threads/prune", content=pieces_of(b"x" * 20_000))

        assert declared.status_code == undeclared.status_code == 413


async def pieces_of(body: bytes) -> AsyncIterator[bytes]:
    yield body


UNREADABLE: dict[str, Any] = {
    "entries are text": a_row(thread_id=THREAD, sequence=2, summary={"entries": "oops"}),
    "no sequence": {"entries": "oops"},
    "summary is null": a_row(thread_id=THREAD, sequence=4, summary=None),
    "a list": [1, 2],
    "text": "x",
    "null": None,
    "a number": 5,
    "a thread that is no text": a_row(thread_id=7, sequence=5),
    "a stamp that is none": a_row(thread_id=THREAD, sequence=6, created_at="yesterday"),
}


class TestUnreadable:
    """CASES 16: what cannot be read is left out, and can be removed."""

    @pytest.fixture
    async def damaged(self, api: Api) -> Api:
        store = api.process.store
        for number in (1, 7):
            row = a_row(thread_id=THREAD, sequence=number)
            await put_by_hand(store, threads_namespace(ANA), f"{THREAD}:{number}", row)
        for number, row in enumerate(UNREADABLE.values()):
            await put_by_hand(store, threads_namespace(ANA), f"{THREAD}:{number + 10}", row)
        await put_by_hand(store, profile_namespace(ANA), "main", ["not", "an", "object"])
        return api

    async def test_every_read_shows_what_can_be_read(self, damaged: Api) -> None:
        async with damaged.client("ana") as ana:
            profile, threads, export = [
                (await ana.get(f"/api/memory/{path}")).json() for path in ("profile", "threads", "export")
            ]

        assert (profile["memory"], profile["store_keys"]) == ({}, [])
        assert [row["sequence"] for row in profile["summaries"]] == [1, 7]
        assert [row["sequence"] for row in threads["threads"][0]["summaries"]] == [1, 7]
        assert len(threads["threads"]) == 1
        assert (export["profile"], len(export["thread_summaries"])) == ({}, 2)

    async def test_a_key_of_a_profile_that_is_no_object_is_not_found(self, damaged: Api) -> None:
        async with damaged.client("ana") as ana:
            assert refusal(await ana.delete("/api/memory/profile/not")) == (404, "not_found")
            item = await damaged.process.store.aget(profile_namespace(ANA), "main")

        assert item is not None
        assert item.value == ["not", "an", "object"]

    async def test_deleting_the_summaries_takes_the_damaged_ones_too(self, damaged: Api) -> None:
        async with damaged.client("ana") as ana:
            deleted = (await ana.delete(f"/api/memory/threads/{THREAD}")).json()

        assert deleted == {"deleted": 2 + len(UNREADABLE)}
        assert await damaged.process.store.asearch(threads_namespace(ANA)) == []

    async def test_erasing_takes_everything(self, damaged: Api) -> None:
        async with damaged.client("ana") as ana:
            erased = (await ana.delete("/api/memory")).json()

        counts = {"profile_keys": 0, "facts": 0, "episodes": 0}
        assert erased == {**counts, "thread_summaries": 2 + len(UNREADABLE)}
        assert await damaged.process.store.asearch(("ana",)) == []


async def test_a_profile_with_every_kind_of_value_is_shown_as_it_is(api: Api) -> None:
    document: dict[str, Any] = {
        "note": 'use {braces} & "quotes" {{#memoryJson}}x</memory>',
        "nested": {"a": [1, None, True, {"b": 1.5}]},
        "large": 2**70,
        "empty": {},
        "odd key: <&>": "\u2028\u202e",
    }
    await put_by_hand(api.process.store, profile_namespace(ANA), "main", document)
    async with api.client("ana") as ana:
        shown = await ana.get("/api/memory/profile")

    assert json.loads(shown.content)["memory"] == document


class TestDatabaseAway:
    FEW_SECONDS = 8.0

    async def test_every_route_says_so_within_a_few_seconds_and_works_again_after_its_return(
        self, own_server: TestServer
    ) -> None:
        home = HomeInPostgres(own_server.url)
        async with running_api(home, database_timeout_seconds=1.0) as api:
            await api.remember("ana", city="Oslo")
            own_server.stop()
            api.process.forget_cached()
            async with api.client("ana", "admin") as ana:
                for method, path in [*ROUTES, *BODIES]:
                    started = time.monotonic()
                    response = await ana.request(method, path, json=BODIES.get((method, path)))
                    assert refusal(response) == (503, "storage_unavailable"), path
                    assert time.monotonic() - started < self.FEW_SECONDS, path
                own_server.start()
                api.process.forget_cached()
                profile = (await ana.get("/api/memory/profile")).json()

        assert profile["memory"] == {"city": "Oslo"}

    async def test_a_database_that_hangs_is_the_same(self, own_server: TestServer) -> None:
        home = HomeInPostgres(own_server.url)
        async with running_api(home, database_timeout_seconds=1.0) as api:
            await api.remember("ana", city="Oslo")
            api.process.forget_cached()
            own_server.freeze()
            try:
                async with api.client("ana") as ana:
                    started = time.monotonic()
                    response = await ana.get("/api/memory/profile")
                    assert refusal(response) == (503, "storage_unavailable")
                    assert time.monotonic() - started < self.FEW_SECONDS
            finally:
                own_server.thaw()
