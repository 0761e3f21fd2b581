"""A stream of server-sent events, read from an app in this process while it goes on."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from starlette.types import ASGIApp, Message

SOON_SECONDS = 10


class EventStream:
    """One request and what has come of it. httpx, in process, hands over answers that have ended only."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self._read = 0
        self._asked = False
        self._left = asyncio.Event()
        self._news = asyncio.Condition()

    async def receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        async with self._news:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            self.body += message.get("body", b"")
            self._news.notify_all()

    @property
    def events(self) -> list[tuple[str, str]]:
        """All that have come, with their data; comments are none."""
        found: list[tuple[str, str]] = []
        for block in self.body.decode().split("\r\n\r\n")[:-1]:
            fields = dict(line.split(": ", 1) for line in block.split("\r\n") if not line.startswith(":"))
            if fields:
                found.append((fields["event"], fields["data"]))
        return found

    async def next(self) -> tuple[str, str]:
        """The next event that was not asked for yet."""
        async with asyncio.timeout(SOON_SECONDS), self._news:
            await self._news.wait_for(lambda: len(self.events) > self._read)
        self._read += 1
        return self.events[self._read - 1]

    async def begun(self) -> None:
        async with asyncio.timeout(SOON_SECONDS), self._news:
            await self._news.wait_for(lambda: self.status)

    def leave(self) -> None:
        """As a client that closes its page."""
        self._left.set()


@asynccontextmanager
async def event_stream(app: ASGIApp, path: str) -> AsyncGenerator[EventStream]:
    """A stream whose answer has begun; when the block ends the client leaves, and the app must end it."""
    stream = EventStream()
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "http_version": "1.1",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }

    async def answer() -> None:
        await app(scope, stream.receive, stream.send)

    answering = asyncio.create_task(answer())
    try:
        await stream.begun()
        yield stream
    finally:
        stream.leave()
        async with asyncio.timeout(SOON_SECONDS):
            await answering
