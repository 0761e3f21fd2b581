"""The same comparison through a real `langgraph dev`, as a client sees it."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from bench.turns.served import ServedTurn, served, served_turn
from bench.turns.talk import said
from tests.support.conditions import eventually

EPISODES = "SELECT count(*) FROM memories WHERE kind = 'episode' AND thread_id = %s"


@dataclass(frozen=True, slots=True)
class ServedPair:
    ours: ServedTurn
    plain: ServedTurn


class ServedThreads:
    """A thread of each graph at a server; a turn of ours is over when its background run is, too."""

    def __init__(self, client: LangGraphClient, url: str) -> None:
        self._client = client
        self._url = url
        self._turns = 0

    async def begin(self) -> None:
        self._ours, self._plain = [(await self._client.threads.create())["thread_id"] for _ in range(2)]

    async def pair(self) -> ServedPair:
        text = said(self._turns)
        self._turns += 1
        ours = await served_turn(self._client, self._ours, text, graph="agent")
        await eventually(self._is_remembered, 30)
        return ServedPair(ours, await served_turn(self._client, self._plain, text, graph="plain"))

    async def _is_remembered(self) -> bool:
        async with await psycopg.AsyncConnection.connect(self._url) as connection:
            row = await (await connection.execute(EPISODES, [self._ours])).fetchone()
        return row is not None and row[0] >= self._turns


async def measure_served(url: str, environment: Mapping[str, str], *, pairs: int) -> Sequence[ServedPair]:
    """`pairs` pairs, after two that are not counted. The user of `url` has a past already."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="afterthought-"))
        server = stack.enter_context(served(Path(folder), url, environment))
        async with get_client(url=server.url, api_key=None) as client:
            threads = ServedThreads(client, url)
            await threads.begin()
            measured = [await threads.pair() for _ in range(pairs + 2)][2:]
    assert not any(pair.ours.errors or pair.plain.errors for pair in measured)
    return measured
