"""Every schema as it is sent: what strict providers refuse, none of ours has (CASES 24)."""

from typing import Any

import pytest

from backend.chat.subagents import SUBAGENTS, Subagent
from tests.support.memory_driver import OpenDriver
from tests.support.memory_homes import Home, HomeInMemory
from tests.support.model_server import ModelServer, structured
from tests.support.summaries import answer, summary
from tests.support.wire_schema import schema_faults

pytestmark = pytest.mark.anyio


@pytest.fixture
def home() -> Home:
    """Where memory is kept makes no difference here."""
    return HomeInMemory()


@pytest.mark.parametrize("subagent", SUBAGENTS, ids=lambda subagent: subagent.name)
async def test_the_tools_of_a_sub_agent(model: ModelServer, open_driver: OpenDriver, subagent: Subagent) -> None:
    model.when("router", structured({"subagent": subagent.name}))
    model.when("chat", answer)
    driver = await open_driver()
    await driver.send("hi")
    request = model.for_model("chat")[0]
    assert request.tool_names == list(subagent.tools)
    assert {"save_memory", "manage_memory", "lookup_thread_messages"} <= set(request.tool_names)
    for tool in request.tools:
        function: dict[str, Any] = tool["function"]
        assert list(schema_faults(function["parameters"])) == [], function["name"]
        assert function["description"]


async def test_the_answers_that_are_asked_for_in_a_form(model: ModelServer, open_driver: OpenDriver) -> None:
    model.when("chat", answer)
    model.when("summary", summary)
    driver = await open_driver(memory_thread_summary_keep_recent=1)
    await driver.talk(1)
    forms = [request.response_format for request in model.requests if request.response_format]
    assert len(forms) == 2, "of the router and of the summary"
    for form in forms:
        wanted = form["json_schema"]
        assert wanted["strict"] is True
        assert list(schema_faults(wanted["schema"])) == [], wanted["name"]


async def test_the_same_schemas_where_the_server_knows_only_tools(model: ModelServer, open_driver: OpenDriver) -> None:
    model.unsupported = ("json_schema",)
    model.when("chat", answer)
    model.when("summary", summary)
    driver = await open_driver(memory_thread_summary_keep_recent=1)
    await driver.talk(1)
    asked = [request for request in model.requests if request.model != "chat" and request.tools]
    assert {request.model for request in asked} == {"router", "summary"}
    for request in asked:
        [tool] = request.tools
        assert list(schema_faults(tool["function"]["parameters"])) == []
