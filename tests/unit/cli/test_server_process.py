import asyncio
import os
import sys
import time

import pytest

from backend.cli.server_process import ServerProcess, answers, first_of
from tests.support import stand_in_server
from tests.support.conditions import until
from tests.support.langgraph_server import free_port

pytestmark = pytest.mark.anyio

NEVER = 60.0


async def start(behaviour: str, port: int) -> ServerProcess:
    return await ServerProcess.start(
        [sys.executable, stand_in_server.__file__, behaviour, "--port", str(port)], environment={}
    )


def is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_server_is_asked_to_end_and_does() -> None:
    port = free_port()
    server = await start("serve", port)
    await answers(f"http://127.0.0.1:{port}")

    await server.stop(at_once=asyncio.Event())

    assert server.exit_code == 0


async def test_a_server_that_does_not_end_is_killed_at_once_when_asked_for_with_all_that_it_started() -> None:
    port = free_port()
    server = await start("stubborn", port)
    await answers(f"http://127.0.0.1:{port}")
    at_once = asyncio.Event()
    at_once.set()

    started = time.monotonic()
    await server.stop(at_once=at_once)

    assert time.monotonic() - started < 5
    assert server.exit_code == 128 + 9
    await until(lambda: not is_alive(server.group))


async def test_a_server_that_has_ended_by_itself_can_be_stopped_all_the_same() -> None:
    server = await start("die", free_port())
    await server.ended()

    await server.stop(at_once=asyncio.Event())

    assert server.exit_code == stand_in_server.DEATH


async def test_waiting_ends_with_the_first_that_is_done() -> None:
    done = asyncio.Event()
    done.set()

    async with asyncio.timeout(5):
        await first_of(asyncio.sleep(NEVER), done.wait())


async def test_waiting_ends_when_the_time_is_over_and_leaves_nothing_running() -> None:
    before = asyncio.all_tasks()

    async with asyncio.timeout(5):
        await first_of(asyncio.sleep(NEVER), within=0.01)

    assert asyncio.all_tasks() == before
