"""/api/memory/facts: the sentences that are kept of the caller (S0, S4)."""

import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.api.facts import FactOut
from backend.ids import ThreadId
from backend.memory.episodes import FinishedWords
from backend.memory.facts.record import FactDraft, Origin
from tests.support.http_api import Api, running_api
from tests.support.memory_homes import HomeInPostgres
from tests.support.passes import NOW

pytestmark = pytest.mark.anyio

FACTS = "/api/memory/facts"
MISSING = "00000000-0000-4000-8000-000000000000"
THREAD = "11111111-1111-4111-8111-111111111111"
NOT_FOUND = {"error": {"kind": "not_found", "message": "there is no such fact"}}
KEYS = {
    "id", "content", "categories", "key", "importance", "version", "said_by", "thread_id", "created_at", "updated_at",
}  # fmt: skip
Fact = dict[str, Any]


async def keep(caller: httpx.AsyncClient, content: str = "likes tea", **more: object) -> Fact:
    response = await caller.post(FACTS, json={"content": content, **more})
    assert response.status_code == 201, response.text
    return response.json()


async def listed(caller: httpx.AsyncClient, **query: str | int) -> list[Fact]:
    return (await caller.get(FACTS, params=query)).json()["facts"]


def refusal(response: httpx.Response) -> tuple[int, str]:
    """Status and kind of a response that is an error of our form."""
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"kind", "message"}
    assert body["error"]["message"]
    return response.status_code, body["error"]["kind"]


def message_of(response: httpx.Response) -> str:
    return response.json()["error"]["message"]


class TestReading:
    async def test_a_user_without_facts_has_room_for_all_of_them(self, api: Api) -> None:
        async with api.client("ana") as ana:
            assert (await ana.get(FACTS)).json() == {"facts": [], "counts": {"total": 0, "limit": 200, "shown": 0}}

    async def test_the_one_that_changed_last_comes_first(self, api: Api) -> None:
        async with api.client("ana") as ana:
            first, second, third = [await keep(ana, f"number {word}") for word in ("one", "two", "three")]
            before = await listed(ana)
            changed = await ana.patch(f"{FACTS}/{first['id']}", json={"version": 1, "content": "number four"})
            after = await listed(ana)

        assert before == [third, second, first]
        assert after == [changed.json(), third, second]

    async def test_counts_are_of_all_facts_whatever_the_answer_holds(self, database_url: str) -> None:
        async with running_api(HomeInPostgres(database_url), memory_facts_max=7) as api, api.client("ana") as ana:
            for word in ("one", "two", "three"):
                await keep(ana, f"number {word}")
            answer = (await ana.get(FACTS, params={"limit": 2})).json()

        assert [fact["content"] for fact in answer["facts"]] == ["number three", "number two"]
        assert answer["counts"] == {"total": 3, "limit": 7, "shown": 3}

    async def test_what_the_assistant_saved_says_so_and_where(self, api: Api) -> None:
        origin = Origin(said_by="assistant", thread_id=THREAD, turn=3, message_ids=("m1",))
        await api.process.memory_of("ana").facts.create([FactDraft(content="likes tea")], origin=origin)
        async with api.client("ana") as ana:
            [fact] = await listed(ana)

        assert set(fact) == KEYS
        assert (fact["said_by"], fact["thread_id"]) == ("assistant", THREAD)

    async def test_an_export_holds_the_facts_as_they_are_listed(self, api: Api) -> None:
        async with api.client("ana") as ana:
            for content in ("likes tea", "Lives in 東京"):
                await keep(ana, content, key=content, categories=["x"])
            facts = await listed(ana)
            assert (await ana.get("/api/memory/export")).json()["facts"] == facts
            assert (await ana.delete("/api/memory")).json()["facts"] == 2
            assert await listed(ana) == []

        assert set(FactOut.model_fields) == KEYS

    async def test_a_change_by_another_process_is_seen_at_once(self, api: Api, database_url: str) -> None:
        async with api.client("ana") as ana, running_api(HomeInPostgres(database_url)) as other:
            await keep(ana, "likes tea")
            await listed(ana)
            async with other.client("ana") as elsewhere:
                await keep(elsewhere, "likes coffee")
            assert [fact["content"] for fact in await listed(ana)] == ["likes coffee", "likes tea"]

    @pytest.mark.parametrize("limit", ["0", "-1", "x", "1.5", "", "9" * 5_000])
    async def test_a_limit_that_is_none_is_refused_by_its_name(self, limit: str, api: Api) -> None:
        async with api.client("ana") as ana:
            response = await ana.get(FACTS, params={"limit": limit})

        assert refusal(response) == (400, "invalid")
        assert message_of(response).startswith("limit: ")

    async def test_shown_are_those_that_a_new_thread_is_sent(self, api: Api) -> None:
        async with api.client("ana") as ana:
            for number in range(8):
                await keep(ana, f"{number}: {'x' * 1_900}")
            counts = (await ana.get(FACTS)).json()["counts"]

        assert counts == {"total": 8, "limit": 200, "shown": 6}


class TestSearching:
    async def test_the_facts_that_a_text_is_about_come_best_first(self, api: Api) -> None:
        async with api.client("ana") as ana:
            for content in ("Rides a red bicycle to work", "Has a dog called Al", "Works in Oslo as a nurse"):
                await keep(ana, content)
            answer = (await ana.get(FACTS, params={"q": "how does she get to work by bicycle?"})).json()
            [best] = await listed(ana, q="bicycle work", limit=1)

        found = [fact["content"] for fact in answer["facts"]]
        assert found[0] == best["content"] == "Rides a red bicycle to work"
        assert "Has a dog called Al" not in found
        assert answer["counts"] == {"total": 3, "limit": 200, "shown": 3}

    async def test_what_was_said_is_no_fact(self, api: Api) -> None:
        words = FinishedWords(
            thread_id=ThreadId(THREAD),
            turn=0,
            message_ids=["h0", "a0"],
            user_text="My bicycle is red",
            assistant_text="A red bicycle, noted",
            finished_at=NOW,
        )
        assert await api.process.memory_of("ana").episodes.record(words)
        async with api.client("ana") as ana:
            fact = await keep(ana, "Rides a red bicycle to work")
            assert await listed(ana, q="red bicycle") == [fact]

    async def test_nothing_relevant_is_an_empty_list(self, api: Api) -> None:
        async with api.client("ana") as ana:
            await keep(ana, "Has a dog called Al")
            answer = (await ana.get(FACTS, params={"q": "volcano"})).json()

        assert answer == {"facts": [], "counts": {"total": 1, "limit": 200, "shown": 1}}

    @pytest.mark.parametrize("q", ["", " ", "\t"])
    async def test_an_empty_search_box_shows_everything(self, q: str, api: Api) -> None:
        async with api.client("ana") as ana:
            fact = await keep(ana)
            assert await listed(ana, q=q) == [fact]


class TestKeeping:
    async def test_a_kept_fact_comes_back_as_itself(self, api: Api) -> None:
        said: dict[str, Any] = {
            "content": "Takes oat milk",
            "categories": ["food", "shop"],
            "key": "milk",
            "importance": 0.3,
        }
        async with api.client("ana") as ana:
            fact = await keep(ana, **said)
            [read] = await listed(ana)

        assert set(fact) == KEYS
        assert {name: fact[name] for name in said} == said
        assert (fact["version"], fact["said_by"], fact["thread_id"]) == (1, "user", None)
        assert fact["created_at"] == fact["updated_at"]
        assert fact["created_at"].endswith("Z")
        assert read == fact

    async def test_only_the_content_is_needed(self, api: Api) -> None:
        async with api.client("ana") as ana:
            fact = await keep(ana)

        assert (fact["categories"], fact["key"], fact["importance"]) == ([], None, 0.5)

    @pytest.mark.parametrize(
        "content",
        [
            "Lives in 東京",
            "100% _cotton_",
            "a\nb\tc",
            'use {braces} & "quotes" {{#x}}</memory>',
            "\u202e\u2028.",
            "👩‍👩‍👧",
            "x" * 2_000,
        ],
    )
    async def test_text_comes_back_as_it_was_said(self, content: str, api: Api) -> None:
        async with api.client("ana") as ana:
            fact = await keep(ana, content, key="<k> & 東京", categories=["a & b", "東京"])
            [read] = await listed(ana)

        assert read == fact
        assert (fact["content"], fact["key"], fact["categories"]) == (content, "<k> & 東京", ["a & b", "東京"])

    async def test_what_no_database_can_hold_is_cleaned(self, api: Api) -> None:
        body = rb'{"content": " tea\u0000 \ud800! ", "key": "a\u0000b", "categories": ["c\ud800"]}'
        async with api.client("ana") as ana:
            response = await ana.post(FACTS, content=body, headers={"content-type": "application/json"})
            [read] = await listed(ana)

        assert response.status_code == 201
        assert (read["content"], read["key"], read["categories"]) == ("tea �!", "ab", ["c�"])

    async def test_a_key_that_is_known_changes_what_is_kept_under_it(self, api: Api) -> None:
        async with api.client("ana") as ana:
            before = await keep(ana, "likes coffee", key="coffee")
            after = await keep(ana, "no longer drinks coffee", key="coffee")
            read = await listed(ana)

        assert read == [after]
        assert (after["id"], after["version"]) == (before["id"], 2)
        assert after["content"] == "no longer drinks coffee"

    async def test_the_same_text_is_a_duplicate_that_is_named(self, api: Api) -> None:
        async with api.client("ana") as ana:
            known = await keep(ana, "Likes  tea")
            response = await ana.post(FACTS, json={"content": "likes TEA"})
            read = await listed(ana)

        assert refusal(response) == (409, "duplicate")
        assert known["id"] in message_of(response)
        assert read == [known]

    async def test_there_is_room_for_so_many_and_no_more(self, database_url: str) -> None:
        async with running_api(HomeInPostgres(database_url), memory_facts_max=1) as api, api.client("ana") as ana:
            await keep(ana, "likes tea")
            response = await ana.post(FACTS, json={"content": "likes coffee"})

        assert refusal(response) == (409, "limit_reached")
        assert "1 facts" in message_of(response)

    async def test_a_fact_that_is_only_a_secret_is_refused(self, api: Api) -> None:
        async with api.client("ana") as ana:
            response = await ana.post(FACTS, json={"content": "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"})
            read = await listed(ana)

        assert refusal(response) == (400, "invalid")
        assert read == []


class TestChanging:
    SAID: Mapping[str, Any] = {"content": "likes tea", "categories": ["food"], "key": "tea", "importance": 0.25}

    @pytest.mark.parametrize(
        "changes",
        [
            {"content": "likes oolong"},
            {"categories": []},
            {"key": "drink"},
            {"importance": 1},
            {"content": "x", "categories": ["y"], "key": "z", "importance": 0},
        ],
    )
    async def test_what_is_named_changes_and_the_rest_stays(self, changes: dict[str, Any], api: Api) -> None:
        async with api.client("ana") as ana:
            before = await keep(ana, **self.SAID)
            response = await ana.patch(f"{FACTS}/{before['id']}", json={"version": 1, **changes})
            [read] = await listed(ana)

        assert response.status_code == 200
        assert response.json() == read
        assert read == {**before, **changes, "version": 2, "updated_at": read["updated_at"]}
        assert read["updated_at"] > before["updated_at"]

    async def test_null_removes_the_key(self, api: Api) -> None:
        async with api.client("ana") as ana:
            before = await keep(ana, **self.SAID)
            response = await ana.patch(f"{FACTS}/{before['id']}", json={"version": 1, "key": None})
            [read] = await listed(ana)

        assert response.json() == read
        assert read == {**before, "key": None, "version": 2, "updated_at": read["updated_at"]}

    @pytest.mark.parametrize("name", ["content", "categories", "importance", "version"])
    async def test_nothing_else_can_be_null(self, name: str, api: Api) -> None:
        async with api.client("ana") as ana:
            before = await keep(ana, **self.SAID)
            response = await ana.patch(f"{FACTS}/{before['id']}", json={"version": 1, name: None})
            read = await listed(ana)

        assert refusal(response) == (400, "invalid")
        assert message_of(response).startswith(f"{name}: ")
        assert read == [before]

    async def test_a_change_of_nothing_is_refused(self, api: Api) -> None:
        async with api.client("ana") as ana:
            fact = await keep(ana)
            response = await ana.patch(f"{FACTS}/{fact['id']}", json={"version": 1})
            read = await listed(ana)

        assert refusal(response) == (400, "invalid")
        assert read == [fact]

    @pytest.mark.parametrize("version", [0, 1, 3, -1, 2**31, 2**70])
    async def test_a_version_that_is_not_the_present_one_is_stale(self, version: int, api: Api) -> None:
        async with api.client("ana") as ana:
            fact = await keep(ana)
            changed = (await ana.patch(f"{FACTS}/{fact['id']}", json={"version": 1, "content": "likes oolong"})).json()
            body = {"version": version, "content": "likes coffee"}
            patched = await ana.patch(f"{FACTS}/{fact['id']}", json=body)
            deleted = await ana.delete(f"{FACTS}/{fact['id']}", params={"version": version})
            read = await listed(ana)

        assert refusal(patched) == refusal(deleted) == (409, "stale_version")
        assert "version 2" in message_of(patched)
        assert read == [changed]

    async def test_another_fact_with_this_text_or_key_is_a_duplicate(self, api: Api) -> None:
        async with api.client("ana") as ana:
            other = await keep(ana, "likes coffee", key="coffee")
            fact = await keep(ana, "likes tea", key="tea")
            text = await ana.patch(f"{FACTS}/{fact['id']}", json={"version": 1, "content": "Likes coffee"})
            key = await ana.patch(f"{FACTS}/{fact['id']}", json={"version": 1, "key": "coffee"})
            read = await listed(ana)

        assert refusal(text) == refusal(key) == (409, "duplicate")
        assert other["id"] in message_of(text)
        assert read == [fact, other]

    async def test_there_is_no_room_to_grow_beyond_the_limit(self, database_url: str) -> None:
        home = HomeInPostgres(database_url)
        async with running_api(home, memory_facts_max_chars=100) as api, api.client("ana") as ana:
            fact = await keep(ana, "likes tea")
            response = await ana.patch(f"{FACTS}/{fact['id']}", json={"version": 1, "content": "x" * 101})

        assert refusal(response) == (409, "limit_reached")


class TestDeleting:
    async def test_a_deleted_fact_is_gone(self, api: Api) -> None:
        async with api.client("ana") as ana:
            fact, other = await keep(ana, "likes tea"), await keep(ana, "likes coffee")
            deleted = await ana.delete(f"{FACTS}/{fact['id']}", params={"version": 1})
            again = await ana.delete(f"{FACTS}/{fact['id']}", params={"version": 1})
            patched = await ana.patch(f"{FACTS}/{fact['id']}", json={"version": 1, "content": "x"})
            read = await listed(ana)

        assert (deleted.status_code, deleted.content) == (204, b"")
        assert (again.status_code, again.json()) == (patched.status_code, patched.json()) == (404, NOT_FOUND)
        assert read == [other]

    @pytest.mark.parametrize("query", ["", "?version=", "?version=x", "?version=1.5", "?version=null"])
    async def test_it_needs_a_version(self, query: str, api: Api) -> None:
        async with api.client("ana") as ana:
            fact = await keep(ana)
            response = await ana.delete(f"{FACTS}/{fact['id']}{query}")
            read = await listed(ana)

        assert refusal(response) == (400, "invalid")
        assert message_of(response).startswith("version: ")
        assert read == [fact]


@pytest.mark.parametrize(
    "fact_id",
    ["new", "1", "x" * 10_000, MISSING, "%00", f"{MISSING}%00", "%20", "%", "..%2Ffacts", "１", "%ff", "main"],
)
async def test_a_fact_that_does_not_exist_is_not_found(fact_id: str, api: Api) -> None:
    async with api.client("ana") as ana:
        patched = await ana.patch(f"{FACTS}/{fact_id}", json={"version": 1, "content": "x"})
        deleted = await ana.delete(f"{FACTS}/{fact_id}?version=1")

    if fact_id != "..%2Ffacts":
        assert patched.json() == deleted.json() == NOT_FOUND
    assert patched.status_code == deleted.status_code == 404


async def test_a_fact_of_somebody_else_is_as_one_that_does_not_exist(api: Api) -> None:
    async with api.client("ana") as ana, api.client("ben", "admin") as ben:
        fact = await keep(ana, key="tea")
        patched = await ben.patch(f"{FACTS}/{fact['id']}", json={"version": 1, "content": "x"})
        deleted = await ben.delete(f"{FACTS}/{fact['id']}", params={"version": 1})
        bens = await listed(ben)
        same = await keep(ben, key="tea")
        read = await listed(ana)

    assert (patched.status_code, patched.json()) == (deleted.status_code, deleted.json()) == (404, NOT_FOUND)
    assert bens == []
    assert same["id"] != fact["id"]
    assert read == [fact]


REFUSED: dict[str, tuple[Any, str]] = {
    "no content": ({}, "content"),
    "null": ({"content": None}, "content"),
    "a number": ({"content": 5}, "content"),
    "a list": ({"content": ["x"]}, "content"),
    "empty": ({"content": ""}, "content"),
    "blank": ({"content": " \n\t "}, "content"),
    "too long": ({"content": "x" * 2_001}, "content"),
    "four categories": ({"content": "x", "categories": list("abcd")}, "categories"),
    "a category of too many letters": ({"content": "x", "categories": ["c" * 61]}, "categories.0"),
    "an empty category": ({"content": "x", "categories": ["a", " "]}, "categories.1"),
    "a category with a slash": ({"content": "x", "categories": ["a/b"]}, "categories.0"),
    "categories as text": ({"content": "x", "categories": "a"}, "categories"),
    "a category that is a number": ({"content": "x", "categories": [1]}, "categories.0"),
    "null for categories": ({"content": "x", "categories": None}, "categories"),
    "a key of too many letters": ({"content": "x", "key": "k" * 129}, "key"),
    "an empty key": ({"content": "x", "key": ""}, "key"),
    "a key that is a number": ({"content": "x", "key": 1}, "key"),
    "an importance above one": ({"content": "x", "importance": 1.1}, "importance"),
    "an importance below zero": ({"content": "x", "importance": -0.1}, "importance"),
    "an importance that is text": ({"content": "x", "importance": "0.5"}, "importance"),
    "an importance that is true": ({"content": "x", "importance": True}, "importance"),
    "a huge importance": ({"content": "x", "importance": 10**400}, "importance"),
    "no number": ({"content": "x", "importance": float("nan")}, "importance"),
    "infinity": ({"content": "x", "importance": float("inf")}, "importance"),
    "a field that is not there": ({"content": "x", "user_id": "ben"}, "user_id"),
    "a version": ({"content": "x", "version": 1}, "version"),
    "a field that cannot be encoded": ({"content": "x", "\ud800": 1}, "\ufffd"),
}


@pytest.mark.parametrize(("body", "field"), REFUSED.values(), ids=REFUSED)
async def test_what_cannot_be_a_fact_is_refused_by_the_name_of_the_field(body: Any, field: str, api: Api) -> None:
    sent = json.dumps(body)
    async with api.client("ana") as ana:
        response = await ana.post(FACTS, content=sent, headers={"content-type": "application/json"})
        read = await listed(ana)

    assert refusal(response) == (400, "invalid")
    assert message_of(response).startswith(f"{field}: ")
    assert read == []


WORSE: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"likes tea",
    "a list": b'[{"content": "x"}]',
    "text": b'"likes tea"',
    "null": b"null",
    "bytes": b"\xff\x00\xfe",
    "not UTF-8": b'{"content": "\xff"}',
    "cut off": b'{"content": "x"',
    "too many digits": b'{"content": "x", "importance": ' + b"9" * 5_000 + b"}",
    "1e400": b'{"content": "x", "importance": 1e400}',
    "deep": b"[" * 100_000,
    "deep content": b'{"content": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
}


@pytest.mark.parametrize("body", WORSE.values(), ids=WORSE)
async def test_what_is_no_object_is_refused(body: bytes, api: Api) -> None:
    async with api.client("ana") as ana:
        fact = await keep(ana)
        for method, path in (("POST", FACTS), ("PATCH", f"{FACTS}/{fact['id']}")):
            response = await ana.request(method, path, content=body, headers={"content-type": "application/json"})
            assert refusal(response) == (400, "invalid")
        read = await listed(ana)

    assert read == [fact]


async def test_a_form_of_another_site_is_refused(api: Api) -> None:
    async with api.client("ana") as ana:
        for sent in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            response = await ana.post(FACTS, content=b'{"content": "x"}', headers={"content-type": sent})
            assert refusal(response) == (400, "invalid")
        assert await listed(ana) == []


async def test_a_body_over_the_limit_is_too_large(database_url: str) -> None:
    async with running_api(HomeInPostgres(database_url), max_body_bytes=10_000) as api, api.client("ana") as ana:
        response = await ana.post(FACTS, json={"content": "x" * 10_000})

    assert refusal(response) == (413, "too_large")


ANY_TEXT = st.text(st.characters(codec=None), max_size=20) | st.sampled_from(["\0", "\ud800", "a/b", " "])
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=8,
)
FIELDS = st.sampled_from(["content", "categories", "key", "importance", "version"])
BODIES = (
    st.dictionaries(FIELDS | ANY_TEXT, ANY_JSON | st.lists(ANY_TEXT, max_size=4), max_size=6).map(json.dumps)
    | st.fixed_dictionaries({"content": ANY_TEXT}, optional={"key": ANY_TEXT, "version": st.just(1)}).map(json.dumps)
    | ANY_JSON.map(json.dumps)
    | st.text(max_size=20)
).map(str.encode) | st.binary(max_size=20)


class TestAnyBody:
    @given(body=BODIES)
    @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    async def test_it_is_kept_or_refused_in_our_form(self, body: bytes, api: Api) -> None:
        headers = {"content-type": "application/json"}
        async with api.client("ana") as ana:
            target = f"{FACTS}/{MISSING}"
            kept = await ana.post(FACTS, content=body, headers=headers)
            patched = await ana.patch(target, content=body, headers=headers)

        if kept.status_code != 201:
            assert refusal(kept) in {(400, "invalid"), (409, "duplicate"), (409, "limit_reached")}
        assert refusal(patched) in {(400, "invalid"), (404, "not_found")}


class TestWithoutAuthentication:
    async def test_everybody_is_the_default_user(self, database_url: str) -> None:
        home = HomeInPostgres(database_url)
        async with running_api(home, auth_mode="none", auth_default_user="ana") as api:
            async with api.client() as somebody, api.client("ben") as ben:
                fact = await keep(somebody)
                changed = await ben.patch(f"{FACTS}/{fact['id']}", json={"version": 1, "content": "likes oolong"})
                assert await listed(somebody) == [changed.json()]
            assert [fact.content for fact in await api.process.memory_of("ana").facts.all()] == ["likes oolong"]

    async def test_without_a_default_user_there_is_nothing(self, database_url: str) -> None:
        home = HomeInPostgres(database_url)
        async with running_api(home, auth_mode="none", auth_default_user="") as api, api.client() as nobody:
            for method, path, body in (
                ("GET", FACTS, None),
                ("POST", FACTS, {"content": "x"}),
                ("PATCH", f"{FACTS}/{MISSING}", {"version": 1, "content": "x"}),
                ("DELETE", f"{FACTS}/{MISSING}?version=1", None),
            ):
                assert refusal(await nobody.request(method, path, json=body)) == (404, "not_found")
