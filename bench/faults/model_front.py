"""The way to the scripted models, which can be closed, and on which something else can answer for them."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle
from typing import Final

LOOPBACK: Final = "127.0.0.1"


def _http(body: str, *, kind: str = "application/json", status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close"
    return f"{head}\r\n\r\n{body}".encode()


def _stream(*events: str) -> bytes:
    return _http("".join(f"data: {event}\n\n" for event in events), kind="text/event-stream")


def _choice(values: str) -> str:
    return f'{{"choices": [{{"index": 0, {values}}}]}}'


CUT_CALL: Final = (
    '{"id":"x","type":"function","index":0,"function":{"name":"save_memory","arguments":"{\\"patches\\": ["}}'
)
GARBAGE: Final = (
    bytes(range(256)) * 4,
    _http("<html><h1>Bad gateway</h1></html>", kind="text/html"),
    _http("<html><h1>Bad gateway</h1></html>", kind="text/html", status="502 Bad Gateway"),
    *map(_http, ('{"choices": [', "{}", "null", "[1, 2]", '{"choices": []}')),
    _http(_choice('"message": {"role": "assistant", "content": 12}, "finish_reason": "stop"')),
    _http(_choice('"message": {"role": "assistant", "content": "{{{"}, "finish_reason": "stop"')),
    _http(_choice(f'"message": {{"role": "assistant", "tool_calls": [{CUT_CALL}]}}')),
    _stream("not json"),
    _stream("{}", "[DONE]"),
    _stream(_choice('"delta": {"role": "assistant", "content": null}'), "[DONE]"),
    _stream(_choice('"delta": {"role": "assistant", "content": {"a": 1}}'), "[DONE]"),
    _stream(_choice(f'"delta": {{"role": "assistant", "tool_calls": [{CUT_CALL}]}}'), "[DONE]"),
    _stream(_choice('"delta": {"role": "assistant", "content": "half an ans')),
)
"""Answers that no client may take for one, and some that it can only take for a wrong one."""


class ModelFront:
    """Passes connections on to the models at `port` of this machine; lives in the running event loop."""

    def __init__(self, port: int) -> None:
        self._models = port
        self._garbage: cycle[bytes] | None = None
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}/v1"

    async def open(self) -> None:
        """Take connections, at the same port as before."""
        self._server = await asyncio.start_server(self._serve, LOOPBACK, self.port)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Break off every connection, and refuse new ones."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()

    def answer_with(self, garbage: Sequence[bytes]) -> None:
        """Each request gets the next of these, round and round; with none of them the models answer again."""
        self._garbage = cycle(garbage) if garbage else None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        with suppress(OSError, asyncio.IncompleteReadError):
            if self._garbage is not None:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(next(self._garbage))
                await writer.drain()
            else:
                await self._pass_on(reader, writer)
        self._writers.discard(writer)
        writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """When either side ends, so does the other."""
        from_models, to_models = await asyncio.open_connection(LOOPBACK, self._models)
        ways = [asyncio.ensure_future(_pump(reader, to_models)), asyncio.ensure_future(_pump(from_models, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            to_models.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
