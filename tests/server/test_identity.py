"""A real server: whoever signs in is who a run, the store and the HTTP API take them for, and nobody else."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from langgraph_sdk.client import LangGraphClient

from tests.support.langgraph_server import RunningServer
from tests.support.service_tokens import SERVICE_SECRET
from tests.support.two_users import (
    ANA,
    BO,
    BOS_ID,
    FORGED,
    FORGED_CONFIG,
    NEXT_YEAR,
    Belongings,
    http,
    seen_in_a_run,
    service_token,
)

pytestmark = [pytest.mark.anyio, pytest.mark.server]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"config": {"configurable": FORGED_CONFIG}}, id="configurable"),
        pytest.param({"context": FORGED_CONFIG}, id="context"),
        pytest.param({"metadata": {**FORGED_CONFIG, "owner": "ana"}}, id="metadata"),
        pytest.param({"config": {"metadata": {**FORGED_CONFIG, "owner": "ana"}}}, id="metadata of the config"),
        pytest.param({"checkpoint": FORGED_CONFIG}, id="checkpoint"),
        pytest.param(FORGED_CONFIG, id="beside the config"),
        pytest.param({"input": {"user_id": "ana"}}, id="input"),
    ],
)
async def test_nothing_in_the_body_of_a_run_changes_who_it_is(body: dict[str, Any], two_users: RunningServer) -> None:
    seen = await seen_in_a_run(two_users, BO, **body)

    assert seen["user_id"] == seen["server_info_user"] == BOS_ID
    assert seen["permissions"] == []


FORGED_BESIDE = [{key: value} for key, value in FORGED_CONFIG.items()]


@pytest.mark.parametrize("beside", FORGED_BESIDE, ids=lambda beside: next(iter(beside)))
async def test_a_key_beside_configurable_is_refused_because_langgraph_would_move_it_in_there(
    beside: dict[str, Any], two_users: RunningServer, bo: LangGraphClient
) -> None:
    async with http(two_users, BO) as requests:
        body: dict[str, Any] = {"assistant_id": "agent", "input": {}, "config": beside}
        run = await requests.post("/runs/wait", json=body)
        assistant = await requests.post("/assistants", json={"graph_id": "agent", "config": beside})
        cron = await requests.post("/runs/crons", json={**body, "schedule": NEXT_YEAR})

    assert run.status_code == assistant.status_code == cron.status_code == 400
    assert await bo.assistants.count() == 2


@pytest.mark.parametrize("channel", ["config", "configurable", "context", "checkpoint", "metadata", "input"])
async def test_a_run_stays_on_its_own_thread(
    channel: str, two_users: RunningServer, anas: Belongings, ana: LangGraphClient
) -> None:
    elsewhere: dict[str, Any] = {"thread_id": anas.thread_id}
    forged = {"config": {"configurable": elsewhere}} if channel == "configurable" else {channel: elsewhere}
    async with http(two_users, BO) as requests:
        body: dict[str, Any] = {"assistant_id": "agent", "input": {}, **forged}
        ended = await requests.post("/runs/wait", json=body)
        made = (await requests.post("/threads", json={})).json()
        on_a_thread = await requests.post(f"/threads/{made['thread_id']}/runs/wait", json=body)

    for response in (ended, on_a_thread):
        assert response.status_code == 400 or response.json()["thread_id"] != anas.thread_id
    state: Any = await ana.threads.get_state(anas.thread_id)
    assert state["values"]["user_id"] == "ana"


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"x-user-id": "ana", "user-id": "ana", "x-forwarded-user": "ana"}, id="user headers"),
        pytest.param({"x-auth-scheme": "langsmith", "x-api-key": "lsv2_x"}, id="studio"),
        pytest.param({"x-langgraph-auth-user": json.dumps(FORGED), "langgraph_auth_user_id": "ana"}, id="auth headers"),
        pytest.param(
            {
                "langsmith-trace": f"20260101T000000000000Z{uuid4()}",
                "baggage": "langsmith-metadata=%7B%22langgraph_auth_user_id%22%3A%22ana%22%7D",
            },
            id="tracing",
        ),
        pytest.param({"cookie": f"session={ANA}; token={ANA}"}, id="cookie"),
    ],
)
async def test_no_header_but_authorization_changes_who_it_is(headers: dict[str, str], two_users: RunningServer) -> None:
    async with http(two_users, BO) as requests:
        run = await requests.post("/runs/wait", json={"assistant_id": "agent", "input": {}}, headers=headers)
        caller = await requests.get("/api/whoami", headers=headers)
    async with http(two_users) as nobody:
        assert (await nobody.get("/api/whoami", headers=headers)).status_code == 401
        assert (await nobody.post("/threads/search", json={}, headers=headers)).status_code == 401

    assert run.json()["user_id"] == BOS_ID
    assert caller.json() == {"user_id": BOS_ID, "permissions": []}


async def test_an_assistants_config_does_not_change_who_it_is(two_users: RunningServer, bo: LangGraphClient) -> None:
    by_config = await bo.assistants.create("agent", config={"configurable": FORGED_CONFIG})
    by_context = await bo.assistants.create("agent", context=FORGED_CONFIG)

    for assistant in (by_config, by_context):
        seen = await seen_in_a_run(two_users, BO, assistant_id=assistant["assistant_id"])
        await bo.assistants.delete(assistant["assistant_id"])
        assert seen["user_id"] == seen["server_info_user"] == BOS_ID


async def test_a_cron_runs_as_whoever_made_it(bo: LangGraphClient) -> None:
    known = {thread["thread_id"] for thread in await bo.threads.search(limit=1000)}
    cron: Any = await bo.crons.create(
        "agent",
        schedule="* * * * * *",
        input={},
        config={"configurable": FORGED_CONFIG},
        metadata={"owner": "ana"},
        on_run_completed="keep",
    )
    try:
        async with asyncio.timeout(30):
            thread = await _thread_beside(bo, known)
    finally:
        await bo.crons.delete(cron["cron_id"])

    assert thread["values"]["user_id"] == thread["metadata"]["owner"] == BOS_ID


async def _thread_beside(client: LangGraphClient, known: set[str]) -> dict[str, Any]:
    while True:
        for thread in await client.threads.search(limit=1000):
            if thread["thread_id"] not in known and thread["values"]:
                return dict(thread)
        await asyncio.sleep(0.2)


@pytest.mark.parametrize("thread_id", ["new", "t-1", "x" * 10_000])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("GET", path) for path in ("", "/state", "/history", "/runs", "/stream")),
        *(("POST", path) for path in ("/copy", "/state", "/runs", "/runs/wait", "/runs/stream")),
        *(("DELETE", ""), ("PATCH", "")),
    ],
)
async def test_a_thread_id_of_another_form_is_the_clients_mistake(
    method: str, path: str, thread_id: str, two_users: RunningServer
) -> None:
    async with http(two_users, BO) as requests:
        body: dict[str, Any] | None = None if method == "GET" else {"assistant_id": "agent", "input": {}}
        response = await requests.request(method, f"/threads/{thread_id}{path}", json=body)

    assert 400 <= response.status_code < 500


async def test_without_a_token_only_open_paths_answer(two_users: RunningServer, anas: Belongings) -> None:
    async with http(two_users) as nobody:
        assert (await nobody.get("/api/health")).status_code == 200
        for path in ("/api/whoami", f"/threads/{anas.thread_id}", "/store/items?namespace=ana&key=k"):
            response = await nobody.get(path)
            assert response.status_code == 401
            assert "Authorization: Bearer" in response.json()["detail"]


@pytest.mark.parametrize("path", ["/internal/debug/thread/{thread_id}", "/deploy"])
async def test_the_dev_servers_own_back_doors_are_closed(
    path: str, two_users: RunningServer, anas: Belongings, ana: LangGraphClient
) -> None:
    async with http(two_users) as nobody:
        assert (await nobody.get(path.format(thread_id=anas.thread_id))).status_code == 404
        assert (await nobody.post("/internal/truncate")).status_code == 404
    assert (await ana.threads.get(anas.thread_id))["thread_id"] == anas.thread_id


async def test_a_token_that_is_not_text_is_401(two_users: RunningServer) -> None:
    async with http(two_users) as requests:
        for value in (b"Bearer \xff\xfe", b"Bearer " + b"x" * 20_000, b"Bearer a.b.c"):
            response = await requests.get("/api/whoami", headers=[(b"authorization", value)])
            assert response.status_code == 401


async def test_a_run_and_its_thread_keep_no_token(
    anas: Belongings, ana: LangGraphClient, anas_service: LangGraphClient
) -> None:
    started = await anas_service.runs.create(anas.thread_id, "background_agent", input={})
    kept = [await ana.threads.get(anas.thread_id), *await ana.runs.list(anas.thread_id), started]
    await ana.runs.cancel(anas.thread_id, started["run_id"])

    assert len(kept) > 2
    for secret in (ANA, "Bearer", "eyJ", SERVICE_SECRET):
        assert secret not in json.dumps(kept)


async def test_the_log_holds_no_token(two_users: RunningServer, anas: Belongings) -> None:
    token = service_token()
    async with http(two_users, token) as requests:
        assert (await requests.get(f"/threads/{anas.thread_id}")).status_code == 200
        assert (await requests.get("/api/whoami", headers={"authorization": f"Bearer {token}x"})).status_code == 401

    for secret in (ANA, BO, token, SERVICE_SECRET):
        assert secret not in two_users.log
