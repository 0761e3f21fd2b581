"""What becomes of a call that the model makes, through a real ToolNode in a compiled graph."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
import structlog
from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from pydantic import BaseModel, ConfigDict, Field

from backend.errors import ServiceUnavailable, ToolRefusal
from backend.tools.registry import describe_tool_error, make_tool_node, parse_json_text

pytestmark = pytest.mark.anyio


class Patch(BaseModel):
    path: str
    value: str | int | list[str]


class PatchArguments(BaseModel):
    patches: list[Patch]
    note: str = ""


@tool
async def works(word: str) -> str:
    """Answer with the word."""
    return f"got {word}"


@tool
async def refuses(word: str) -> str:
    """Refuse."""
    raise ToolRefusal(f"There is no {word}.")


@tool
async def cannot_reach(word: str) -> str:
    """Fail outside."""
    raise ServiceUnavailable("The weather service did not answer.")


@tool
async def breaks(word: str) -> str:
    """Break."""
    raise RuntimeError(f"secret {word}")


@tool
async def reads_badly(word: str) -> str:
    """Fail on data of its own."""
    return Patch.model_validate({"path": word}).path


async def _save(patches: list[Patch], note: str = "") -> str:
    return f"{note}{[patch.model_dump() for patch in patches]}"


saves = StructuredTool.from_function(coroutine=_save, name="saves", description="Save.", args_schema=PatchArguments)
TOOLS: list[BaseTool] = [works, refuses, cannot_reach, breaks, reads_badly, saves]


async def results(node: ToolNode, *calls: tuple[str, dict[str, Any]]) -> Sequence[ToolMessage]:
    graph = StateGraph(MessagesState)
    graph.add_node("tools", node)
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    made = [ToolCall(name=name, args=args, id=f"c{number}") for number, (name, args) in enumerate(calls)]
    state: dict[str, list[AnyMessage]] = await graph.compile().ainvoke({"messages": [AIMessage("", tool_calls=made)]})
    found = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert [message.tool_call_id for message in found] == [f"c{number}" for number in range(len(calls))]
    return found


async def result(name: str, **arguments: object) -> ToolMessage:
    return (await results(make_tool_node(TOOLS), (name, arguments)))[0]


async def test_each_failing_call_has_its_error_and_the_others_their_results() -> None:
    calls = [(name, {"word": "x"}) for name in ("works", "refuses", "cannot_reach", "breaks", "nothing", "works")]
    found = await results(make_tool_node(TOOLS), *calls)
    assert [message.status for message in found] == ["success", "error", "error", "error", "error", "success"]
    assert found[0].text == found[5].text == "got x"


async def test_the_handler_alone_gives_errors_in_a_plain_node_too() -> None:
    node = ToolNode(TOOLS, handle_tool_errors=describe_tool_error)
    found = await results(node, ("breaks", {"word": "x"}), ("works", {}), ("works", {"word": "x"}))
    assert [message.status for message in found] == ["error", "error", "success"]


async def test_a_refusal_says_why_and_what_to_do() -> None:
    assert (await result("refuses", word="moon")).text == (
        "TOOL_FAILED: There is no moon. Correct the arguments and call the tool once more, "
        "or tell the user what is missing."
    )


async def test_an_outside_failure_asks_not_to_be_repeated() -> None:
    text = (await result("cannot_reach", word="x")).text
    assert text.startswith("SERVICE_UNAVAILABLE: The weather service did not answer.")
    assert "do not call this tool again now" in text


async def test_an_unknown_tool_is_answered_with_the_names_of_the_others() -> None:
    assert "works" in (await result("nothing", word="x")).text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param({}, "patches: Field required", id="missing"),
        pytest.param({"patches": "no list"}, "patches: Input should be a valid list", id="wrong type"),
        pytest.param({"patches": [{"path": "/a"}]}, "patches.0.value", id="inside"),
        pytest.param({"patches": [], "note": 7}, "note: Input should be a valid string", id="another argument"),
    ],
)
async def test_bad_arguments_are_named_shortly(arguments: dict[str, object], says: str) -> None:
    message = await result("saves", **arguments)
    assert message.status == "error"
    assert message.text.startswith("INVALID_ARGUMENTS: ")
    assert says in message.text
    assert len(message.text) < 400


async def test_many_bad_arguments_stay_a_short_message() -> None:
    assert len((await result("saves", patches=[{"path": "/a"}] * 500)).text) < 500


async def test_an_unexpected_error_is_logged_without_arguments_and_told_in_general() -> None:
    with structlog.testing.capture_logs() as logs:
        message = await result("breaks", word="moon")
    assert "moon" not in message.text
    assert "failed unexpectedly" in message.text
    (line,) = [line for line in logs if line["event"] == "tool_failed"]
    assert (line["tool"], line["code"]) == ("breaks", "RuntimeError")
    assert isinstance(line["exc_info"], RuntimeError)
    assert set(line) == {"event", "tool", "code", "exc_info", "log_level"}


async def test_data_that_the_tool_cannot_read_is_not_the_models_fault() -> None:
    with structlog.testing.capture_logs() as logs:
        message = await result("reads_badly", word="x")
    assert "INVALID_ARGUMENTS" not in message.text
    assert [line["code"] for line in logs] == ["ValidationError"]


async def test_arguments_written_as_json_text_are_parsed() -> None:
    message = await result("saves", patches='[{"path": "/city", "value": "Oslo"}]', note='["kept as text"]')
    assert message.status == "success"
    assert message.text == "[\"kept as text\"][{'path': '/city', 'value': 'Oslo'}]"


class Odd(BaseModel):
    model_config = ConfigDict(extra="forbid")

    items: list[int] | None = None
    inner: Patch | None = None
    either: list[str] | str = ""
    anything: Any = None
    number: int = Field(0)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        pytest.param({"items": "[1, 2]"}, {"items": [1, 2]}, id="optional list"),
        pytest.param({"inner": '{"path": "a"}'}, {"inner": {"path": "a"}}, id="referenced object"),
        pytest.param({"either": '["a"]'}, {"either": '["a"]'}, id="text is allowed"),
        pytest.param({"anything": "[1]"}, {"anything": "[1]"}, id="no type"),
        pytest.param({"items": "[1, 2"}, {"items": "[1, 2"}, id="not JSON"),
        pytest.param({"items": "7"}, {"items": "7"}, id="JSON of another kind"),
        pytest.param({"unknown": "[1]"}, {"unknown": "[1]"}, id="unknown argument"),
        pytest.param({"number": 7, "items": [1]}, {"number": 7, "items": [1]}, id="nothing to do"),
    ],
)
def test_json_text_is_parsed_only_where_no_text_belongs(given: dict[str, Any], read: dict[str, Any]) -> None:
    before = json.dumps(given)
    assert parse_json_text(given, Odd.model_json_schema()) == read
    assert json.dumps(given) == before
