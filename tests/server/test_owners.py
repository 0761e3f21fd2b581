"""A real server: what is somebody else's answers like what is not there, and is never listed."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient

from tests.support.langgraph_server import RunningServer
from tests.support.two_users import BO, BOS_ID, MISSING, NEXT_YEAR, Belongings, drain, http, join, status_of, wait

pytestmark = [pytest.mark.anyio, pytest.mark.server]

Call = Callable[[LangGraphClient, str], Awaitable[Any]]

THREAD_CALLS: dict[str, Call] = {
    "get": lambda c, t: c.threads.get(t),
    "update": lambda c, t: c.threads.update(t, metadata={"title": "Bergen"}),
    "delete": lambda c, t: c.threads.delete(t),
    "state": lambda c, t: c.threads.get_state(t),
    "state at a checkpoint": lambda c, t: c.threads.get_state(t, checkpoint_id=MISSING),
    "change of state": lambda c, t: c.threads.update_state(t, {"hold": False}),
    "history": lambda c, t: c.threads.get_history(t),
    "prune": lambda c, t: c.threads.prune([t]),
    "start a run": lambda c, t: c.runs.create(t, "agent", input={}),
    "start a run or make the thread": lambda c, t: c.runs.create(t, "agent", input={}, if_not_exists="create"),
    "run and wait": lambda c, t: wait(c, t, "agent"),
    "run and stream": lambda c, t: drain(c.runs.stream(t, "agent", input={})),
    "list runs": lambda c, t: c.runs.list(t),
    "cron on the thread": lambda c, t: c.crons.create_for_thread(t, "agent", schedule=NEXT_YEAR, input={}),
}
RUN_CALLS: dict[str, Callable[[LangGraphClient, str, str], Awaitable[Any]]] = {
    "get": lambda c, t, r: c.runs.get(t, r),
    "join": join,
    "cancel": lambda c, t, r: c.runs.cancel(t, r),
    "cancel and wait": lambda c, t, r: c.runs.cancel(t, r, wait=True),
    "cancel some": lambda c, t, r: c.runs.cancel_many(thread_id=t, run_ids=[r]),
    "cancel all": lambda c, _t, _r: c.runs.cancel_many(status="all"),
    "delete": lambda c, t, r: c.runs.delete(t, r),
}
ASSISTANT_CALLS: dict[str, Call] = {
    "get": lambda c, a: c.assistants.get(a),
    "graph": lambda c, a: c.assistants.get_graph(a),
    "schemas": lambda c, a: c.assistants.get_schemas(a),
    "subgraphs": lambda c, a: c.assistants.get_subgraphs(a),
    "versions": lambda c, a: c.assistants.get_versions(a),
    "run": lambda c, a: wait(c, None, a),
}
ASSISTANT_CHANGES: dict[str, Call] = {
    "update": lambda c, a: c.assistants.update(a, name="theirs"),
    "set version": lambda c, a: c.assistants.set_latest(a, 1),
    "delete": lambda c, a: c.assistants.delete(a),
}
CRON_CALLS: dict[str, Call] = {
    "update": lambda c, i: c.crons.update(i, schedule="0 0 2 1 *"),
    "delete": lambda c, i: c.crons.delete(i),
}
STORE_CALLS: dict[str, Callable[[LangGraphClient, list[str]], Awaitable[Any]]] = {
    "put": lambda c, n: c.store.put_item(n, "k", {"v": "theirs"}),
    "get": lambda c, n: c.store.get_item(n, "k"),
    "delete": lambda c, n: c.store.delete_item(n, "k"),
    "search": lambda c, n: c.store.search_items(n),
    "list namespaces": lambda c, n: c.store.list_namespaces(prefix=n),
}


async def test_what_a_user_makes_is_theirs(anas: Belongings, ana: LangGraphClient) -> None:
    thread, run = await ana.threads.get(anas.thread_id), await ana.runs.get(anas.thread_id, anas.run_id)
    assert (thread["metadata"] or {})["owner"] == (run["metadata"] or {})["owner"] == "ana"
    assert (await ana.assistants.get(anas.assistant_id))["metadata"] == {"owner": "ana"}


@pytest.mark.parametrize("call", THREAD_CALLS)
async def test_somebody_elses_thread_answers_like_a_missing_one(
    call: str, anas: Belongings, ana: LangGraphClient, bo: LangGraphClient
) -> None:
    assert await status_of(THREAD_CALLS[call](bo, anas.thread_id)) == 404
    thread = await ana.threads.get(anas.thread_id)
    assert (thread["metadata"] or {})["title"] == "Oslo"


@pytest.mark.parametrize("call", RUN_CALLS)
async def test_somebody_elses_run_answers_like_a_missing_one(
    call: str, anas: Belongings, ana: LangGraphClient, bo: LangGraphClient
) -> None:
    assert await status_of(RUN_CALLS[call](bo, anas.thread_id, anas.run_id)) == 404
    assert (await ana.runs.get(anas.thread_id, anas.run_id))["status"] in ("pending", "running")


async def test_the_stream_of_somebody_elses_run_or_thread_holds_nothing(
    two_users: RunningServer, anas: Belongings, bo: LangGraphClient
) -> None:
    parts = await drain(bo.runs.join_stream(anas.thread_id, anas.run_id))
    async with http(two_users, BO) as requests:
        streamed = await requests.get(f"/threads/{anas.thread_id}/stream")

    assert [part.event for part in parts] == ["error"]
    assert "404" in json.dumps(parts[0].data)
    assert streamed.status_code == 404 or "404" in streamed.text


async def test_the_event_stream_and_the_commands_of_somebody_elses_thread_do_nothing(
    two_users: RunningServer, anas: Belongings
) -> None:
    """Another protocol over the same threads; it answers 200 and puts its refusal into the body."""
    command: dict[str, Any] = {"id": 1, "method": "run.start", "params": {"assistant_id": "agent", "input": {}}}
    async with http(two_users, BO) as requests:
        events = await requests.post(f"/threads/{anas.thread_id}/stream/events", json={"channels": ["values"]})
        commanded = await requests.post(f"/threads/{anas.thread_id}/commands", json=command)

    assert "values" not in events.text
    assert commanded.json()["type"] == "error"
    assert "404" in commanded.json()["message"]


async def test_an_id_that_is_taken_is_not_given_out_again(anas: Belongings, bo: LangGraphClient) -> None:
    """The server answers 409 here, and to a copy of any thread that the caller does not have."""
    assert await status_of(bo.threads.create(thread_id=anas.thread_id)) == 409
    assert await status_of(bo.threads.create(thread_id=anas.thread_id, if_exists="do_nothing")) == 409
    assert await status_of(bo.assistants.create("agent", assistant_id=anas.assistant_id, if_exists="do_nothing")) == 409
    copies = [await status_of(bo.threads.copy(thread_id)) for thread_id in (anas.thread_id, MISSING)]
    assert copies == [409, 409]


async def test_nothing_of_somebody_else_is_listed_or_counted(
    anas: Belongings, ana: LangGraphClient, bo: LangGraphClient
) -> None:
    stamped = {"owner": "ana"}

    assert await bo.threads.search(metadata=stamped) == []
    assert await bo.threads.search(ids=[anas.thread_id]) == []
    assert await bo.threads.count(metadata=stamped) == 0
    assert await bo.crons.search() == []
    assert await bo.crons.count() == 0
    assert {assistant["graph_id"] for assistant in await bo.assistants.search()} == {"agent", "background_agent"}
    assert await bo.assistants.count() == 2
    assert anas.thread_id in {thread["thread_id"] for thread in await ana.threads.search()}


@pytest.mark.parametrize("call", {**ASSISTANT_CALLS, **ASSISTANT_CHANGES})
async def test_somebody_elses_assistant_answers_like_a_missing_one(
    call: str, anas: Belongings, ana: LangGraphClient, bo: LangGraphClient
) -> None:
    attempt = {**ASSISTANT_CALLS, **ASSISTANT_CHANGES}[call]

    assert await status_of(attempt(bo, anas.assistant_id)) == 404
    assert (await ana.assistants.get(anas.assistant_id))["name"] == "mine"


@pytest.mark.parametrize("call", ASSISTANT_CALLS)
async def test_the_graphs_own_assistants_serve_everybody(call: str, bo: LangGraphClient) -> None:
    own = (await bo.assistants.search(graph_id="agent"))[0]["assistant_id"]

    assert await status_of(ASSISTANT_CALLS[call](bo, own)) == 200


@pytest.mark.parametrize("call", ASSISTANT_CHANGES)
async def test_the_graphs_own_assistants_are_nobodys_to_change(call: str, bo: LangGraphClient) -> None:
    own = (await bo.assistants.search(graph_id="agent"))[0]

    assert await status_of(ASSISTANT_CHANGES[call](bo, own["assistant_id"])) == 404
    assert (await bo.assistants.get(own["assistant_id"]))["name"] == own["name"]


async def test_an_assistant_cannot_be_given_to_everybody_or_to_somebody(bo: LangGraphClient) -> None:
    made = await bo.assistants.create("agent", metadata={"created_by": "system", "owner": "ana"})
    changed = await bo.assistants.update(made["assistant_id"], metadata={"created_by": "system", "owner": "ana"})
    await bo.assistants.delete(made["assistant_id"])

    assert made["metadata"] == changed["metadata"] == {"owner": BOS_ID}


async def test_a_thread_cannot_be_given_away(ana: LangGraphClient, bo: LangGraphClient) -> None:
    made = await bo.threads.create(metadata={"owner": "ana"})
    changed = await bo.threads.update(made["thread_id"], metadata={"owner": "ana"})

    assert made["metadata"] == changed["metadata"] == {"owner": BOS_ID}
    assert await status_of(ana.threads.get(made["thread_id"])) == 404


async def test_a_copy_of_ones_own_thread_stays_ones_own(bo: LangGraphClient) -> None:
    made = await bo.threads.create()
    await bo.threads.copy(made["thread_id"])

    owners = {(thread["metadata"] or {}).get("owner") for thread in await bo.threads.search(limit=100)}
    assert owners == {BOS_ID}


@pytest.mark.parametrize("call", CRON_CALLS)
async def test_somebody_elses_cron_answers_like_a_missing_one(
    call: str, two_users: RunningServer, anas: Belongings, ana: LangGraphClient, bo: LangGraphClient
) -> None:
    assert await status_of(CRON_CALLS[call](bo, anas.cron_id)) == 404
    async with http(two_users, BO) as requests:
        assert (await requests.get(f"/runs/crons/{anas.cron_id}")).status_code == 404
    assert [cron["schedule"] for cron in await ana.crons.search()] == [NEXT_YEAR]


@pytest.mark.parametrize("call", STORE_CALLS)
@pytest.mark.parametrize(
    "namespace", [["ana", "notes"], ["ana"], ["*"], ["*", "notes"], ["langgraph"], ["bo@example", "x"]]
)
async def test_a_namespace_that_is_not_the_callers_is_not_there(
    call: str, namespace: list[str], anas: Belongings, ana: LangGraphClient, bo: LangGraphClient
) -> None:
    assert await status_of(STORE_CALLS[call](bo, namespace)) == 404
    item = await ana.store.get_item(["ana", "notes"], "k")
    assert item["value"] == {"v": "hers"}


async def test_the_store_shows_the_caller_their_own_and_only_that(anas: Belongings, bo: LangGraphClient) -> None:
    label = "bo=40example=2Eorg"
    await bo.store.put_item([label, "notes"], "k", {"v": "theirs"})

    assert (await bo.store.list_namespaces())["namespaces"] == [[label, "notes"]]
    assert (await bo.store.list_namespaces(suffix=["notes"]))["namespaces"] == [[label, "notes"]]
    assert [item["value"] for item in (await bo.store.search_items([]))["items"]] == [{"v": "theirs"}]
