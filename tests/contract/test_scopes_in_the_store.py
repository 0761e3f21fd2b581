"""Each user's namespaces hold that user's items only, in memory and on PostgreSQL."""

from collections.abc import AsyncGenerator

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from backend.ids import MAX_USER_ID_CHARS, UserId
from backend.memory.scope import profile_namespace, scope_label, threads_namespace
from backend.storage.langgraph_store import open_store
from tests.support.postgres import make_database
from tests.support.user_ids import AWKWARD_IDS

pytestmark = pytest.mark.anyio

LONGEST = "\N{GRINNING FACE}" * MAX_USER_ID_CHARS
USERS = [UserId(user_id) for user_id in [*AWKWARD_IDS, LONGEST, "_" * MAX_USER_ID_CHARS]]


@pytest.fixture(params=["memory", "postgres"])
async def store(request: pytest.FixtureRequest) -> AsyncGenerator[BaseStore]:
    if request.param == "memory":
        yield InMemoryStore()
        return
    database = make_database(request.getfixturevalue("database_url"))
    async with database.running(), open_store(database) as store:
        yield store


async def fill(store: BaseStore) -> None:
    for user_id in USERS:
        await store.aput(profile_namespace(user_id), "main", {"of": user_id})
        await store.aput(threads_namespace(user_id), "t:1", {"of": user_id})


async def test_everybody_finds_their_own_items_and_namespaces_only(store: BaseStore) -> None:
    await fill(store)

    for user_id in USERS:
        label = scope_label(user_id)
        found = await store.asearch((label,), limit=1_000)
        listed = await store.alist_namespaces(prefix=(label,), limit=1_000)
        profile = await store.aget(profile_namespace(user_id), "main")

        assert [item.value["of"] for item in found] == [user_id, user_id]
        assert sorted(listed) == sorted([profile_namespace(user_id), threads_namespace(user_id)])
        assert profile is not None
        assert profile.value == {"of": user_id}


async def test_what_one_user_deletes_is_missing_for_nobody_else(store: BaseStore) -> None:
    await fill(store)

    for number, user_id in enumerate(USERS):
        await store.adelete(profile_namespace(user_id), "main")
        for other in USERS[number + 1 :]:
            assert await store.aget(profile_namespace(other), "main") is not None
