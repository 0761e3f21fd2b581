"""`ModelProcess` at its other end: one line of JSON in, `[what, value]`, one line out; it ends with its input."""

import json
import sys
from typing import Any

from bench.turns.scripted import script
from bench.turns.summarizing import Summarizing
from bench.turns.summary_rule import SUMMARY_WORDS
from tests.support.model_requests import text_of
from tests.support.model_server import ModelRequest, ModelServer


class Control:
    """What the other process asks of the models."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server
        self._newest: dict[str, ModelRequest] = {}
        self.delay = 0.0
        self.summarizing = Summarizing(SUMMARY_WORDS)

    def answer(self, what: str, value: Any) -> Any:
        match what:
            case "delay":
                self.delay = float(value)
                return None
            case "words":
                self.summarizing.words = int(value)
                return None
            case "last":
                self._remember()
                newest = self._newest.get(value)
                return newest and dict(newest.body)
            case "taken":
                return self._taken()
            case _:
                raise ValueError(f"unknown: {what}")

    def _taken(self) -> list[dict[str, Any]]:
        """A long measurement keeps no more than the newest request of each model."""
        self._remember()
        taken = [_measure(request) for request in self._server.requests]
        self._server.requests.clear()
        return taken

    def _remember(self) -> None:
        self._newest |= {request.model: request for request in self._server.requests}


def _measure(request: ModelRequest) -> dict[str, Any]:
    said = sum(len(text_of(message)) for message in request.messages)
    tools = len(json.dumps(request.tools)) if request.tools else 0
    return {"model": request.model, "chars": said + tools, "messages": len(request.messages)}


def main() -> None:
    with ModelServer() as server:
        control = Control(server)
        script(server, delay=lambda: control.delay, summary=control.summarizing)
        print(json.dumps(server.environment), flush=True)
        for line in sys.stdin:
            what, value = json.loads(line)
            print(json.dumps(control.answer(what, value)), flush=True)


if __name__ == "__main__":
    main()
