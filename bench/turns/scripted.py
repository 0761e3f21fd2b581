"""The scripted models: the router chooses the chat agent, the chat model answers alike, summaries follow one rule."""

import json
import subprocess
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from bench.turns.summary_rule import entries_of
from bench.turns.talk import answer
from tests.support.langgraph_server import REPOSITORY, environment
from tests.support.model_requests import text_of
from tests.support.model_server import ModelRequest, ModelServer, Reply, structured, text

Delay = Callable[[], float]
Answering = Callable[[ModelRequest], Reply]


def script(server: ModelServer, *, delay: Delay = lambda: 0.0, summary: Answering | None = None) -> None:
    """Answer every role, each answer `delay()` seconds late; `summary` in place of the rule of `summary_rule`."""
    server.when("router", lambda _: structured({"subagent": "chat_agent"}, delay=delay()))
    server.when("title", lambda _: text("A title", delay=delay()))
    server.when("chat", lambda request: text(answer(request.last_human_text), delay=delay()))
    server.when("summary", summary or (lambda request: structured(_entries(request), delay=delay())))


def _entries(request: ModelRequest) -> dict[str, Any]:
    return entries_of(text_of(request.messages[-1]))


class ModelProcess:
    """The same models in a process of their own, so that their work takes none of the time of the process measured."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.turns.model_process"],
            cwd=REPOSITORY,
            env=environment({}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.environment: dict[str, str] = self._read()
        """Settings that make a process talk to it, as `ModelServer.environment`."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        code = self._process.wait(15)
        if kind is None and code:
            raise RuntimeError("the scripted models were asked for something that no provider would take, see above")

    def set_delay(self, seconds: float) -> None:
        """Before every answer, from now on."""
        self._ask("delay", seconds)

    def set_summary_words(self, words: int) -> None:
        """The most that a summary has which is written anew each time."""
        self._ask("words", words)

    def last(self, model: str) -> dict[str, Any] | None:
        """The body of the newest request to a model."""
        return self._ask("last", model)

    def taken(self) -> list[dict[str, Any]]:
        """What came since this was last asked, oldest first: `{model, chars, messages}`; chars are those of the
        messages and the tools as they travelled.
        """
        return self._ask("taken", None)

    def _ask(self, what: str, value: Any) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([what, value]) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process of the scripted models has ended, see above")
        return json.loads(line)
