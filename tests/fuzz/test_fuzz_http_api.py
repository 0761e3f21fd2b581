"""Any request to our API: no mistake of ours, an answer as described, and nothing of anybody else's touched."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import sql

from backend.ids import ThreadId, UserId
from backend.memory.episodes import FinishedWords
from backend.memory.facts.record import ON_THE_PAGE, FactDraft
from backend.memory.scope import scope_label
from tests.fuzz.budget import TIME, examples
from tests.fuzz.conftest import LIMITS
from tests.fuzz.hostile import texts
from tests.fuzz.http_cases import STREAMS, Planned, answer, description, judge, operations, planned
from tests.support.http_api import Api, running_api
from tests.support.memory_homes import HomeInPostgres

pytestmark = [
    pytest.mark.anyio,
    TIME,
    pytest.mark.filterwarnings("ignore:Generating overly large repr"),
    # what schemathesis and hypothesis do to each other
    pytest.mark.filterwarnings("ignore:Overriding standard format"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:schemathesis"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:hypothesis_jsonschema"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:jsonschema"),
]

BO: Final = "bo@example.org"
OPERATIONS: Final = operations(description())
OPEN: Final = {"GET /api/health"}
"""It answers without a sign-in, whatever the query says."""
ADMIN: Final = "DELETE /api/admin/users/{user_id}"
Ids = Mapping[str, str]


async def settle(api: Api, user_id: str) -> Ids:
    """Give a user one of everything; its ids by the names under which paths have them."""
    memory = api.process.memory_of(user_id)
    thread_id = await api.remember(user_id, passes=1, city="Oslo")
    [fact] = await memory.facts.create([FactDraft(content="Likes tea", key="tea")], origin=ON_THE_PAGE)
    words = FinishedWords(
        thread_id=ThreadId(thread_id),
        turn=0,
        message_ids=["h0"],
        user_text="My bicycle is red",
        assistant_text="Noted",
        finished_at=datetime.now(UTC),
    )
    assert await memory.episodes.record(words)
    [episode] = (await memory.episodes.page(limit=1)).episodes
    ids = {"fact_id": fact.id, "episode_id": episode.id, "thread_id": thread_id}
    return {**ids, "user_id": user_id, "key": "city"}


@pytest.fixture
async def api(database_url: str) -> AsyncGenerator[Api]:
    async with running_api(HomeInPostgres(database_url), **LIMITS) as api:
        yield api


@pytest.fixture
async def bos_ids(api: Api) -> Ids:
    return await settle(api, BO)


async def belongings(url: str, api: Api, user_id: str) -> Mapping[str, Sequence[str]]:
    """Every row of every table that names the user, as PostgreSQL writes it, and the user's threads."""
    found = {"threads": [f"{one} {api.server.metadata[one]}" for one in await api.server.threads_of(UserId(user_id))]}
    async with await psycopg.AsyncConnection.connect(url) as connection:
        tables = await connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        for (table,) in await tables.fetchall():
            query = sql.SQL("SELECT t::text FROM {} t WHERE strpos(t::text, %s) + strpos(t::text, %s) > 0 ORDER BY 1")
            rows = await connection.execute(
                query.format(sql.Identifier(table)), (user_id, scope_label(UserId(user_id)))
            )
            found[table] = [row for (row,) in await rows.fetchall()]
    return found


any_requests = st.lists(
    st.sampled_from(sorted(OPERATIONS)).flatmap(lambda label: planned(OPERATIONS[label], whose=["own", "bos"])),
    min_size=1,
    max_size=4,
)


@examples(25, share=10)
@given(requests=any_requests)
async def test_any_request_is_answered_as_described_and_touches_nothing_of_others(
    requests: list[Planned], api: Api, bos_ids: Ids, database_url: str
) -> None:
    caller = f"ana-{uuid4()}"
    ids = {"own": await settle(api, caller), "bos": bos_ids}
    before = await belongings(database_url, api, BO)
    async with api.client(caller) as client:
        for planned_request in requests:
            case = planned_request.with_ids(ids)
            response = await answer(client, case)
            if response is not None:
                judge(case, response)
    assert await belongings(database_url, api, BO) == before
    assert sum(map(len, before.values())) >= 5


@examples(8, share=50)
@given(request_=planned(OPERATIONS[ADMIN], whose=["own"]))
async def test_an_administrator_erases_only_who_is_named(
    request_: Planned, api: Api, bos_ids: Ids, database_url: str
) -> None:
    before = await belongings(database_url, api, BO)
    somebody = f"ana-{uuid4()}"
    case = request_.with_ids({"own": await settle(api, somebody)})
    async with api.client("root", "admin") as client:
        response = await answer(client, case)
    if response is not None:
        judge(case, response)
    assert await belongings(database_url, api, BO) == before


def own_requests(label: str) -> st.SearchStrategy[Planned]:
    return planned(OPERATIONS[label], whose=["own"])


def names_of(operation: Any) -> set[str]:
    return {parameter.name for parameter in operation.iter_parameters()}


@examples(20, share=20)
@given(
    request_=st.sampled_from(sorted(set(OPERATIONS) - OPEN)).flatmap(own_requests),
    name=texts.map(lambda text: text.encode("utf-8", "replace").decode()).filter(bool),
)
async def test_a_parameter_that_nobody_described_is_refused(request_: Planned, name: str, api: Api) -> None:
    caller = f"ana-{uuid4()}"
    case = request_.with_ids({"own": await settle(api, caller)})
    sent: Any = {**(case.query or {}), name: "1"}
    case.query = sent
    async with api.client(caller) as client:
        response = await answer(client, case)
    if response is not None and name not in names_of(case.operation):
        assert response.status_code in {400, 403, 404, 405}
        assert set(response.json()) == {"error"}


@examples(25, share=20)
@given(
    label=st.sampled_from(sorted(label for label in OPERATIONS if "_id}" in label and label != ADMIN)),
    text=texts.map(lambda text: text.encode("utf-8", "replace").decode() or "none"),
)
async def test_an_id_that_is_none_is_not_found(label: str, text: str, api: Api) -> None:
    method, path = label.split()
    query = {"version": 1} if label == "DELETE /api/memory/facts/{fact_id}" else {}
    body = {"version": 1, "content": "x"} if method == "PATCH" else None
    target = f"{path.partition('{')[0]}{quote(text, safe='')}"
    async with api.client(f"ana-{uuid4()}") as client:
        response = await client.request(method, target, params=query, json=body, follow_redirects=True)
    assert response.status_code in {400, 404, 405}, response.text
    assert set(response.json()) == {"error"}


@examples(10, share=50)
@given(name=texts.map(lambda text: text.encode("utf-8", "replace").decode()).filter(bool))
async def test_a_stream_is_not_opened_by_a_request_that_says_anything(name: str, api: Api) -> None:
    async with api.client("ana") as client:
        response = await client.get(STREAMS, params={name: "1"})
    assert response.status_code == 400
