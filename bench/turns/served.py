"""A real `langgraph dev` with our graphs and the plain one, and turns sent to it over the SDK."""

import time
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from langgraph_sdk.client import LangGraphClient

from tests.support.langgraph_server import RunningServer, running_server
from tests.support.product import PRODUCT

FILES = replace(PRODUCT, graphs={**PRODUCT.graphs, "plain": "bench.turns.plain_server:graph"})


@dataclass
class ServedTurn:
    """What a client saw; `seconds` run from the request to the end, `working` from the run's first sign of life."""

    text: str = ""
    seconds: float = 0.0
    working: float = 0.0
    errors: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])


@contextmanager
def served(directory: Path, url: str, environment: Mapping[str, str]) -> Generator[RunningServer]:
    """Serve from an empty directory over the database at `url`, until the block ends."""
    variables = {"DATABASE_URL": url, "LOG_LEVEL": "WARNING", **environment}
    with running_server(directory, files=FILES, env=variables) as server:
        yield server


async def served_turn(
    client: LangGraphClient, thread_id: str, text: str, *, graph: str = "agent", user_id: str = "ana"
) -> ServedTurn:
    """Send one message and read the stream to its end. A failed run is in `errors`; a lost connection raises."""
    turn, began = ServedTurn(), time.perf_counter()
    first: float | None = None
    streaming: Callable[..., AsyncIterator[Any]] = client.runs.stream
    sent = {"messages": [{"role": "human", "content": text}]}
    config = {"configurable": {"user_id": user_id}}
    async for event in streaming(thread_id, graph, input=sent, config=config, stream_mode="values"):
        if event.event == "error":
            turn.errors.append(event.data)
        elif event.event == "values":
            first = first or time.perf_counter()
            turn.text = str(event.data["messages"][-1]["content"])
    turn.seconds = time.perf_counter() - began
    turn.working = time.perf_counter() - (first or began)
    return turn
