"""The page and its events on a real server that asks for a sign-in, and what an installation of the project serves."""

import asyncio
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from backend.api.page import FOLDER, HEADERS
from backend.memory.changes import MAX_WATCHES
from tests.support.conditions import eventually
from tests.support.langgraph_server import REPOSITORY, RunningServer, environment, running_server
from tests.support.product import PRODUCT
from tests.support.two_users import ANA, BO, TOKENS, client, http

pytestmark = [pytest.mark.anyio, pytest.mark.server, pytest.mark.timeout(180)]

EVENTS = "/api/memory/events"
BROWSER = {"accept": "text/html,*/*;q=0.8"}
STOP_SECONDS = 5


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("page"), files=PRODUCT, env=TOKENS) as server:
        yield server


@asynccontextmanager
async def events(server: RunningServer, token: str) -> AsyncGenerator[AsyncIterator[str]]:
    """The names of a user's events, behind `ready`."""
    async with http(server, token) as caller, caller.stream("GET", EVENTS) as response:
        assert response.status_code == 200, await response.aread()
        names = names_in(response)
        assert await soon(names) == "ready"
        yield names


async def names_in(response: httpx.Response) -> AsyncGenerator[str]:
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            yield line.removeprefix("event: ")


async def soon(names: AsyncIterator[str]) -> str:
    async with asyncio.timeout(10):
        return await anext(names)


async def keep_note(server: RunningServer, token: str, content: str) -> None:
    async with http(server, token) as caller:
        assert (await caller.post("/api/memory/facts", json={"content": content})).status_code == 201


async def test_everybody_may_load_the_page_and_nothing_else(served: RunningServer) -> None:
    async with http(served) as nobody:
        index = await nobody.get("/app", headers=BROWSER)
        assert (index.status_code, index.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert index.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
        named = set(re.findall(r'(?:src|href)="(/[^"]+)"', index.text))
        assert named, index.text
        for path in named:
            assert (await nobody.get(path)).status_code == 200, path
        for path in ("/api/memory/profile", EVENTS, "/threads/x", "/app%2f..%2fapi/memory/profile"):
            assert (await nobody.get(path)).status_code in {401, 404}, path
        assert (await nobody.get("/api/memory/profile")).status_code == 401
        assert (await nobody.get(EVENTS)).status_code == 401
        assert (await nobody.get("/app", headers={"authorization": "Bearer wrong"})).status_code == 200
    assert "Blocking call" not in served.log


async def test_a_browser_at_the_root_is_led_to_the_page_and_programs_hear_that_the_server_is_up(
    served: RunningServer,
) -> None:
    async with http(served) as nobody:
        led, told = await nobody.get("/", headers=BROWSER), await nobody.get("/")

    assert (led.status_code, led.headers["location"]) == (307, "/app")
    assert (told.status_code, told.json()["ok"]) == (200, True)


async def test_a_reload_costs_a_few_bytes(served: RunningServer) -> None:
    async with http(served) as nobody:
        tag = (await nobody.get("/app")).headers["etag"]
        again = await nobody.get("/app", headers={"if-none-match": tag})

    assert (again.status_code, again.content) == (304, b"")


async def test_a_turn_is_heard_of_by_whoever_speaks_in_it_and_by_nobody_else(served: RunningServer) -> None:
    """The second event is of the episode, which the background run records when the answer is long there."""
    async with events(served, ANA) as anas, events(served, BO) as bos, client(served, ANA) as ana:
        thread = await ana.threads.create()
        message = {"role": "human", "content": "My name is Ana."}
        await ana.runs.wait(thread["thread_id"], "agent", input={"messages": [message]})
        assert await soon(anas) == "memory_changed"
        async with http(served, ANA) as caller:

            async def is_recorded() -> bool:
                return bool((await caller.get("/api/memory/episodes")).json()["episodes"])

            while not await is_recorded():
                assert await soon(anas) == "memory_changed"
        await keep_note(served, BO, "Bo's own note")
        assert await soon(bos) == "memory_changed"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await anext(bos)


async def test_clients_that_left_are_not_counted(served: RunningServer) -> None:
    async with AsyncExitStack() as stack, http(served, ANA) as ana:
        for _ in range(MAX_WATCHES):
            await stack.enter_async_context(events(served, ANA))
        refused = await ana.get(EVENTS)
        assert (refused.status_code, refused.json()["error"]["kind"]) == (409, "limit_reached")

    async def has_room() -> bool:
        async with http(served, ANA) as ana, ana.stream("GET", EVENTS) as response:
            return response.status_code == 200

    await eventually(has_room)


async def test_another_process_is_heard_of_and_ctrl_c_ends_a_server_with_open_streams(
    database_url: str, tmp_path: Path
) -> None:
    env = {**TOKENS, "DATABASE_URL": database_url}
    with (
        running_server(tmp_path / "one", files=PRODUCT, env=env) as one,
        running_server(tmp_path / "other", files=PRODUCT, env=env) as other,
    ):
        async with events(one, ANA) as anas, events(one, BO):
            await keep_note(other, ANA, "kept by the other server")
            assert await soon(anas) == "memory_changed"
            began = time.monotonic()
            one.process.send_signal(signal.SIGINT)
            await asyncio.to_thread(one.process.wait, STOP_SECONDS)
            assert time.monotonic() - began < STOP_SECONDS
        assert "Traceback" not in one.log


def test_an_installed_wheel_has_all_files_of_the_page(tmp_path: Path) -> None:
    """Copied first: a build writes into the folder that it builds."""
    source = tmp_path / "source"
    shutil.copytree(REPOSITORY / "backend", source / "backend", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source)
    options = ("--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check", "-w", str(tmp_path))
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(source)], env=environment({}), check=True)  # noqa: S603

    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    there = {f"backend/web/{path.relative_to(FOLDER).as_posix()}" for path in FOLDER.rglob("*") if path.is_file()}
    assert there <= names
    assert "backend/web/index.html" in there
