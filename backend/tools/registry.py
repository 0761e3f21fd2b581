"""The tools of the sub-agents by name, and how a call of one is carried out so that it always ends in a result."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, cast

import structlog
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolInvocationError
from langgraph.types import Command
from pydantic import BaseModel
from structlog.contextvars import bound_contextvars, get_contextvars

from backend.errors import AfterthoughtError, OutsideFailure
from backend.settings import Settings
from backend.tools.crypto import make_crypto_tool
from backend.tools.json_client import JsonClient
from backend.tools.weather import make_weather_tool

TRY_AGAIN: Final = "Correct the arguments and call the tool once more, or tell the user what is missing."
GIVE_UP: Final = "Tell the user that it failed and that a later try may work; do not call this tool again now."
UNEXPECTED: Final = "TOOL_FAILED: The tool failed unexpectedly."
MAX_PROBLEMS: Final = 5

Schema = Mapping[str, Any]
Result = ToolMessage | Command[Any]

log = structlog.stdlib.get_logger(__name__)


def make_tools(*, client: JsonClient, settings: Settings) -> Mapping[str, BaseTool]:
    """Every tool that asks an outside service, by the name under which the model calls it."""
    tools = (
        make_weather_tool(
            client=client,
            geocoding_url=settings.weather_geocoding_url,
            forecast_url=settings.weather_forecast_url,
        ),
        make_crypto_tool(client=client, base_url=settings.crypto_url),
    )
    return {tool.name: tool for tool in tools}


def make_tool_node(tools: Sequence[BaseTool]) -> ToolNode:
    """Carries out all calls of the last assistant message at once; each ends in a ToolMessage, whatever the others do.

    A failed call, or one of a tool that does not exist, ends in a ToolMessage of status `error` that says what to do
    next. Arguments that the model wrote as JSON text where a list or an object belongs are parsed.
    """
    argument_models = {tool.name: getattr(tool.args_schema, "__name__", None) for tool in tools}

    def describe(error: Exception) -> str:
        # ToolNode takes every ValidationError for bad arguments, also one that the tool's own work raised.
        if isinstance(error, ToolInvocationError) and error.source.title != argument_models[error.tool_name]:
            return describe_tool_error(error.source)
        return describe_tool_error(error)

    return ToolNode(tools, handle_tool_errors=describe, awrap_tool_call=_call)


def describe_tool_error(error: Exception) -> str:
    """What the model is told about a failed call; for `ToolNode(handle_tool_errors=...)`.

    Errors of our own carry their message; the rest is logged with a traceback and told in one general sentence.
    """
    # ToolNode asks by the annotation which errors are handled: `Exception` is all but cancellation and interrupts.
    if isinstance(error, ToolInvocationError):
        return f"INVALID_ARGUMENTS: {_problems(error)}. {TRY_AGAIN}"
    tool = get_contextvars().get("tool")
    if isinstance(error, OutsideFailure):
        log.warning("tool_failed", tool=tool, code=error.code, reason=error.message)
        return f"{error.code.upper()}: {error.message} {GIVE_UP}"
    if isinstance(error, AfterthoughtError):
        log.info("tool_refused", tool=tool, code=error.code)
        return f"{error.code.upper()}: {error.message} {TRY_AGAIN}"
    log.error("tool_failed", tool=tool, code=type(error).__name__, exc_info=error)
    return f"{UNEXPECTED} {GIVE_UP}"


def _problems(error: ToolInvocationError) -> str:
    found = error.source.errors() if error.filtered_errors is None else error.filtered_errors
    said = [f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {_reason(one['msg'])}" for one in found[:MAX_PROBLEMS]]
    return "; ".join(said) or "the arguments do not fit"


def _reason(message: str) -> str:
    return message.removeprefix("Value error, ")


async def _call(request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[Result]]) -> Result:
    with bound_contextvars(tool=request.tool_call["name"]):
        if request.tool is not None:
            arguments = parse_json_text(request.tool_call["args"], _schema(request.tool))
            request = request.override(tool_call={**request.tool_call, "args": arguments})
        return await execute(request)


def parse_json_text(arguments: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The arguments, with JSON text parsed wherever the schema wants a list or an object and takes no text."""
    properties = cast("Mapping[str, Schema]", schema.get("properties", {}))
    definitions = cast("Mapping[str, Schema]", schema.get("$defs", {}))
    return {
        name: _parsed(value)
        if isinstance(value, str) and _is_compound(properties.get(name, {}), definitions)
        else value
        for name, value in arguments.items()
    }


def _parsed(text: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return cast("object", value) if isinstance(value, dict | list) else text


def _is_compound(wanted: Schema, definitions: Mapping[str, Schema]) -> bool:
    types = _types(wanted, definitions)
    return bool(types & {"array", "object"}) and "string" not in types


def _types(wanted: Schema, definitions: Mapping[str, Schema]) -> set[str]:
    if "$ref" in wanted:
        return _types(definitions.get(wanted["$ref"].rsplit("/", 1)[-1], {}), definitions)
    named = wanted.get("type", [])
    types = {named} if isinstance(named, str) else set(named)
    for option in (*wanted.get("anyOf", ()), *wanted.get("oneOf", ())):
        types |= _types(option, definitions)
    return types


def _schema(tool: BaseTool) -> Schema:
    wanted = tool.tool_call_schema
    if isinstance(wanted, dict):
        return wanted
    return wanted.model_json_schema() if issubclass(wanted, BaseModel) else {}
