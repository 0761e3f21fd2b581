"""What the scripted model can answer, and how each answer looks in OpenAI's chat completions format."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from tests.support.model_requests import ModelRequest

PIECE_CHARS = 4
"""Streamed text comes in pieces this small, so that tags and words arrive broken."""


class Pace(TypedDict, total=False):
    """Seconds before the first byte, and before each later chunk of a stream."""

    delay: float
    chunk_delay: float


@dataclass(frozen=True)
class Call:
    """A tool call; `arguments` as text are sent as they are, valid JSON or not; no id means one is made up."""

    name: str
    arguments: Mapping[str, Any] | str
    id: str | None = None


@dataclass(frozen=True)
class Failure:
    """`final` tells OpenAI's client not to repeat the request."""

    status: int
    message: str
    code: str | None = None
    final: bool = False


@dataclass(frozen=True, kw_only=True)
class Reply:
    content: str | None = None
    calls: tuple[Call, ...] = ()
    refusal: str | None = None
    finish_reason: str = "stop"
    failure: Failure | None = None
    drops: bool = False
    delay: float = 0.0
    chunk_delay: float = 0.0


def text(content: str, **pace: Unpack[Pace]) -> Reply:
    return Reply(content=content, **pace)


def call(name: str, arguments: Mapping[str, Any] | str, id: str | None = None) -> Call:  # noqa: A002
    return Call(name, arguments, id)


def tool_calls(*calls: Call, content: str | None = None, **pace: Unpack[Pace]) -> Reply:
    return Reply(content=content, calls=calls, finish_reason="tool_calls", **pace)


def structured(value: Any, **pace: Unpack[Pace]) -> Reply:
    """JSON as the text of the answer; a server that was asked for a tool call sends `tool_calls` instead."""
    return Reply(content=json.dumps(value, ensure_ascii=False), **pace)


def refusal(reason: str, **pace: Unpack[Pace]) -> Reply:
    return Reply(refusal=reason, **pace)


def error(status: int, message: str, code: str | None = None, **pace: Unpack[Pace]) -> Reply:
    return Reply(failure=Failure(status, message, code), **pace)


def cut_off(content: str, **pace: Unpack[Pace]) -> Reply:
    """The answer ran into the token limit."""
    return Reply(content=content, finish_reason="length", **pace)


def disconnect(content: str = "This will never be fin", **pace: Unpack[Pace]) -> Reply:
    """The connection breaks after the given text was sent, without an end of the stream."""
    return Reply(content=content, drops=True, **pace)


def completion_of(request: ModelRequest, reply: Reply) -> dict[str, Any]:
    """The whole answer, for a request that is not streamed."""
    choice = {"index": 0, "message": _message(reply, request.number), "finish_reason": reply.finish_reason}
    return {**_head(request, "chat.completion"), "choices": [choice], "usage": usage_of(request.messages, reply)}


def chunks_of(request: ModelRequest, reply: Reply) -> Iterator[dict[str, Any]]:
    """The same answer as the chunks of a stream; without its end when the connection is to break."""
    head = _head(request, "chat.completion.chunk")
    for delta in _deltas(reply, request.number):
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    if reply.drops:
        return
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish_reason}]}
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": usage_of(request.messages, reply)}


def _head(request: ModelRequest, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{request.number}", "object": kind, "created": 0, "model": request.model}


def _message(reply: Reply, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    if reply.calls:
        message["tool_calls"] = [
            {"id": _call_id(one, number, index), "type": "function", "function": _function(one)}
            for index, one in enumerate(reply.calls)
        ]
    return message


def _deltas(reply: Reply, number: int) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": "", "refusal": None}
    for piece in _pieces(reply.content or ""):
        yield {"content": piece}
    for piece in _pieces(reply.refusal or ""):
        yield {"refusal": piece}
    for index, one in enumerate(reply.calls):
        function = _function(one)
        head = {"id": _call_id(one, number, index), "type": "function", "function": {**function, "arguments": ""}}
        yield {"tool_calls": [{"index": index, **head}]}
        for piece in _pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def usage_of(messages: Sequence[Mapping[str, Any]], reply: Reply) -> dict[str, int]:
    """Rough tokens, four characters each: enough to see whether prompts grow."""
    prompt = _tokens(json.dumps(messages, ensure_ascii=False))
    completion = _tokens(json.dumps(_message(reply, 0), ensure_ascii=False))
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _call_id(one: Call, number: int, index: int) -> str:
    return one.id or f"call_{number}_{index}"


def _function(one: Call) -> dict[str, str]:
    raw = one.arguments
    return {"name": one.name, "arguments": raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)}


def _pieces(content: str) -> list[str]:
    return [content[start : start + PIECE_CHARS] for start in range(0, len(content), PIECE_CHARS)]


def _tokens(content: str) -> int:
    return max(1, len(content) // 4)
