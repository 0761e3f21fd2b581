"""`afterthought dev` as a person uses it: start, chat, Ctrl-C, start again; with the database that it brings along."""

import asyncio
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.support.conditions import until
from tests.support.langgraph_server import REPOSITORY, environment, free_port

pytestmark = [pytest.mark.anyio, pytest.mark.server, pytest.mark.timeout(300)]

START_SECONDS = 60
STOP_SECONDS = 30


@asynccontextmanager
async def dev_server(folder: Path, port: int) -> AsyncGenerator[None]:
    """Serve while the block runs, end it as Ctrl-C does, and check that nothing is left of it."""
    log = folder / "dev.log"
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "backend.cli", "dev"),
            cwd=folder,
            env=environment({"PORT": str(port)}),
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        await until(lambda: "  Data " in log.read_text() or process.returncode is not None, START_SECONDS)
        assert process.returncode is None, log.read_text()
        yield
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGINT)
        async with asyncio.timeout(STOP_SECONDS):
            code = await process.wait()
    assert code == 0, log.read_text()
    assert await processes_of(folder, port) == []


async def processes_of(folder: Path, port: int) -> list[str]:
    """The command lines that name the folder (the database's) or the port (the server's)."""
    done = await anyio.run_process(["ps", "-axo", "command"])
    return [line for line in done.stdout.decode().splitlines() if str(folder) in line or f"--port {port}" in line]


async def chat(folder: Path, *lines: str, thread: str | None = None) -> str:
    """What the terminal chat prints for these lines; it finds the server by itself."""
    arguments = ["--thread", thread] if thread else []
    done = await anyio.run_process(
        [sys.executable, "-m", "backend.cli", "chat", *arguments],
        input="".join(f"{line}\n" for line in lines).encode(),
        cwd=folder,
        env=environment({}),
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


async def test_what_was_said_is_still_there_after_ctrl_c_and_another_start(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / "langgraph.json", tmp_path)

    async with dev_server(tmp_path, free_port()):
        first = await chat(tmp_path, "My name is Ana.", "/threads")
        found = re.search(r"^([0-9a-f-]{36})  ", first, re.MULTILINE)
        assert found, first

    async with dev_server(tmp_path, free_port()):
        assert "Ana" in await chat(tmp_path, "What is my name?", thread=found[1])
