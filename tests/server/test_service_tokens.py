"""A real server: what a token may do that a run signs for itself."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient

from tests.support.langgraph_server import RunningServer
from tests.support.service_tokens import signed
from tests.support.two_users import (
    BOS_ID,
    MISSING,
    NEXT_YEAR,
    Belongings,
    client,
    http,
    seen_in_a_run,
    service_token,
    status_of,
)

pytestmark = [pytest.mark.anyio, pytest.mark.server]


async def test_a_service_token_starts_a_background_run_as_its_user(two_users: RunningServer) -> None:
    seen = await seen_in_a_run(two_users, service_token(), assistant_id="background_agent")

    assert seen["user_id"] == seen["server_info_user"] == "ana"
    assert seen["permissions"] == ["service"]


async def test_the_temporary_thread_of_a_background_run_goes_away(
    ana: LangGraphClient, anas_service: LangGraphClient
) -> None:
    run = await anas_service.runs.create(None, "background_agent", input={})

    async with asyncio.timeout(20):
        while await status_of(ana.threads.get(run["thread_id"])) != 404:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def test_a_service_token_reads_its_users_thread_and_changes_its_metadata(
    anas: Belongings, anas_service: LangGraphClient
) -> None:
    assert (await anas_service.threads.get(anas.thread_id))["thread_id"] == anas.thread_id
    state: Any = await anas_service.threads.get_state(anas.thread_id)
    assert state["values"]["user_id"] == "ana"
    changed = await anas_service.threads.update(anas.thread_id, metadata={"last_message_at": "now"})
    assert (changed["metadata"] or {})["owner"] == "ana"


REFUSED_TO_SERVICES: dict[str, Callable[[LangGraphClient, Belongings], Awaitable[Any]]] = {
    "chat run": lambda c, b: c.runs.create(b.thread_id, "agent", input={}),
    "run of an assistant": lambda c, b: c.runs.create(None, b.assistant_id, input={}),
    "cancel": lambda c, b: c.runs.cancel(b.thread_id, b.run_id),
    "new thread": lambda c, _: c.threads.create(),
    "change of state": lambda c, b: c.threads.update_state(b.thread_id, {"hold": False}),
    "copy": lambda c, b: c.threads.copy(b.thread_id),
    "list assistants": lambda c, _: c.assistants.search(),
    "assistant": lambda c, b: c.assistants.get(b.assistant_id),
    "new assistant": lambda c, _: c.assistants.create("agent"),
    "cron": lambda c, _: c.crons.create("background_agent", schedule=NEXT_YEAR, input={}),
    "list crons": lambda c, _: c.crons.search(),
    "store item": lambda c, _: c.store.get_item(["ana", "notes"], "k"),
    "store": lambda c, _: c.store.search_items([]),
}


@pytest.mark.parametrize("call", REFUSED_TO_SERVICES)
async def test_a_service_token_is_refused_everything_else(
    call: str, anas: Belongings, anas_service: LangGraphClient
) -> None:
    assert await status_of(REFUSED_TO_SERVICES[call](anas_service, anas)) == 403


async def test_a_service_token_does_not_delete_the_chat(anas: Belongings, anas_service: LangGraphClient) -> None:
    assert await status_of(anas_service.threads.delete(anas.thread_id)) == 404


async def test_a_service_token_lists_its_users_threads_only(two_users: RunningServer, anas: Belongings) -> None:
    async with client(two_users, service_token()) as service, client(two_users, service_token(BOS_ID)) as bos:
        assert [thread["thread_id"] for thread in await service.threads.search(ids=[anas.thread_id])]
        assert await bos.threads.search(ids=[anas.thread_id]) == []


async def test_a_token_for_erasing_deletes_its_users_threads_and_changes_nothing_else(
    two_users: RunningServer, anas: Belongings, ana: LangGraphClient
) -> None:
    made = await ana.threads.create()
    async with client(two_users, service_token(BOS_ID, "erase")) as bos:
        assert await status_of(bos.threads.delete(made["thread_id"])) == 404
    async with client(two_users, service_token("ana", "erase")) as eraser:
        assert await status_of(eraser.runs.list(made["thread_id"])) == 200
        assert await status_of(eraser.threads.update(made["thread_id"], metadata={"title": "x"})) == 403
        assert await status_of(eraser.threads.create()) == 403
        assert await status_of(eraser.runs.create(None, "background_agent", input={})) == 403
        assert await status_of(eraser.threads.delete(made["thread_id"])) == 200
    assert await status_of(ana.threads.get(made["thread_id"])) == 404


async def test_a_service_token_is_not_for_the_api(two_users: RunningServer) -> None:
    async with http(two_users, service_token()) as requests:
        assert (await requests.get("/api/whoami")).status_code == 403


async def test_a_service_token_reaches_its_own_user_only(two_users: RunningServer, anas: Belongings) -> None:
    async with client(two_users, service_token(BOS_ID)) as bos:
        assert await status_of(bos.threads.get(anas.thread_id)) == 404
        assert await status_of(bos.threads.get_state(anas.thread_id)) == 404
        assert await status_of(bos.threads.update(anas.thread_id, metadata={"title": "x"})) == 404
        assert await status_of(bos.runs.create(anas.thread_id, "background_agent", input={})) == 404


@pytest.mark.parametrize(
    "token",
    [
        pytest.param(signed(secret="another-secret-of-these-tests-012345"), id="another secret"),
        pytest.param(signed(typ="JWT"), id="posing as a user's"),
        pytest.param(signed(exp=1), id="expired"),
        pytest.param(signed(purpose="chat"), id="another purpose"),
    ],
)
async def test_a_service_token_that_is_not_in_order_is_401(token: str, two_users: RunningServer) -> None:
    async with http(two_users, token) as requests:
        assert (await requests.get(f"/threads/{MISSING}")).status_code == 401
