import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient

from tests.support.conditions import eventually
from tests.support.model_server import error, structured, text
from tests.support.product import Product
from tests.support.sdk_chat import messages_of, metadata_when, stream_turn, values_of

pytestmark = [pytest.mark.anyio, pytest.mark.server]

JS_CLIENT = Path(__file__).parents[2] / "js" / "stream_turn.mjs"


async def test_an_answer_streams_token_by_token_and_is_kept(client: LangGraphClient) -> None:
    thread = await client.threads.create()
    turn = await stream_turn(client, thread["thread_id"], "hi")
    assert turn.errors == []
    kept = await messages_of(client, thread["thread_id"])
    assert [(message["type"], message["content"]) for message in kept] == [("human", "hi"), ("ai", "Hello there.")]
    assert turn.texts == {kept[-1]["id"]: "Hello there."}


async def test_the_thread_gets_its_title_and_its_last_message(client: LangGraphClient) -> None:
    thread = await client.threads.create()
    await stream_turn(client, thread["thread_id"], "hi")
    metadata = await metadata_when(client, thread["thread_id"], "last_message_at")
    assert metadata["title"] == "A fine title"
    assert metadata["last_message_preview"] == "Hello there."


async def test_background_runs_leave_no_thread_behind(client: LangGraphClient) -> None:
    thread = await client.threads.create()
    await stream_turn(client, thread["thread_id"], "hi")
    await metadata_when(client, thread["thread_id"], "last_message_at")

    async def only_chats_are_listed() -> bool:
        listed = await client.threads.search(limit=1000)
        assert thread["thread_id"] in {one["thread_id"] for one in listed}
        return all(one["metadata"]["graph_id"] == "agent" for one in listed if one["metadata"])

    await eventually(only_chats_are_listed)


async def test_a_chat_does_not_wait_for_another_chat(client: LangGraphClient, product: Product) -> None:
    slow, fast = await client.threads.create(), await client.threads.create()
    gate = product.model.hold(lambda asked: asked.model == "chat" and asked.last_human_text == "slow")
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(stream_turn(client, slow["thread_id"], "slow"))
        await product.model.wait_until(lambda: gate.waiting)
        turn = await stream_turn(client, fast["thread_id"], "fast")
        assert not waiting.done()
        gate.release()
    assert turn.text == "Hello there."
    assert turn.first_token_seconds is not None
    assert turn.first_token_seconds < 2.0


async def test_a_cancelled_turn_does_not_kill_the_thread(client: LangGraphClient, product: Product) -> None:
    thread = await client.threads.create()
    gate = product.model.hold("chat")
    run = await client.runs.create(
        thread["thread_id"], "agent", input={"messages": [{"role": "human", "content": "first"}]}
    )
    await product.model.wait_until(lambda: gate.waiting)
    await client.runs.cancel(thread["thread_id"], run["run_id"], wait=True)
    gate.release()
    turn = await stream_turn(client, thread["thread_id"], "second")
    assert (turn.text, turn.errors) == ("Hello there.", [])
    kept = [message["content"] for message in await messages_of(client, thread["thread_id"])]
    assert kept == ["first", "second", "Hello there."]


async def test_a_failing_model_is_reported_with_a_sentence_and_the_next_turn_works(
    client: LangGraphClient, product: Product
) -> None:
    thread = await client.threads.create()
    product.model.then(error(503, "overloaded"), to="chat")
    failed = await stream_turn(client, thread["thread_id"], "hi")
    assert "ModelUnavailable" in json.dumps(failed.errors)
    turn = await stream_turn(client, thread["thread_id"], "are you there?")
    assert turn.text == "Hello there."


async def test_an_edit_of_an_earlier_message_starts_a_branch(client: LangGraphClient, product: Product) -> None:
    thread_id = (await client.threads.create())["thread_id"]
    product.model.then(text("One."), text("Two."), text("Three."), to="chat")
    await stream_turn(client, thread_id, "first")
    await stream_turn(client, thread_id, "second")
    history = await client.threads.get_history(thread_id, limit=100)
    before_second = next(
        state
        for state in history
        if [message["content"] for message in values_of(state).get("messages", [])] == ["first", "One."]
        and not state["next"]
    )
    await stream_turn(client, thread_id, "another second", checkpoint_id=before_second["checkpoint"]["checkpoint_id"])
    kept = [message["content"] for message in await messages_of(client, thread_id)]
    assert kept == ["first", "One.", "another second", "Three."]


async def test_a_copied_thread_goes_on_by_itself(client: LangGraphClient) -> None:
    thread_id = (await client.threads.create())["thread_id"]
    await stream_turn(client, thread_id, "first")
    copy: Any = await client.threads.copy(thread_id)
    await stream_turn(client, copy["thread_id"], "only in the copy")
    assert len(await messages_of(client, copy["thread_id"])) == 4
    assert len(await messages_of(client, thread_id)) == 2


async def test_the_javascript_sdk_streams_the_same_answer(product: Product) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    done = await asyncio.to_thread(
        subprocess.run,
        [node, str(JS_CLIENT), product.url, "hi"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"text": "Hello there.", "kept": ["hi", "Hello there."]}


class TestBadInput:
    @pytest.mark.parametrize("thread_id", ["new", "t-1", "x" * 10_000], ids=["word", "number", "endless"])
    @pytest.mark.parametrize("path", ["", "/state", "/history", "/runs"])
    async def test_a_thread_id_that_is_no_uuid_is_the_clients_error(
        self, thread_id: str, path: str, product: Product
    ) -> None:
        async with httpx.AsyncClient(base_url=product.url) as http:
            response = await http.get(f"/threads/{thread_id}{path}")
            started = await http.post(f"/threads/{thread_id}/runs", json={"assistant_id": "agent", "input": {}})
        assert 400 <= response.status_code < 500
        assert 400 <= started.status_code < 500

    async def test_a_thread_that_does_not_exist_is_not_found(self, product: Product) -> None:
        async with httpx.AsyncClient(base_url=product.url) as http:
            assert (await http.get(f"/threads/{uuid4()}")).status_code == 404

    async def test_an_unknown_assistant_is_the_clients_error(self, product: Product) -> None:
        async with httpx.AsyncClient(base_url=product.url) as http:
            response = await http.post("/runs/wait", json={"assistant_id": "nobody", "input": {"messages": []}})
        assert 400 <= response.status_code < 500

    async def test_an_oversized_body_is_refused(self, product: Product) -> None:
        async with httpx.AsyncClient(base_url=product.url) as http:
            response = await http.post("/threads", content=b"x" * 20_000_001)
        assert response.status_code == 413

    @pytest.mark.parametrize(
        "user_id",
        [
            "ana.lopez@example.org",
            42,
            "",
            "   ",
            "langgraph",
            "a\x00b",
            "Jos\u00e9",
            "Jose\u0301",
            "x" * 10_000,
            ["ana"],
        ],
        ids=["e-mail", "integer", "empty", "blank", "reserved", "NUL", "composed", "decomposed", "endless", "list"],
    )
    async def test_no_user_id_breaks_the_chat(self, user_id: object, client: LangGraphClient) -> None:
        thread = await client.threads.create()
        turn = await stream_turn(client, thread["thread_id"], "hi", config={"configurable": {"user_id": user_id}})
        assert (turn.text, turn.errors) == ("Hello there.", [])


async def test_health_tells_what_works_and_no_secret(product: Product) -> None:
    async with httpx.AsyncClient(base_url=product.url) as http:
        response = await http.get("/api/health")
    health = response.json()
    assert response.status_code == 200
    assert health["status"] == "ok"
    assert health["database"]["ok"]
    assert health["model"]["names"] == {role: role for role in ("chat", "router", "title", "summary")}
    assert "test-key" not in response.text


async def test_studio_is_shown_both_graphs_with_their_nodes_and_a_chat_input(client: LangGraphClient) -> None:
    graphs = {one["graph_id"]: one for one in await client.assistants.search()}
    assert set(graphs) == {"agent", "background_agent"}
    assert all(one["description"] for one in graphs.values())
    drawn = await client.assistants.get_graph(graphs["agent"]["assistant_id"])
    assert {node["id"] for node in drawn["nodes"]} >= {
        "router_agent", "rename_thread_agent", "weather_agent", "chat_agent", "crypto_agent", "code_agent",
        "trigger_background_agent",
    }  # fmt: skip
    schemas: Any = await client.assistants.get_schemas(graphs["agent"]["assistant_id"])
    assert schemas["input_schema"]["properties"]["messages"]["type"] == "array"


async def test_routing_and_naming_models_are_asked_once_for_a_first_turn(
    client: LangGraphClient, product: Product
) -> None:
    thread = await client.threads.create()
    product.model.when("router", structured({"subagent": "code_agent"}))
    await stream_turn(client, thread["thread_id"], "hi")
    assert [len(product.model.for_model(role)) for role in ("router", "title", "chat")] == [1, 1, 1]
