"""The parts that faults are made with: the way to the models, the disk that fills, the clock that is moved."""

import asyncio
import os
from pathlib import Path

import httpx
import pytest

from bench.faults.clock import MovedClock
from bench.faults.disk import fill, make_room
from bench.faults.model_front import GARBAGE, ModelFront
from tests.support.loopback_http import Connection, HttpRequest, LoopbackServer

pytestmark = pytest.mark.anyio


async def hello(_: HttpRequest, connection: Connection) -> None:
    await connection.send_json(200, "hello")


async def ask(front: ModelFront) -> str:
    async with httpx.AsyncClient(timeout=5) as client:
        return (await client.get(f"{front.url}/models")).text


async def test_the_way_passes_on_closes_and_opens_at_the_same_place() -> None:
    with LoopbackServer(hello) as models:
        front = ModelFront(models.port)
        await front.open()
        port = front.port
        assert await ask(front) == '"hello"'
        await front.close()
        with pytest.raises(httpx.ConnectError):
            await ask(front)
        await front.open()
        assert front.port == port
        assert await ask(front) == '"hello"'
        await front.close()


async def test_each_request_gets_the_next_piece_of_garbage_until_there_is_none() -> None:
    with LoopbackServer(hello) as models:
        front = ModelFront(models.port)
        await front.open()
        front.answer_with(GARBAGE[1:5:3])
        assert await ask(front) == "<html><h1>Bad gateway</h1></html>"
        assert await ask(front) == "{}"
        assert await ask(front) == "<html><h1>Bad gateway</h1></html>"
        front.answer_with(())
        assert await ask(front) == '"hello"'
        await front.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
async def test_a_full_disk_is_noticed_and_room_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "filler").symlink_to("/dev/full")
    assert fill(tmp_path) == 0
    make_room(tmp_path)
    assert not (tmp_path / "filler").is_symlink()


@pytest.mark.skipif(MovedClock.library() is None, reason="libfaketime is not installed")
async def test_a_program_sees_the_moved_clock_and_sleeps_and_measures_spans_as_before(tmp_path: Path) -> None:
    clock = MovedClock(tmp_path / "clock")
    clock.move("+10d")
    program = await asyncio.create_subprocess_exec(
        *("python3", "-c", "import time; time.sleep(0.1); print(time.time(), time.monotonic())"),
        env={"PATH": os.environ["PATH"], **clock.environment},
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await program.communicate()
    wall, monotonic = map(float, output.split())
    loop = asyncio.get_running_loop()
    assert wall - (tmp_path / "clock").stat().st_mtime > 9 * 86_400
    assert abs(monotonic - loop.time()) < 60
