import asyncio
import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any, get_args

import httpx2
import openai
import pytest
from langchain_core.exceptions import ModelError, ModelRefusalError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_openai import ChatOpenAI
from openai.types.chat import ChatCompletion

from backend.errors import BadModelOutput, ModelUnavailable, OutsideFailure
from backend.llm.models import OPENAI_URL, Models, translate_model_errors
from backend.llm.offline import OfflineModel
from backend.settings import Role, Settings
from tests.support.loopback_http import Connection, HttpRequest, LoopbackServer
from tests.support.model_server import ModelServer, Reply, call, cut_off, disconnect, error, text, tool_calls

pytestmark = pytest.mark.anyio

KEY = "sk-very-secret"
H0 = HumanMessage("Hi")
ROLES: tuple[Role, ...] = get_args(Role)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def settings_for(server: ModelServer | None = None, **values: Any) -> Settings:
    environment = {name.lower(): value for name, value in server.environment.items()} if server else {}
    return Settings(_env_file=None, **{**environment, **values})  # pyright: ignore[reportCallIssue]


def chat_model(server: ModelServer, **values: Any) -> BaseChatModel:
    return Models(settings_for(server, **values)).for_role("chat")


async def ask(model: BaseChatModel, *, stream: bool = False) -> None:
    async with translate_model_errors():
        if stream:
            _ = [chunk async for chunk in model.astream([H0])]
        else:
            await model.ainvoke([H0])


async def test_each_role_asks_for_its_own_model_with_the_key(server: ModelServer) -> None:
    server.when(lambda _: True, text("fine"))
    models = Models(settings_for(server, model_title="a-small-one"))

    for role in ROLES:
        await models.for_role(role).ainvoke([H0])

    assert [request.model for request in server.requests] == ["chat", "router", "a-small-one", "summary"]
    assert all("authorization" in request.headers for request in server.requests)
    assert models.for_role("chat") is models.for_role("chat")


async def test_a_server_without_a_key_is_asked_with_a_placeholder() -> None:
    asked: list[str] = []

    async def refuse(request: HttpRequest, connection: Connection) -> None:
        asked.append(request.headers["authorization"])
        await connection.send_json(418, {})

    with LoopbackServer(refuse) as other:
        url = f"http://127.0.0.1:{other.port}/v1"
        models = Models(settings_for(openai_base_url=url, model="any", model_max_retries=0))
        with pytest.raises(ModelUnavailable, match="HTTP 418"):
            await ask(models.for_role("chat"))

    assert asked == ["Bearer unused"]


@pytest.mark.parametrize("role", ROLES)
async def test_without_a_provider_the_offline_model_serves(role: Role) -> None:
    model = Models(settings_for()).for_role(role)

    assert isinstance(model, OfflineModel)
    assert model.role == role


async def test_the_environment_sends_nothing_elsewhere(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "LANGSMITH_GATEWAY", "OPENAI_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "another key")
    monkeypatch.setenv("LC_OUTPUT_VERSION", "v1")
    server.then(text("fine"))

    answer = await Models(settings_for(server)).for_role("chat").ainvoke([H0])
    hosted = Models(settings_for(openai_api_key=KEY, openai_base_url="")).for_role("chat")

    assert answer.content == "fine"
    assert isinstance(hosted, ChatOpenAI)
    assert str(hosted.root_async_client.base_url).rstrip("/") == OPENAI_URL


async def test_no_test_reaches_a_real_provider(loopback_only: list[str]) -> None:
    hosted = Models(settings_for(openai_api_key=KEY)).for_role("chat")

    with pytest.raises((ModelUnavailable, pytest.fail.Exception)):
        await ask(hosted)

    assert loopback_only == ["api.openai.com"]
    loopback_only.clear()


async def test_the_chat_model_streams_with_its_usage_and_the_others_do_not_stream(server: ModelServer) -> None:
    server.when(lambda _: True, text("It snows in Oslo."))
    models = Models(settings_for(server))

    chat = [chunk async for chunk in models.for_role("chat").astream([H0])]
    title = [chunk async for chunk in models.for_role("title").astream([H0])]

    whole = sum(chat[1:], chat[0])
    assert isinstance(whole, AIMessageChunk)
    assert whole.text == "It snows in Oslo."
    assert whole.usage_metadata is not None
    assert len([chunk for chunk in chat if chunk.text]) > 2
    assert [chunk.text for chunk in title if chunk.text] == ["It snows in Oslo."]
    assert [request.stream for request in server.requests] == [True, False]


async def test_streamed_tool_calls_arrive_whole(server: ModelServer) -> None:
    server.then(tool_calls(call("look", {"city": "Tromsø"}), call("look", {"city": "Bodø"})))

    answer = await chat_model(server).ainvoke([H0], stream=True)

    assert [one["args"] for one in answer.tool_calls] == [{"city": "Tromsø"}, {"city": "Bodø"}]


@pytest.mark.parametrize("name", ["gpt-5-pro", "codex-mini", "gpt-6", "o3"])
async def test_whatever_the_model_the_chat_completions_api_is_asked(server: ModelServer, name: str) -> None:
    server.when(name, text("fine"))

    await chat_model(server, model_chat=name).bind_tools([{"name": "look", "parameters": {}}]).ainvoke([H0])

    assert server.last.model == name


async def test_one_instance_works_on_two_event_loops_at_once() -> None:
    connections: set[int] = set()

    async def answer(_: HttpRequest, connection: Connection) -> None:
        connections.add(id(connection.writer))
        message = {"role": "assistant", "content": "fine"}
        await connection.send_json(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    async def two_turns(models: Models) -> None:
        for _ in range(2):
            await ask(models.for_role("chat"))
        await models.close()

    with LoopbackServer(answer, keep_alive=True) as other:
        url = f"http://127.0.0.1:{other.port}/v1"
        models = Models(settings_for(openai_base_url=url, model="any", model_max_retries=0))
        await ask(models.for_role("chat"))
        await asyncio.to_thread(lambda: asyncio.run(two_turns(models)))
        await two_turns(models)

    assert len(connections) == 2


@pytest.mark.parametrize("stream", [pytest.param(True, id="streamed"), pytest.param(False, id="whole")])
@pytest.mark.parametrize(
    ("reply", "advice"),
    [
        pytest.param(error(401, f"Incorrect API key provided: {KEY}", "invalid_api_key"), "OPENAI_API_KEY", id="key"),
        pytest.param(error(403, KEY), "check that the key in OPENAI_API_KEY may use the model", id="forbidden"),
        pytest.param(error(404, "The model does not exist", "model_not_found"), "check MODEL", id="model"),
        pytest.param(error(429, KEY, "rate_limit_exceeded"), "try again in a moment", id="rate limit"),
        pytest.param(error(429, KEY, "insufficient_quota"), "no credit left", id="quota"),
        pytest.param(error(400, KEY, "context_length_exceeded"), "longer than the language model", id="context code"),
        pytest.param(error(400, "maximum context length is 8"), "longer than the language model", id="context words"),
        pytest.param(
            error(400, KEY, "invalid_value"), r"rejected the request \(HTTP 400, invalid_value\)", id="request"
        ),
        pytest.param(error(400, "x", f"{KEY} {KEY}"), r"rejected the request \(HTTP 400\)", id="code with other text"),
        pytest.param(error(422, KEY), r"rejected the request \(HTTP 422\)", id="unprocessable"),
        pytest.param(error(503, KEY), r"failed \(HTTP 503\); try again", id="server"),
        pytest.param(disconnect(KEY), "connection to the model provider failed", id="broken off"),
    ],
)
async def test_a_providers_error_says_what_to_do_and_no_secret(
    server: ModelServer, reply: Reply, advice: str, stream: bool
) -> None:
    server.then(reply)

    with pytest.raises(ModelUnavailable, match=advice) as raised:
        await ask(chat_model(server, openai_api_key=KEY), stream=stream)

    assert KEY not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


@pytest.mark.parametrize(
    ("reply", "stream"),
    [
        pytest.param(text("late", delay=3600), False, id="no answer"),
        pytest.param(text("late", delay=3600), True, id="no beginning"),
        pytest.param(text("late", chunk_delay=3600), True, id="no further chunk"),
    ],
)
async def test_a_slow_answer_ends_at_the_timeout(server: ModelServer, reply: Reply, stream: bool) -> None:
    server.then(reply)

    with pytest.raises(ModelUnavailable, match="raise MODEL_TIMEOUT_SECONDS"):
        await ask(chat_model(server, model_timeout_seconds=0.3), stream=stream)


async def test_signs_of_life_do_not_put_the_timeout_off() -> None:
    async def ping(_: HttpRequest, connection: Connection) -> None:
        await connection.start_events()
        while True:
            await connection.send(b"8\r\n: ping\n\n\r\n")
            await asyncio.sleep(0.02)

    with LoopbackServer(ping) as other:
        url = f"http://127.0.0.1:{other.port}/v1"
        settings = settings_for(openai_base_url=url, model="any", model_max_retries=0, model_timeout_seconds=0.2)
        async with asyncio.timeout(10):
            with pytest.raises(ModelUnavailable, match="raise MODEL_TIMEOUT_SECONDS"):
                await ask(Models(settings).for_role("chat"), stream=True)


async def test_an_unreachable_server_says_so() -> None:
    models = Models(settings_for(openai_base_url="http://127.0.0.1:1/v1", model="any", model_max_retries=0))

    with pytest.raises(ModelUnavailable, match="check OPENAI_BASE_URL and the network"):
        await ask(models.for_role("chat"))


@pytest.mark.parametrize("stream", [pytest.param(True, id="streamed"), pytest.param(False, id="whole")])
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        pytest.param("text/html", "<html>Welcome</html>", id="web page"),
        pytest.param("application/json", '{"detail": "no such route"}', id="other JSON"),
        pytest.param("application/json", '{"choices": []}', id="no choices"),
        pytest.param("application/json", '{"choices": [', id="broken JSON"),
        pytest.param("application/json", '["choices"]', id="list"),
    ],
)
async def test_a_server_that_is_no_model_api_says_where_to_look(content_type: str, body: str, stream: bool) -> None:
    async def answer(_: HttpRequest, connection: Connection) -> None:
        await connection.send_head(200, {"content-type": content_type, "content-length": str(len(body))})
        await connection.send(body.encode())

    with LoopbackServer(answer) as other:
        url = f"http://127.0.0.1:{other.port}"
        models = Models(settings_for(openai_base_url=url, model="any", model_max_retries=0))
        with pytest.raises(ModelUnavailable, match="check that OPENAI_BASE_URL is the address") as raised:
            await ask(models.for_role("chat"), stream=stream)

    assert "Welcome" not in str(raised.value)
    assert raised.value.__suppress_context__


async def test_an_error_event_in_a_stream_is_translated() -> None:
    async def answer(_: HttpRequest, connection: Connection) -> None:
        await connection.start_events()
        await connection.send_event(json.dumps({"error": {"message": KEY, "code": "server_error"}}))
        await connection.end_events()

    with LoopbackServer(answer) as other:
        url = f"http://127.0.0.1:{other.port}"
        models = Models(settings_for(openai_base_url=url, model="any", model_max_retries=0))
        with pytest.raises(ModelUnavailable, match=r"failed \(server_error\); try again"):
            await ask(models.for_role("chat"), stream=True)


async def test_a_cut_off_chat_answer_is_an_answer(server: ModelServer) -> None:
    server.then(cut_off("It sno"))

    assert (await chat_model(server).ainvoke([H0])).text == "It sno"


async def test_cancellation_passes_and_stops_the_request(server: ModelServer) -> None:
    gate = server.hold()
    server.then(text("never"))
    asking = asyncio.create_task(ask(chat_model(server)))
    await server.wait_until(lambda: gate.waiting)

    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
    await server.wait_until(lambda: server.abandoned)


@pytest.mark.parametrize("ours", [ValueError("x"), KeyError("x"), RuntimeError("x"), OSError("x"), BadModelOutput("x")])
async def test_an_error_that_is_not_the_clients_passes_as_it_is(ours: Exception) -> None:
    with pytest.raises(type(ours)) as raised:
        async with translate_model_errors():
            raise ours

    assert raised.value is ours


async def test_a_fault_of_ours_while_reading_a_stream_passes_as_it_is(server: ModelServer) -> None:
    server.then(text("It snows in Oslo."))

    async def read() -> None:
        async with translate_model_errors():
            async for _ in chat_model(server).astream([H0]):
                raise KeyError("ours")

    with pytest.raises(KeyError, match="ours"):
        await read()


def every_class_below(root: type[Exception]) -> list[type[Exception]]:
    below = [one for child in root.__subclasses__() for one in every_class_below(child)]
    return list(dict.fromkeys([root, *below]))


def example_of(kind: type[Exception]) -> Exception:
    if not inspect.isfunction(kind.__init__):
        return kind(KEY)
    request = httpx2.Request("POST", "http://127.0.0.1/v1")
    known: dict[str, Callable[[], Any]] = {
        "message": lambda: KEY,
        "request": lambda: request,
        "response": lambda: httpx2.Response(getattr(kind, "status_code", 500), request=request),
        "body": lambda: {"message": KEY},
        "completion": lambda: ChatCompletion.model_construct(usage=None),
        "unsent_messages": list,
    }
    parameters = inspect.signature(kind).parameters.values()
    positional = [known.get(one.name, lambda: KEY)() for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    named = {one.name: known.get(one.name, lambda: KEY)() for one in parameters if one.kind is one.KEYWORD_ONLY}
    return kind(*positional, **named)


@pytest.mark.parametrize(
    "kind",
    [
        *every_class_below(openai.OpenAIError),
        *every_class_below(ModelError),
        *every_class_below(httpx2.HTTPError),
        *every_class_below(httpx2.StreamError),
        httpx2.InvalidURL,
        TimeoutError,
    ],
)
async def test_every_error_of_the_client_libraries_is_mapped(kind: type[Exception]) -> None:
    expected = (
        BadModelOutput
        if issubclass(
            kind,
            ModelRefusalError
            | openai.LengthFinishReasonError
            | openai.ContentFilterFinishReasonError
            | openai.APIResponseValidationError,
        )
        else ModelUnavailable
    )

    with pytest.raises(OutsideFailure) as raised:
        async with translate_model_errors():
            raise example_of(kind)

    assert type(raised.value) is expected
    assert KEY not in str(raised.value)
