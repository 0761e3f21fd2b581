"""Facts and episodes on the server as delivered: said in one thread, known in another, seen and erased over HTTP."""

from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient

from tests.support.conditions import eventually
from tests.support.model_server import call, text, tool_calls
from tests.support.product import Product
from tests.support.sdk_chat import messages_of, stream_turn

pytestmark = [pytest.mark.anyio, pytest.mark.server]


@pytest.fixture
async def http(product: Product) -> AsyncGenerator[httpx.AsyncClient]:
    """Over a memory that is empty before and after."""
    async with httpx.AsyncClient(base_url=product.url, timeout=30) as http:
        assert (await http.delete("/api/memory")).is_success
        yield http
        assert (await http.delete("/api/memory")).is_success


async def episodes(http: httpx.AsyncClient) -> list[dict[str, Any]]:
    return (await http.get("/api/memory/episodes")).json()["episodes"]


async def facts(http: httpx.AsyncClient) -> list[dict[str, Any]]:
    return (await http.get("/api/memory/facts")).json()["facts"]


async def test_a_fact_that_was_added_over_http_is_known_in_the_next_turn_of_any_thread(
    client: LangGraphClient, product: Product, http: httpx.AsyncClient
) -> None:
    thread = await client.threads.create()
    await stream_turn(client, thread["thread_id"], "hi")
    created = await http.post("/api/memory/facts", json={"content": "Always answer in verse"})
    assert created.status_code == 201

    async def goes_on_knowing() -> bool:
        await stream_turn(client, thread["thread_id"], "and now?")
        return "Always answer in verse" in str(product.model.for_model("chat")[-1].messages)

    await eventually(goes_on_knowing)
    other = await client.threads.create()
    await stream_turn(client, other["thread_id"], "hi")
    assert "Always answer in verse" in product.model.for_model("chat")[-1].system_text


async def test_a_turn_becomes_an_episode_that_another_thread_recalls(
    client: LangGraphClient, product: Product, http: httpx.AsyncClient
) -> None:
    one, other = await client.threads.create(), await client.threads.create()
    product.model.then(text("A fine name for a kayak."), to="chat")
    await stream_turn(client, one["thread_id"], "My kayak is called Wanderer")

    async def is_kept() -> bool:
        return len(await episodes(http)) == 1

    await eventually(is_kept, timeout_seconds=30)
    await stream_turn(client, other["thread_id"], "What is my kayak called?")
    assert "Wanderer" in product.model.for_model("chat")[-1].last_note
    kept = await messages_of(client, other["thread_id"])
    assert kept[0]["content"] == "What is my kayak called?", "the state has what the user wrote"
    receipt = kept[-1]["response_metadata"]["memory"]["recalled"]
    assert receipt["ids"] == [(await episodes(http))[0]["id"]]

    found = (await http.get("/api/memory/search", params={"q": "kayak"})).json()["results"]
    assert found[0]["kind"] == "episode"
    assert found[0]["score"] == pytest.approx(sum(found[0]["parts"].values()))


async def test_the_model_keeps_a_fact_with_its_tool(
    client: LangGraphClient, product: Product, http: httpx.AsyncClient
) -> None:
    thread = await client.threads.create()
    arguments: dict[str, Any] = {"action": "create", "facts": [{"content": "The build server is called Marvin"}]}
    product.model.then(tool_calls(call("manage_memory", arguments)), text("Noted."), to="chat")
    turn = await stream_turn(client, thread["thread_id"], "The build server is called Marvin, remember that")
    assert turn.errors == []
    [fact] = await facts(http)
    assert fact["content"] == "The build server is called Marvin"
    assert (fact["said_by"], fact["thread_id"]) == ("assistant", thread["thread_id"])


async def test_a_block_that_the_model_repeats_is_neither_streamed_nor_kept(
    client: LangGraphClient, product: Product, http: httpx.AsyncClient
) -> None:
    thread = await client.threads.create()
    product.model.then(text("Of course.\n<facts>\n{}\n</facts>\nDone."), to="chat")
    turn = await stream_turn(client, thread["thread_id"], "hi")
    kept = (await messages_of(client, thread["thread_id"]))[-1]["content"]
    assert "facts" not in kept
    assert turn.text == kept
    assert kept.startswith("Of course.")
    assert kept.endswith("Done.")

    async def is_recorded() -> bool:
        return bool(await episodes(http))

    await eventually(is_recorded, timeout_seconds=30)
    assert "<facts>" not in (await episodes(http))[0]["content"]


async def test_after_erasing_nothing_is_known_and_the_chat_goes_on(
    client: LangGraphClient, product: Product, http: httpx.AsyncClient
) -> None:
    thread = await client.threads.create()
    await http.post("/api/memory/facts", json={"content": "plays chess on Mondays"})
    await stream_turn(client, thread["thread_id"], "hi")
    export = (await http.get("/api/memory/export")).json()
    assert [fact["content"] for fact in export["facts"]] == ["plays chess on Mondays"]
    erased = (await http.delete("/api/memory")).json()
    assert erased["facts"] == 1

    async def is_unknown() -> bool:
        await stream_turn(client, thread["thread_id"], "and now?")
        return "chess" not in str(product.model.for_model("chat")[-1].messages)

    await eventually(is_unknown)
