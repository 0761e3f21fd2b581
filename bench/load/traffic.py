"""Clients that chat, each with some threads of its own, and write down what they were told."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final
from uuid import uuid4

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import LangGraphError

from bench.load.ledger import Sent
from bench.load.script import mark_in, said

TURN_SECONDS: Final = 60.0
"""A client gives a turn up after so long."""
PAUSE_SECONDS: Final = 0.2
"""After a turn that failed."""
TOOLS: Final = ("save_memory", "manage_memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """One thread of one user."""

    user: str
    name: str
    thread_id: str
    server: int
    """The number of the one that it is kept on."""
    graph: str
    save_every: int
    """One turn of so many saves."""
    numbers: "count[int]" = field(default_factory=count)


@dataclass(slots=True)
class Heard:
    """What one turn streamed."""

    text: str = ""
    kept: set[str] = field(default_factory=set[str])
    error: str = ""

    def take(self, event: str, data: Any) -> None:
        if event == "error":
            self.error = str(data)
        elif event == "messages":
            self._take_message(data[0])

    def _take_message(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "AIMessageChunk":
            self.text += str(message["content"])
        elif message["type"] == "tool" and message["name"] in TOOLS and _succeeded(message):
            self.kept.add(message["name"])


def _succeeded(message: Mapping[str, Any]) -> bool:
    try:
        told = json.loads(message["content"])
    except ValueError:
        return False
    return message.get("status") != "error" and ("ok" in told or "facts" in told)


class Traffic:
    """Sends turns of chats and keeps what became of each in `sent`."""

    def __init__(self, url_of: Callable[[int], str]) -> None:
        """Where a server is by its number: asked before each turn, because a server may move."""
        self._url_of = url_of
        self.sent: list[Sent] = []
        self.under_way = 0
        """So many turns have been sent and are not in `sent` yet."""
        self.may_go = asyncio.Event()
        """While it is not set, `keep_on` sends nothing."""
        self.may_go.set()
        self._clients: dict[str, LangGraphClient] = {}

    async def turn(self, chat: Chat, *, may_save: bool = True) -> Sent:
        """One turn, its message with an id as the page sends it; a failure is written down, not raised."""
        number = next(chat.numbers)
        mark = f"{chat.name}n{number}"
        saves = may_save and number % chat.save_every == chat.save_every - 1
        began = time.monotonic()
        self.under_way += 1
        heard = await self._hear(chat, said(mark, saves=saves))
        self.under_way -= 1
        answered = not heard.error and mark_in(heard.text) == mark
        sent = Sent(
            user=chat.user,
            thread_id=chat.thread_id,
            mark=mark,
            answered=answered,
            kept=frozenset(heard.kept),
            seconds=time.monotonic() - began,
            error=heard.error or ("" if answered else f"answered {heard.text[:80]!r}"),
        )
        self.sent.append(sent)
        return sent

    async def keep_on(self, chats: Sequence[Chat], *, until: asyncio.Event) -> None:
        """One client: a turn in each of its threads, round and round."""
        while not until.is_set():
            for chat in chats:
                await self.may_go.wait()
                if not (await self.turn(chat)).answered:
                    await asyncio.sleep(PAUSE_SECONDS)

    async def rounds(self, chats: Sequence[Chat], *, turns: int) -> None:
        """One client: so many turns in each of its threads."""
        for _ in range(turns):
            for chat in chats:
                await self.turn(chat)

    def client(self, url: str) -> LangGraphClient:
        if url not in self._clients:
            self._clients[url] = get_client(url=url, api_key=None)
        return self._clients[url]

    async def close(self) -> None:
        for client in self._clients.values():
            await client.aclose()
        self._clients.clear()

    async def _hear(self, chat: Chat, message: str) -> Heard:
        heard = Heard()
        try:
            async with asyncio.timeout(TURN_SECONDS):
                async for event in self._stream(chat, message):
                    heard.take(event.event, event.data)
        except (TimeoutError, LangGraphError, httpx.HTTPError) as error:
            heard.error = f"{type(error).__name__}: {error}"
        return heard

    def _stream(self, chat: Chat, message: str) -> AsyncIterator[Any]:
        streaming: Callable[..., AsyncIterator[Any]] = self.client(self._url_of(chat.server)).runs.stream
        return streaming(
            chat.thread_id,
            chat.graph,
            input={"messages": [{"role": "human", "id": str(uuid4()), "content": message}]},
            config={"configurable": {"user_id": chat.user}},
            stream_mode="messages-tuple",
            if_not_exists="create",
        )


def make_chats(
    *, clients: int, threads: int, users: int, servers: int = 1, graph: str = "agent", save_every: int = 10
) -> list[list[Chat]]:
    """The threads of each client. Users, and servers, are shared by several clients when there are fewer of them."""
    chats: list[list[Chat]] = [[] for _ in range(clients)]
    for number in range(threads):
        client = number % clients
        chat = Chat(
            user=f"{graph}user{client % users}",
            name=f"{graph}c{client}t{number}",
            thread_id=str(uuid4()),
            server=client % servers,
            graph=graph,
            save_every=save_every,
        )
        chats[client].append(chat)
    return chats
