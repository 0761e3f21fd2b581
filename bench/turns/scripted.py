"""The scripted models in a process of their own, so that their work takes none of the time of the process measured.

The router chooses the chat agent, the chat model answers by rule and at once, summaries follow the rule of
`summarizing`. The other end of the pipe is this module run as a program: the name of a question a line in, JSON a line
out; it ends with its input.
"""

import json
import subprocess
import sys
from types import TracebackType
from typing import Any, Self

from bench.turns.summarizing import summarize
from bench.turns.talk import answer
from tests.support.langgraph_server import REPOSITORY, environment
from tests.support.model_requests import text_of
from tests.support.model_server import ModelRequest, ModelServer, structured, text


class ModelProcess:
    """The process, from the parent's side."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.turns.scripted"],
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

    def newest_chat(self) -> dict[str, Any]:
        """The body of the newest request to the chat model."""
        return self._ask("newest_chat")

    def taken(self) -> list[tuple[str, int]]:
        """What came since this was last asked, oldest first: the model, and the characters of the messages and the
        tools as they travelled.
        """
        return [(model, chars) for model, chars in self._ask("taken")]

    def _ask(self, what: str) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process of the scripted models has ended, see above")
        return json.loads(line)


def script(server: ModelServer) -> None:
    server.when("router", structured({"subagent": "chat_agent"}))
    server.when("title", text("A title"))
    server.when("chat", lambda request: text(answer(request.last_human_text)))
    server.when("summary", summarize)


def size_of(request: ModelRequest) -> tuple[str, int]:
    tools = len(json.dumps(request.tools)) if request.tools else 0
    return request.model, tools + sum(len(text_of(message)) for message in request.messages)


def main() -> None:
    newest: ModelRequest | None = None
    with ModelServer() as server:
        script(server)
        print(json.dumps(server.environment), flush=True)
        for line in sys.stdin:
            newest = next(reversed(server.for_model("chat")), newest)
            if line.strip() == "newest_chat":
                print(json.dumps(newest and newest.body), flush=True)
                continue
            taken = [size_of(request) for request in server.requests]
            server.requests.clear()  # a long measurement keeps no more than the newest
            print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    main()
