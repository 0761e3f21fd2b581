"""A scripted server with OpenAI's chat completions and embeddings, for tests here and for servers that they start.

    with ModelServer() as server:
        server.when("router", structured({"subagent": "chat_agent"}))       # as often as it is asked
        server.then(tool_calls(call("get_weather", {"city": "Oslo"})), text("It snows."))  # in this order, once each
        ...
        assert server.last.last_human_text == "How is the weather?"
        server.assert_all_used()

Who answers a request: a step scripted `to` it, else the newest rule that matches, else the next step of the queue. A
request that nobody answers, or that a real provider would refuse, fails the test when the server is closed.
"""

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self

from tests.support.loopback_http import Connection, HttpRequest, LoopbackServer
from tests.support.model_embeddings import (
    EmbeddingsRequest,
    Vectors,
    embeddings_of,
    input_faults_of,
    vectors,
)
from tests.support.model_replies import (
    Call,
    Failure,
    Reply,
    call,
    chunks_of,
    completion_of,
    cut_off,
    disconnect,
    error,
    refusal,
    structured,
    text,
    tool_calls,
)
from tests.support.model_requests import ModelRequest, Violation, hide_secrets, violations_of

__all__ = [
    "Call", "EmbeddingsRequest", "Gate", "ModelRequest", "ModelServer", "Reply", "Vectors", "call", "cut_off",
    "disconnect", "error", "refusal", "structured", "text", "tool_calls", "vectors",
]  # fmt: skip

ROLES = ("chat", "router", "title", "summary")
WAIT_SECONDS = 10.0

Capability = Literal["json_schema", "json_object", "tools"]
Predicate = Callable[[ModelRequest], bool]
Matching = str | Predicate
"""Which requests are meant: a model's name, or a question about the request."""
Answer = Reply | Callable[[ModelRequest], Reply]


@dataclass
class _Step:
    answer: Answer
    matches: Predicate | None
    used: bool = False


class Gate:
    """Holds the replies to matching requests until `release()`. `waiting` counts those that have come to it."""

    def __init__(self, server: LoopbackServer, matches: Predicate, *, after_chunks: int) -> None:
        self._server = server
        self._opened = asyncio.Event()
        self._matches = matches
        self._after_chunks = after_chunks
        self._released = False
        self.waiting = 0

    def release(self) -> None:
        self._released = True
        self._server.call_soon(self._opened.set)

    def holds(self, request: ModelRequest, chunks_sent: int) -> bool:
        return not self._released and chunks_sent == self._after_chunks and self._matches(request)

    async def passed(self) -> None:
        await self._opened.wait()


class ModelServer:
    """`url` ends in `/v1`. `unsupported` names what the server answers with HTTP 400, as older servers do.

    `requests` is all that was asked, refused requests included; `unexpected` those that nothing was scripted for,
    `violations` those that no provider would take, `abandoned` those whose client left before the answer's end.
    """

    def __init__(self, *, unsupported: Collection[Capability] = (), models: Collection[str] = ROLES) -> None:
        self.unsupported: Collection[Capability] = unsupported
        self._models = tuple(models)
        self._http = LoopbackServer(self._serve)
        self._lock = threading.RLock()
        self._watchers: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self.reset()

    def reset(self) -> None:
        """Forget the script and everything recorded; for a server that lives longer than one test."""
        with self._lock:
            self.requests: list[ModelRequest] = []
            self.unexpected: list[ModelRequest] = []
            self.violations: list[tuple[ModelRequest, Violation]] = []
            self.abandoned: list[ModelRequest] = []
            self._http.failures.clear()
            self._rules: list[_Step] = []
            self._steps: list[_Step] = []
            self._gates: list[Gate] = []

    def __enter__(self) -> Self:
        self._http.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.__exit__(kind, error, trace)
        if kind is None:
            self.assert_nothing_unexpected()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.port}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """Settings that make a process talk to this server, with each role's name as its model and no retries."""
        models = {f"MODEL_{role.upper()}": role for role in ROLES}
        return {"OPENAI_BASE_URL": self.url, "OPENAI_API_KEY": "test-key", "MODEL_MAX_RETRIES": "0", **models}

    def when(self, matching: Matching, answer: Answer) -> None:
        """Answer every matching request like this, from now on; a later rule comes before an earlier one."""
        with self._lock:
            self._rules.insert(0, _Step(answer, _matcher(matching)))

    def then(self, *answers: Answer, to: Matching | None = None) -> None:
        """Answer the next requests like this, once each, in order; with `to`, only such requests, rules or no rules."""
        with self._lock:
            self._steps += [_Step(answer, _matcher(to) if to is not None else None) for answer in answers]

    def hold(self, matching: Matching = lambda _: True, *, after_chunks: int = 0) -> Gate:
        """Keep back the replies to matching requests; `after_chunks` lets so many chunks of a stream through first."""
        gate = Gate(self._http, _matcher(matching), after_chunks=after_chunks)
        with self._lock:
            self._gates.append(gate)
        return gate

    @property
    def last(self) -> ModelRequest:
        return self.requests[-1]

    def for_model(self, name: str) -> list[ModelRequest]:
        return [request for request in self.requests if request.model == name]

    async def wait_for(self, matching: Matching, timeout: float = WAIT_SECONDS) -> ModelRequest:  # noqa: ASYNC109
        """The first recorded request that matches, as soon as there is one."""
        matches = _matcher(matching)
        await self.wait_until(lambda: any(matches(request) for request in self.requests), timeout)
        return next(request for request in self.requests if matches(request))

    async def wait_until(self, condition: Callable[[], Any], timeout: float = WAIT_SECONDS) -> None:  # noqa: ASYNC109
        """Until a condition on this server or its gates holds; asked again whenever something happens here."""
        changed = asyncio.Event()
        watcher = (asyncio.get_running_loop(), changed)
        self._watchers.append(watcher)
        try:
            async with asyncio.timeout(timeout):
                while not condition():
                    await changed.wait()
                    changed.clear()
        except TimeoutError:
            raise AssertionError(
                f"waited {timeout} s in vain; recorded: {[str(one) for one in self.requests]}"
            ) from None
        finally:
            self._watchers.remove(watcher)

    def assert_nothing_unexpected(self) -> None:
        problems = [f"nothing was scripted for {request}" for request in self.unexpected]
        problems += [f"{request} is invalid: {fault.message}" for request, fault in self.violations]
        problems += [f"answering failed: {failure!r}" for failure in self._http.failures]
        assert not problems, "\n".join(problems)

    def assert_all_used(self) -> None:
        """Every step of the queue was asked for, and nothing else was."""
        self.assert_nothing_unexpected()
        unused = [step.answer for step in self._steps if not step.used]
        assert not unused, f"{len(unused)} scripted steps were never asked for: {unused}"

    async def _serve(self, http: HttpRequest, connection: Connection) -> None:
        if (http.method, http.path) == ("GET", "/v1/models"):
            listed = [{"id": name, "object": "model", "owned_by": "test"} for name in self._models]
            await connection.send_json(200, {"object": "list", "data": listed})
        elif (http.method, http.path) == ("POST", "/v1/chat/completions"):
            await self._answer(http, connection, ModelRequest)
        elif (http.method, http.path) == ("POST", "/v1/embeddings"):
            await self._answer(http, connection, EmbeddingsRequest)
        else:
            await _send_error(connection, error(404, f"Invalid URL ({http.method} {http.path})"))

    async def _answer(self, http: HttpRequest, connection: Connection, kind: type[ModelRequest]) -> None:
        body: dict[str, Any] = json.loads(http.body)
        with self._lock:
            number = len(self.requests) + 1
            request = kind(number=number, at=time.monotonic(), headers=hide_secrets(http.headers), body=body)
            self.requests.append(request)
            reply = self._reply_to(request)
        self._tell_watchers()
        try:
            await self._send(request, reply, connection)
        except (OSError, asyncio.CancelledError):
            self.abandoned.append(request)
            raise
        finally:
            self._tell_watchers()

    def _reply_to(self, request: ModelRequest) -> Reply:
        violation = next(_faults_of(request), None)
        if violation:
            self.violations.append((request, violation))
            return Reply(failure=Failure(400, violation.message, "invalid_value", final=True))
        if request.format in self.unsupported:
            return error(400, f"{request.format} is not available on this server: response_format or tools unsupported")
        step = self._next_step(request)
        if step is None:
            self.unexpected.append(request)
            return Reply(failure=Failure(500, f"nothing is scripted for {request}", final=True))
        step.used = True
        return step.answer if isinstance(step.answer, Reply) else step.answer(request)

    def _next_step(self, request: ModelRequest) -> _Step | None:
        unused = [step for step in self._steps if not step.used]
        meant = (step for step in (*unused, *self._rules) if step.matches and step.matches(request))
        return next(meant, None) or next((step for step in unused if step.matches is None), None)

    async def _send(self, request: ModelRequest, reply: Reply, connection: Connection) -> None:
        await self._pass_gates(request, 0)
        await asyncio.sleep(reply.delay)
        if reply.failure:
            await _send_error(connection, reply)
        elif request.stream:
            await self._send_stream(request, reply, connection)
        else:
            await _send_whole(request, reply, connection)

    async def _send_stream(self, request: ModelRequest, reply: Reply, connection: Connection) -> None:
        await connection.start_events()
        for index, chunk in enumerate(chunks_of(request, reply)):
            await asyncio.sleep(reply.chunk_delay if index else 0)
            await connection.send_event(json.dumps(chunk))
            await self._pass_gates(request, index + 1)
        if reply.drops:
            connection.drop()
            return
        await connection.send_event("[DONE]")
        await connection.end_events()

    async def _pass_gates(self, request: ModelRequest, chunks_sent: int) -> None:
        for gate in list(self._gates):
            if gate.holds(request, chunks_sent):
                gate.waiting += 1
                self._tell_watchers()
                await gate.passed()

    def _tell_watchers(self) -> None:
        for loop, changed in list(self._watchers):
            with contextlib.suppress(RuntimeError):  # the watching loop has just closed
                loop.call_soon_threadsafe(changed.set)


def _matcher(matching: Matching) -> Predicate:
    return (lambda request: request.model == matching) if isinstance(matching, str) else matching


def _faults_of(request: ModelRequest) -> Iterator[Violation]:
    return input_faults_of(request) if isinstance(request, EmbeddingsRequest) else violations_of(request)


async def _send_whole(request: ModelRequest, reply: Reply, connection: Connection) -> None:
    is_embedding = isinstance(request, EmbeddingsRequest)
    answer = embeddings_of(request, reply) if is_embedding else completion_of(request, reply)
    if not reply.drops:
        await connection.send_json(200, answer)
        return
    body = json.dumps(answer).encode()
    await connection.send_head(200, {"content-type": "application/json", "content-length": str(len(body))})
    await connection.send(body[: len(body) // 2])
    connection.drop()


async def _send_error(connection: Connection, reply: Reply) -> None:
    assert reply.failure is not None
    failure = reply.failure
    described = {"message": failure.message, "type": "invalid_request_error", "param": None, "code": failure.code}
    headers = {"x-should-retry": "false"} if failure.final else {}
    await connection.send_json(failure.status, {"error": described}, headers)
