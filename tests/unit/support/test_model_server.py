import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from tests.support.model_server import (
    ModelServer,
    Reply,
    call,
    cut_off,
    disconnect,
    error,
    refusal,
    structured,
    text,
    tool_calls,
)

pytestmark = pytest.mark.anyio

H0 = {"role": "user", "content": "Hi"}
A0 = {"role": "assistant", "content": "Hello"}
CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}},
        {"id": "c2", "type": "function", "function": {"name": "look", "arguments": "{}"}},
    ],
}
T1 = {"role": "tool", "tool_call_id": "c1", "content": "one"}
T2 = {"role": "tool", "tool_call_id": "c2", "content": "two"}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
async def client(server: ModelServer) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"authorization": "Bearer secret-key"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, trust_env=False, timeout=30) as client:
        yield client


def asked(messages: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {"model": "chat", "messages": messages or [H0], **fields}


async def post(client: httpx.AsyncClient, messages: list[Any] | None = None, **fields: Any) -> httpx.Response:
    return await client.post("/chat/completions", json=asked(messages, **fields))


async def answer(client: httpx.AsyncClient, **fields: Any) -> str:
    response = await post(client, **fields)
    return response.json()["choices"][0]["message"]["content"]


async def streamed(client: httpx.AsyncClient, **fields: Any) -> list[dict[str, Any]]:
    body = asked(stream=True, **fields)
    async with client.stream("POST", "/chat/completions", json=body) as response:
        lines = [line.removeprefix("data: ") async for line in response.aiter_lines() if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def deltas(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]


async def test_a_text_comes_whole_with_its_usage(server: ModelServer, client: httpx.AsyncClient) -> None:
    server.then(text("It snows."))

    body = (await post(client)).json()

    assert body["choices"][0]["message"]["content"] == "It snows."
    assert body["choices"][0]["finish_reason"] == "stop"
    assert body["usage"]["total_tokens"] == body["usage"]["prompt_tokens"] + body["usage"]["completion_tokens"]


async def test_a_streamed_text_comes_in_pieces_that_join(server: ModelServer, client: httpx.AsyncClient) -> None:
    server.when("chat", text("It snows in Oslo."))

    plain = await streamed(client)
    with_usage = await streamed(client, stream_options={"include_usage": True})

    pieces = [delta.get("content") or "" for delta in deltas(plain)]
    assert len([piece for piece in pieces if piece]) > 2
    assert "".join(pieces) == "It snows in Oslo."
    assert all("usage" not in chunk for chunk in plain)
    assert with_usage[-1]["choices"] == []
    assert with_usage[-1]["usage"]["prompt_tokens"] > 0


async def test_streamed_tool_calls_come_in_fragments_that_join(server: ModelServer, client: httpx.AsyncClient) -> None:
    server.then(tool_calls(call("look", {"city": "Tromsø"}), call("look", '{"broken', id="mine")))

    chunks = await streamed(client)

    fragments = [one for delta in deltas(chunks) for one in delta.get("tool_calls", [])]
    joined = {
        index: "".join(one["function"]["arguments"] for one in fragments if one["index"] == index) for index in (0, 1)
    }
    assert joined == {0: '{"city": "Tromsø"}', 1: '{"broken'}
    assert len(fragments) > 4
    assert [one["id"] for one in fragments if "id" in one] == ["call_1_0", "mine"]
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("stream", [pytest.param(True, id="streamed"), pytest.param(False, id="whole")])
@pytest.mark.parametrize(
    ("reply", "field", "value", "finish"),
    [
        pytest.param(structured({"a": "ø"}), "content", '{"a": "ø"}', "stop", id="structured"),
        pytest.param(refusal("I will not"), "refusal", "I will not", "stop", id="refusal"),
        pytest.param(cut_off("It sno"), "content", "It sno", "length", id="cut off"),
    ],
)
async def test_answers_have_their_form(
    server: ModelServer, client: httpx.AsyncClient, reply: Reply, field: str, value: str, finish: str, stream: bool
) -> None:
    server.then(reply)

    if stream:
        chunks = await streamed(client)
        assert "".join(delta.get(field) or "" for delta in deltas(chunks)) == value
        assert chunks[-1]["choices"][0]["finish_reason"] == finish
    else:
        choice = (await post(client)).json()["choices"][0]
        assert (choice["message"][field], choice["finish_reason"]) == (value, finish)


async def test_an_error_has_openais_form(server: ModelServer, client: httpx.AsyncClient) -> None:
    server.then(error(429, "Slow down", "rate_limit_exceeded"))

    response = await post(client)

    assert response.status_code == 429
    assert response.json()["error"] == {
        "message": "Slow down",
        "type": "invalid_request_error",
        "param": None,
        "code": "rate_limit_exceeded",
    }


@pytest.mark.parametrize("stream", [pytest.param(True, id="streamed"), pytest.param(False, id="whole")])
async def test_a_disconnect_breaks_the_answer_off(server: ModelServer, client: httpx.AsyncClient, stream: bool) -> None:
    server.then(disconnect())

    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        await (streamed(client) if stream else post(client))


async def test_steps_for_a_model_come_before_rules_and_rules_before_the_queue(
    server: ModelServer, client: httpx.AsyncClient
) -> None:
    server.when("router", text("an old rule"))
    server.when("router", lambda request: text(f"rule for {request.last_human_text}"))
    server.then(text("first"), text("second"))
    server.then(text("once"), to="router")

    answers = [await answer(client, model=model) for model in ("router", "chat", "router", "chat")]

    assert answers == ["once", "first", "rule for Hi", "second"]
    server.assert_all_used()


async def test_an_unused_step_is_complained_about(server: ModelServer) -> None:
    server.then(text("never asked for"))

    with pytest.raises(AssertionError, match="never asked for"):
        server.assert_all_used()


async def test_a_request_without_a_script_is_named_in_the_answer_and_fails_the_test(client: httpx.AsyncClient) -> None:
    with ExitStack() as stack:
        own = stack.enter_context(ModelServer())
        response = await client.post(f"{own.url}/chat/completions", json=asked(model="title"))
        closing = stack.pop_all()

    assert response.status_code == 500
    assert "nothing is scripted for request 1 to model 'title'" in response.json()["error"]["message"]
    assert response.headers["x-should-retry"] == "false"
    assert [request.model for request in own.unexpected] == ["title"]
    with pytest.raises(AssertionError, match="nothing was scripted for request 1 to model 'title'"):
        closing.close()


async def test_a_script_that_raises_fails_the_test(client: httpx.AsyncClient) -> None:
    with ExitStack() as stack:
        own = stack.enter_context(ModelServer())
        own.when("chat", lambda _: text(str(1 / 0)))
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post(f"{own.url}/chat/completions", json=asked())
        closing = stack.pop_all()

    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        closing.close()


async def test_a_held_reply_waits_and_holds_up_nobody_else(server: ModelServer, client: httpx.AsyncClient) -> None:
    server.when(lambda _: True, text("here"))
    gate = server.hold("summary")

    held = asyncio.create_task(answer(client, model="summary"))
    await server.wait_until(lambda: gate.waiting)
    assert await answer(client, model="chat") == "here"
    assert not held.done()
    gate.release()

    assert await held == "here"
    assert await answer(client, model="summary") == "here"


async def test_a_stream_can_be_held_in_its_middle_and_a_client_that_leaves_is_noticed(
    server: ModelServer, client: httpx.AsyncClient
) -> None:
    server.then(text("It snows in Oslo."))
    gate = server.hold(after_chunks=3)
    pieces: asyncio.Queue[str] = asyncio.Queue()

    async def read() -> None:
        async with client.stream("POST", "/chat/completions", json=asked(stream=True)) as response:
            async for line in response.aiter_lines():
                if line:
                    await pieces.put(line)

    reading = asyncio.create_task(read())
    await server.wait_until(lambda: gate.waiting)
    seen = [json.loads((await pieces.get()).removeprefix("data: ")) for _ in range(3)]
    assert server.abandoned == []
    reading.cancel()
    await server.wait_until(lambda: server.abandoned)

    assert server.abandoned == server.requests
    assert "".join(delta["content"] for delta in deltas(seen)) == "It snows"
    assert pieces.empty()


async def test_a_delay_ends_with_its_client_and_holds_up_nobody_else(
    server: ModelServer, client: httpx.AsyncClient
) -> None:
    server.when("summary", text("late", delay=3600))
    server.when("title", text("late too", chunk_delay=3600))
    server.when("chat", text("at once"))

    late = asyncio.gather(answer(client, model="summary"), streamed(client, model="title"))
    await server.wait_until(lambda: len(server.requests) == 2)
    assert await answer(client) == "at once"
    late.cancel()
    await server.wait_until(lambda: len(server.abandoned) == 2)

    assert {request.model for request in server.abandoned} == {"summary", "title"}


@pytest.mark.parametrize(
    ("capability", "fields"),
    [
        pytest.param("json_schema", {"response_format": {"type": "json_schema", "json_schema": {}}}, id="json schema"),
        pytest.param("json_object", {"response_format": {"type": "json_object"}}, id="json object"),
        pytest.param("tools", {"tools": [{"type": "function", "function": {"name": "look"}}]}, id="tools"),
    ],
)
async def test_what_is_unsupported_is_refused_and_uses_up_no_step(
    server: ModelServer, client: httpx.AsyncClient, capability: Any, fields: dict[str, Any]
) -> None:
    server.unsupported = {capability}
    server.then(text("fine"))

    refused = await post(client, **fields)

    assert refused.status_code == 400
    assert capability in refused.json()["error"]["message"]
    assert await answer(client) == "fine"
    assert [request.format for request in server.requests] == [capability, None]


VALID = [{"role": "system", "content": "Be kind"}, H0, CALLS, T2, T1, A0, {**H0, "name": "ana"}]


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        pytest.param([H0, {"role": "system", "content": "x"}], "at the beginning", id="late system message"),
        pytest.param([{"role": "system", "content": "x"}] * 2 + [H0], "at the beginning", id="two system messages"),
        pytest.param([H0, CALLS, T1], "did not have response messages: c2", id="unanswered call at the end"),
        pytest.param([H0, CALLS, T1, H0, T2], "did not have response messages: c2", id="answer after another role"),
        pytest.param([H0, T1], "must be a response to a preceding message", id="answer without call"),
        pytest.param([H0, CALLS, T1, T1, T2], "must be a response to a preceding message", id="answer twice"),
        pytest.param([H0, CALLS, T1, T2, A0, T1], "must be a response", id="answer to an older call"),
        pytest.param([H0, {"role": "assistant", "content": ""}, H0], "Invalid value for 'content'", id="empty answer"),
        pytest.param([{"role": "user", "content": ""}], "user messages must not be empty", id="empty question"),
        pytest.param([{**H0, "name": "Ana María <ops>"}], "does not match pattern", id="name"),
        pytest.param([{**H0, "name": "x\n"}], "does not match pattern", id="name with line break"),
    ],
)
async def test_what_a_provider_would_refuse_is_refused_and_recorded(
    server: ModelServer, client: httpx.AsyncClient, messages: list[Any], complaint: str
) -> None:
    server.when("chat", text("fine"))

    response = await post(client, messages)

    assert response.status_code == 400
    assert complaint in response.json()["error"]["message"]
    assert [request for request, _ in server.violations] == server.requests
    with pytest.raises(AssertionError, match="is invalid"):
        server.assert_nothing_unexpected()
    server.violations.clear()


async def test_a_valid_list_of_messages_passes(server: ModelServer, client: httpx.AsyncClient) -> None:
    server.then(text("fine"))

    assert (await post(client, VALID)).status_code == 200
    assert server.violations == []


@pytest.mark.parametrize(
    ("strict", "status"), [pytest.param(True, 400, id="strict"), pytest.param(False, 200, id="not strict")]
)
async def test_an_open_schema_is_refused_where_it_is_strict(
    server: ModelServer, client: httpx.AsyncClient, strict: bool, status: int
) -> None:
    server.when("chat", structured({}))
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": []}
    wrapped: dict[str, Any] = {"name": "Thing", "strict": strict, "schema": schema}

    response = await post(client, response_format={"type": "json_schema", "json_schema": wrapped})

    assert response.status_code == status
    assert len(server.violations) == (status == 400)
    server.violations.clear()


async def test_requests_are_recorded_without_the_key(server: ModelServer, client: httpx.AsyncClient) -> None:
    server.then(text("fine"))
    tools = [{"type": "function", "function": {"name": "look"}}]

    await post(client, VALID, tools=tools, temperature=0.5)

    recorded = server.last
    assert (recorded.model, recorded.stream, recorded.tool_names) == ("chat", False, ["look"])
    assert (recorded.last_human_text, recorded.system_text) == ("Hi", "Be kind")
    assert recorded.body["temperature"] == 0.5
    assert recorded.headers["authorization"] == "(hidden)"
    assert "secret-key" not in repr(recorded)
    assert server.for_model("chat") == [recorded]
    assert server.for_model("title") == []


async def test_a_request_can_be_waited_for_before_and_after_it_comes(
    server: ModelServer, client: httpx.AsyncClient
) -> None:
    server.when(lambda _: True, text("fine"))
    waiting = asyncio.create_task(server.wait_for("title"))
    await asyncio.sleep(0)
    await post(client, model="title")

    assert await waiting is server.last
    assert await server.wait_for(lambda request: request.last_human_text == "Hi") is server.last
    with pytest.raises(AssertionError, match=r"in vain; recorded: .*title"):
        await server.wait_for("summary", timeout=0.01)


async def test_reset_forgets_the_script_and_what_was_recorded(server: ModelServer, client: httpx.AsyncClient) -> None:
    server.when("chat", text("old"))
    await post(client)

    server.reset()
    server.then(text("new"))

    assert server.requests == []
    assert await answer(client) == "new"


async def test_models_are_listed_and_other_paths_are_not_there(client: httpx.AsyncClient) -> None:
    models = (await client.get("/models")).json()
    missing = await client.post("/completions", json={})

    assert [model["id"] for model in models["data"]] == ["chat", "router", "title", "summary"]
    assert missing.status_code == 404
    assert missing.json()["error"]["message"] == "Invalid URL (POST /v1/completions)"
