"""A small HTTP/1.1 server on loopback, in a thread with a loop of its own: what doubles of outside services stand on.

A handler is cancelled as soon as its client is gone, so that a test can see that a cancelled run stops what it had
asked for. One request a connection unless told otherwise, so that none outlives the loop of the test that opened it.
"""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

START_SECONDS = 10


@dataclass(frozen=True)
class HttpRequest:
    """`headers` have lower-case names; `path` is without the query."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


class Connection:
    """The answering side of one request."""

    def __init__(self, writer: asyncio.StreamWriter, *, keep_alive: bool) -> None:
        self.writer = writer
        self._keep_alive = keep_alive

    async def send_json(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        await self.send_head(
            status, {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
        )
        await self.send(body)

    async def send_head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
            f"connection: {'keep-alive' if self._keep_alive else 'close'}",
        ]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join([*lines, "", ""]).encode())

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def start_events(self) -> None:
        await self.send_head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})

    async def send_event(self, data: str) -> None:
        event = f"data: {data}\n\n".encode()
        await self.send(b"%x\r\n%s\r\n" % (len(event), event))

    async def end_events(self) -> None:
        await self.send(b"0\r\n\r\n")

    def drop(self) -> None:
        """Break the connection off, whatever was promised in the headers."""
        self.writer.transport.abort()


Handler = Callable[[HttpRequest, Connection], Awaitable[None]]


class LoopbackServer:
    """Serves a handler on `127.0.0.1:<port>` between `__enter__` and `__exit__`, to this process and its children."""

    def __init__(self, handler: Handler, *, keep_alive: bool = False) -> None:
        self._handler = handler
        self._keep_alive = keep_alive
        self._answering: set[asyncio.Task[Any]] = set()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="loopback-http", daemon=True)
        self.port = 0
        self.failures: list[BaseException] = []
        """What handlers raised, apart from clients that left: each is a fault of the double or of its script."""
        self.loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(START_SECONDS):
            raise RuntimeError("the loopback server did not start")
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.call_soon(self._stop.set)
        self._thread.join(START_SECONDS)

    def call_soon(self, callback: Callable[[], object]) -> None:
        """Have the server's own loop call this; from any thread."""
        assert self.loop is not None, "the server is not started"
        self.loop.call_soon_threadsafe(callback)

    async def _run(self) -> None:
        self.loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._answering.add(task)
        try:
            await self._answer_next(reader, writer)
            while self._keep_alive:
                await self._answer_next(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client left, or the server stops
        finally:
            self._answering.discard(task)
            writer.close()

    async def _answer_next(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _read_request(reader)
        connection = Connection(writer, keep_alive=self._keep_alive)
        answering = asyncio.ensure_future(self._handler(request, connection))
        await _while_connected(answering, reader)
        failure = None if answering.cancelled() else answering.exception()
        if failure and not isinstance(failure, OSError):
            self.failures.append(failure)


async def _read_request(reader: asyncio.StreamReader) -> HttpRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ", 2)
    fields = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in fields}
    path, _, query = target.partition("?")
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return HttpRequest(method=method, path=path, query=query, headers=headers, body=body)


async def _while_connected(answering: asyncio.Future[None], reader: asyncio.StreamReader) -> None:
    leaving = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (answering, leaving):
            task.cancel()
        await asyncio.gather(answering, leaving, return_exceptions=True)
