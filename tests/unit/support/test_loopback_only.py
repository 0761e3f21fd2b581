import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest

pytestmark = pytest.mark.anyio

ELSEWHERE = "192.0.2.1"


async def connect() -> None:
    with socket.socket() as one:
        one.connect((ELSEWHERE, 9))


async def connect_asyncio() -> None:
    await asyncio.open_connection(ELSEWHERE, 9)


async def send_datagram() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as one:
        one.sendto(b"x", (ELSEWHERE, 9))


async def look_up() -> None:
    await asyncio.get_running_loop().getaddrinfo(ELSEWHERE, 9)


@pytest.mark.parametrize("attempt", [connect, connect_asyncio, send_datagram, look_up])
async def test_another_host_is_refused_and_remembered(
    loopback_only: list[str], attempt: Callable[[], Awaitable[None]]
) -> None:
    with pytest.raises(pytest.fail.Exception, match=f"tried to contact {ELSEWHERE}"):
        await attempt()

    assert loopback_only == [ELSEWHERE]
    loopback_only.clear()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_this_machine_is_reached(loopback_only: list[str], host: str) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), host, 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection(host, port)
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()

    assert loopback_only == []
