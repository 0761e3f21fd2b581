"""What the graphs rely on in a store, over both of them."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from backend.errors import InvalidInput
from backend.storage.database import Database
from backend.storage.langgraph_store import PostgresStore, open_store
from tests.support.postgres import TestServer, make_database

pytestmark = pytest.mark.anyio

ANA = ("ana", "memory")


@pytest.fixture(params=["in memory", "postgres"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[BaseStore]:
    if request.param == "in memory":
        yield InMemoryStore()
        return
    server: TestServer = request.getfixturevalue("postgres_server")
    url = server.create_database()
    async with open_store(make_database(url)) as store:
        yield store
    server.drop_database(url)


@pytest.fixture
async def postgres_store(database: Database) -> AsyncIterator[PostgresStore]:
    async with open_store(database) as store:
        yield store


async def test_what_was_put_is_got_back(store: BaseStore):
    value = {"city": "東京", "nested": {"list": [1, 2.5, None, True]}, "quoted": 'a "b" \\ {c} %s'}
    await store.aput(ANA, "main", value)
    item = await store.aget(ANA, "main")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (ANA, "main", value)


async def test_putting_again_replaces_the_whole_value(store: BaseStore):
    await store.aput(ANA, "main", {"city": "Oslo", "pet": "cat"})
    await store.aput(ANA, "main", {"city": "Bergen"})
    item = await store.aget(ANA, "main")
    assert item is not None
    assert item.value == {"city": "Bergen"}


async def test_a_missing_item_is_none_and_deleting_it_is_no_error(store: BaseStore):
    assert await store.aget(ANA, "main") is None
    await store.adelete(ANA, "main")


async def test_a_deleted_item_is_gone(store: BaseStore):
    await store.aput(ANA, "main", {"city": "Oslo"})
    await store.adelete(ANA, "main")
    assert await store.aget(ANA, "main") is None
    assert await store.asearch(ANA) == []


async def test_times_are_aware(store: BaseStore):
    before = datetime.now(UTC)
    await store.aput(ANA, "main", {})
    item = await store.aget(ANA, "main")
    assert item is not None
    assert before <= item.created_at <= item.updated_at <= datetime.now(UTC)


async def test_a_search_gives_ten_items_unless_it_is_paged(store: BaseStore):
    for number in range(25):
        await store.aput(("ana", "threads"), f"thread:{number}", {"number": number})
    assert len(await store.asearch(("ana", "threads"))) == 10
    found = [
        item for offset in (0, 10, 20) for item in await store.asearch(("ana", "threads"), limit=10, offset=offset)
    ]
    assert sorted(item.value["number"] for item in found) == list(range(25))


async def test_a_search_filters_by_a_value(store: BaseStore):
    for number in range(25):
        await store.aput(("ana", "threads"), f"{number}", {"thread_id": f"t{number % 2}"})
    found = await store.asearch(("ana", "threads"), filter={"thread_id": "t1"}, limit=100)
    assert {item.value["thread_id"] for item in found} == {"t1"}
    assert len(found) == 12


@pytest.mark.parametrize("other", ["u10", "u_1", "uX1", "u", "%", "U1"])
async def test_users_with_similar_names_do_not_see_each_other(store: BaseStore, other: str):
    await store.aput(("u1", "threads"), "key", {"of": "u1"})
    await store.aput((other, "threads"), "key", {"of": other})
    assert [item.value["of"] for item in await store.asearch(("u1",))] == ["u1"]
    assert [item.value["of"] for item in await store.asearch((other, "threads"))] == [other]
    await store.adelete((other, "threads"), "key")
    assert await store.aget(("u1", "threads"), "key") is not None


async def test_namespaces_are_listed_by_prefix(store: BaseStore):
    for namespace in (("ana", "memory"), ("ana", "threads"), ("ben", "memory")):
        await store.aput(namespace, "key", {})
    assert sorted(await store.alist_namespaces(prefix=("ana",))) == [("ana", "memory"), ("ana", "threads")]


@pytest.mark.parametrize("value", ["a\0b", float("nan"), "\ud800"], ids=["NUL", "NaN", "lone surrogate"])
async def test_a_value_that_postgres_cannot_hold_is_refused_as_invalid(postgres_store: PostgresStore, value: object):
    with pytest.raises(InvalidInput):
        await postgres_store.aput(ANA, "main", {"value": value})
    assert await postgres_store.aget(ANA, "main") is None


async def test_a_refused_value_fails_nobody_elses_calls(postgres_store: PostgresStore):
    await postgres_store.aput(("ben", "memory"), "main", {"city": "Oslo"})
    refused, put, got = await asyncio.gather(
        postgres_store.aput(ANA, "main", {"value": "a\0b"}),
        postgres_store.aput(("cy", "memory"), "main", {"city": "Rome"}),
        postgres_store.aget(("ben", "memory"), "main"),
        return_exceptions=True,
    )
    assert isinstance(refused, InvalidInput)
    assert put is None
    assert not isinstance(got, BaseException | None)
    assert await postgres_store.aget(("cy", "memory"), "main") is not None


async def test_items_outlive_the_process_that_put_them(database: Database):
    async with open_store(database) as store:
        await store.aput(ANA, "main", {"city": "Oslo"})
    async with open_store(database) as store:
        assert await store.aget(ANA, "main") is not None


async def test_a_store_leaves_no_task_behind(database_url: str):
    before = asyncio.all_tasks()
    async with open_store(make_database(database_url)):
        assert asyncio.all_tasks() > before
    assert asyncio.all_tasks() == before
