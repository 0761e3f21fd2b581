from collections.abc import Iterator, Sequence
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel, Field

from backend.errors import BadModelOutput, ModelUnavailable
from backend.llm.models import Models
from backend.llm.structured import StructuredCalls
from backend.settings import Role, Settings
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
from tests.support.wire_schema import schema_faults

pytestmark = pytest.mark.anyio

SECRET = "the user lives at the sea"
MESSAGES = [SystemMessage("Choose."), HumanMessage("Will it rain?")]
ANSWER = {"subagent": "weather", "reasons": [{"text": "rain"}]}


class Reason(BaseModel):
    text: str = Field(max_length=100)


class Choice(BaseModel):
    """Which assistant answers."""

    subagent: Literal["weather", "chat"]
    reasons: list[Reason] = Field(default_factory=list[Reason])


class Lenient(BaseModel):
    note: str = ""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def models(server: ModelServer) -> Models:
    environment = {name.lower(): value for name, value in server.environment.items()}
    return Models(Settings(_env_file=None, **environment))  # pyright: ignore[reportCallIssue, reportArgumentType]


@pytest.fixture
def calls() -> StructuredCalls:
    return StructuredCalls()


def as_text(value: Any = ANSWER) -> Reply:
    return structured(value)


def as_call(value: Any = ANSWER) -> Reply:
    return tool_calls(call("Choice", value))


async def test_the_answer_is_validated_and_the_schema_strict_on_the_wire(
    server: ModelServer, models: Models, calls: StructuredCalls
) -> None:
    server.then(as_text())

    choice = await calls.call(models.for_role("router"), MESSAGES, Choice)

    assert choice == Choice(subagent="weather", reasons=[Reason(text="rain")])
    sent = server.last.response_format
    assert sent is not None
    assert sent["type"] == "json_schema"
    assert (sent["json_schema"]["name"], sent["json_schema"]["strict"]) == ("Choice", True)
    assert list(schema_faults(sent["json_schema"]["schema"])) == []
    assert (server.last.stream, server.last.tools) == (False, [])


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param('```json\n{"subagent": "weather"}\n```', id="fenced"),
        pytest.param('Sure, here it is:\n\n{"subagent": "weather"}', id="after text"),
        pytest.param('<think>{chat} or weather?</think>\n\n{"subagent": "weather"}', id="after thoughts"),
    ],
)
async def test_json_in_other_text_is_read(
    server: ModelServer, models: Models, calls: StructuredCalls, answer: str
) -> None:
    server.then(text(answer))

    assert (await calls.call(models.for_role("router"), MESSAGES, Choice)).subagent == "weather"


UNUSABLE = [
    pytest.param(refusal(SECRET), "refused", id="refusal"),
    pytest.param(cut_off('{"subagent": "weather"}'), "cut off", id="cut off"),
    pytest.param(text(""), "without the JSON object", id="empty"),
    pytest.param(text("{}"), "without the JSON object", id="empty object"),
    pytest.param(text(SECRET), "without the JSON object", id="prose"),
    pytest.param(text('{"subagent": "weather"} as you live at the sea'), "without the JSON object", id="extra text"),
    pytest.param(structured({"subagent": SECRET}), r"does not fit Choice \(literal_error\)", id="unknown value"),
    pytest.param(structured({SECRET: 1}), r"does not fit Choice \(missing\)", id="other keys"),
    pytest.param(structured(["weather"]), "without the JSON object", id="list"),
]


@pytest.mark.parametrize("role", ["router", "chat"])
@pytest.mark.parametrize(("reply", "complaint"), UNUSABLE)
async def test_an_unusable_answer_is_one_failed_call_that_repeats_nothing(
    server: ModelServer, models: Models, calls: StructuredCalls, reply: Reply, complaint: str, role: Role
) -> None:
    server.then(reply)

    with pytest.raises(BadModelOutput, match=complaint) as raised:
        await calls.call(models.for_role(role), MESSAGES, Choice)

    assert len(server.requests) == 1
    assert SECRET not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None or raised.value.__suppress_context__


async def test_an_empty_object_fails_even_where_every_key_has_a_default(
    server: ModelServer, models: Models, calls: StructuredCalls
) -> None:
    server.then(text("{}"))

    with pytest.raises(BadModelOutput):
        await calls.call(models.for_role("router"), MESSAGES, Lenient)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(tool_calls(call("Choice", '{"subagent": "wea')), id="broken arguments"),
        pytest.param(tool_calls(call("Choice", ANSWER), call("Choice", ANSWER)), id="two calls"),
        pytest.param(tool_calls(call("Choice", {})), id="no arguments"),
        pytest.param(text(SECRET), id="prose"),
        pytest.param(cut_off('{"subagent": "weather"}'), id="cut off"),
        pytest.param(refusal(SECRET), id="refusal"),
    ],
)
async def test_an_unusable_tool_call_is_a_failed_call(
    server: ModelServer, models: Models, calls: StructuredCalls, reply: Reply
) -> None:
    server.unsupported = {"json_schema"}
    server.then(reply)

    with pytest.raises(BadModelOutput):
        await calls.call(models.for_role("router"), MESSAGES, Choice)

    assert [request.format for request in server.requests] == ["json_schema", "tools"]


async def test_a_server_without_json_schema_is_asked_by_tool_and_that_is_remembered(
    server: ModelServer, models: Models, calls: StructuredCalls
) -> None:
    server.unsupported = {"json_schema"}
    server.when("router", as_call())

    for _ in range(2):
        assert (await calls.call(models.for_role("router"), MESSAGES, Choice)).subagent == "weather"

    assert [request.format for request in server.requests] == ["json_schema", "tools", "tools"]
    function = server.last.tools[0]["function"]
    assert (server.last.tool_names, function["strict"], function["description"]) == (
        ["Choice"],
        True,
        "Which assistant answers.",
    )
    assert list(schema_faults(function["parameters"])) == []
    assert server.last.body["tool_choice"] == {"type": "function", "function": {"name": "Choice"}}


@pytest.mark.parametrize(
    ("reply", "succeeds"),
    [
        pytest.param(as_text(), True, id="valid"),
        pytest.param(text("{}"), False, id="empty object"),
        pytest.param(text("It will rain."), False, id="prose"),
    ],
)
async def test_a_server_with_json_mode_alone_is_found_once_whatever_it_answers(
    server: ModelServer, models: Models, calls: StructuredCalls, reply: Reply, succeeds: bool
) -> None:
    server.unsupported = {"json_schema", "tools"}
    server.when("router", reply)

    outcomes = [await succeeded(calls, models, "router") for _ in range(2)]

    assert outcomes == [succeeds, succeeds]
    assert [request.format for request in server.requests] == ["json_schema", "tools", "json_object", "json_object"]


async def test_the_method_is_remembered_for_each_model_apart(
    server: ModelServer, models: Models, calls: StructuredCalls
) -> None:
    server.unsupported = {"json_schema"}
    server.when(lambda _: True, as_call())

    for role in ("router", "summary", "router", "summary"):
        assert await succeeded(calls, models, role)

    assert [request.format for request in server.for_model("router")] == ["json_schema", "tools", "tools"]
    assert [request.format for request in server.for_model("summary")] == ["json_schema", "tools", "tools"]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        pytest.param(400, "Invalid parameter: 'response_format' must be text", id="openai"),
        pytest.param(400, "This response_format type is unavailable now", id="deepseek"),
        pytest.param(400, "response format `json_schema` is not supported with this model", id="groq"),
        pytest.param(404, "No endpoints found that support structured outputs", id="openrouter"),
        pytest.param(422, "[{'loc': ('body', 'response_format', 'type'), 'msg': 'unexpected value'}]", id="pydantic"),
    ],
)
async def test_the_words_of_real_servers_are_understood_as_a_rejection(
    server: ModelServer, models: Models, calls: StructuredCalls, status: int, message: str
) -> None:
    server.then(error(status, message), as_call())

    assert await succeeded(calls, models, "router")


async def test_the_rejection_of_openai_that_langchain_warns_about_is_understood(
    server: ModelServer, models: Models, calls: StructuredCalls
) -> None:
    wording = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
    server.then(error(400, wording), as_call())

    with pytest.warns(UserWarning, match="does not support OpenAI's structured output"):
        assert await succeeded(calls, models, "router")


async def test_an_old_model_name_is_asked_like_any_other(server: ModelServer, calls: StructuredCalls) -> None:
    environment = {name.lower(): value for name, value in server.environment.items()}
    settings = Settings(_env_file=None, **{**environment, "model_router": "gpt-4"})  # pyright: ignore[reportCallIssue, reportArgumentType]
    server.then(as_text())

    assert await succeeded(calls, Models(settings), "router")
    assert server.last.format == "json_schema"


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        pytest.param(error(400, "You must not ask this"), "rejected the request", id="other complaint"),
        pytest.param(error(401, "response_format"), "OPENAI_API_KEY", id="wrong key"),
        pytest.param(error(404, "The model `router` does not exist", "model_not_found"), "check MODEL", id="no model"),
        pytest.param(error(500, "response_format"), "HTTP 500", id="server error"),
        pytest.param(disconnect(), "connection to the model provider failed", id="broken off"),
    ],
)
async def test_a_transport_problem_is_not_taken_for_a_rejection(
    server: ModelServer, models: Models, calls: StructuredCalls, reply: Reply, message: str
) -> None:
    server.then(reply)

    with pytest.raises(ModelUnavailable, match=message):
        await calls.call(models.for_role("router"), MESSAGES, Choice)

    assert len(server.requests) == 1


async def test_a_server_that_rejects_every_method_is_reported_and_tried_again_next_time(
    server: ModelServer, models: Models, calls: StructuredCalls
) -> None:
    server.unsupported = {"json_schema", "tools", "json_object"}
    with pytest.raises(ModelUnavailable, match="takes no structured output, tools or JSON mode"):
        await calls.call(models.for_role("router"), MESSAGES, Choice)

    server.unsupported = ()
    server.then(as_text())

    assert await succeeded(calls, models, "router")
    assert [request.format for request in server.requests] == ["json_schema", "tools", "json_object", "json_schema"]


@pytest.mark.parametrize(
    ("messages", "beginning"),
    [
        pytest.param(MESSAGES, "Choose.\n\nAnswer with one JSON object", id="merged into the system message"),
        pytest.param(
            [SystemMessage([{"type": "text", "text": "Choose."}]), MESSAGES[1]],
            "Choose.\n\nAnswer with one JSON object",
            id="merged into a system message of blocks",
        ),
        pytest.param(MESSAGES[1:], "Answer with one JSON object", id="in a system message of its own"),
    ],
)
async def test_in_json_mode_the_schema_is_in_the_one_system_message(
    server: ModelServer, models: Models, calls: StructuredCalls, messages: Sequence[BaseMessage], beginning: str
) -> None:
    server.unsupported = {"json_schema", "tools"}
    server.then(as_text())

    await calls.call(models.for_role("router"), messages, Choice)

    assert [message["role"] for message in server.last.messages] == ["system", "user"]
    assert server.last.system_text.startswith(beginning)
    assert '"additionalProperties": false' in server.last.system_text
    assert MESSAGES[0].content == "Choose."


def graph_of(models: Models, calls: StructuredCalls, role: Role, tags: tuple[str, ...] | None = None) -> Any:
    async def answer(state: MessagesState) -> dict[str, list[BaseMessage]]:
        options: dict[str, Any] = {"tags": tags} if tags else {}
        await calls.call(models.for_role(role), state["messages"], Choice, **options)
        return {"messages": [await models.for_role("chat").ainvoke(state["messages"])]}

    return StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").compile()


async def streamed_text(graph: Any) -> str:
    stream = graph.astream({"messages": MESSAGES[1:]}, stream_mode="messages")
    return "".join([message.text async for message, _ in stream if isinstance(message, AIMessage)])


@pytest.mark.parametrize("tags", [pytest.param(None, id="by default"), pytest.param(("router",), id="with other tags")])
@pytest.mark.parametrize("role", ["router", "chat"])
async def test_nothing_of_a_call_is_streamed_to_the_user(
    server: ModelServer, models: Models, calls: StructuredCalls, role: Role, tags: tuple[str, ...] | None
) -> None:
    server.then(as_text(), text("It will rain."))

    assert await streamed_text(graph_of(models, calls, role, tags)) == "It will rain."
    assert [request.stream for request in server.requests] == [role == "chat", True]


@pytest.mark.parametrize(("reply", "complaint"), UNUSABLE)
async def test_an_unusable_answer_is_a_failed_call_where_the_model_is_made_to_stream(
    server: ModelServer, models: Models, calls: StructuredCalls, reply: Reply, complaint: str
) -> None:
    server.then(reply)

    with pytest.raises(BadModelOutput, match=complaint):
        await streamed_text(graph_of(models, calls, "chat"))

    assert [request.stream for request in server.requests] == [True]


async def test_the_offline_model_answers_in_form(calls: StructuredCalls) -> None:
    class Route(BaseModel):
        subagent: Literal["weather_agent", "chat_agent", "crypto_agent", "code_agent"]

    offline = Models(Settings(_env_file=None))  # pyright: ignore[reportCallIssue]

    route = await calls.call(offline.for_role("router"), [HumanMessage("What is the weather in Oslo?")], Route)

    assert route.subagent == "weather_agent"


async def test_an_answer_of_the_offline_model_that_does_not_fit_is_a_failed_call(calls: StructuredCalls) -> None:
    offline = Models(Settings(_env_file=None))  # pyright: ignore[reportCallIssue]

    with pytest.raises(BadModelOutput, match=r"does not fit Choice \(literal_error\)"):
        await calls.call(offline.for_role("router"), MESSAGES, Choice)


async def succeeded(calls: StructuredCalls, models: Models, role: Role) -> bool:
    try:
        await calls.call(models.for_role(role), MESSAGES, Choice)
    except BadModelOutput:
        return False
    return True
