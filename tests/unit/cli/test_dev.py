"""`serve` with a stand-in for the server and no database: what starts, what is printed, what ends when."""

import asyncio
import io
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import httpx
import pytest

from backend.cli.dev import DevServer, langgraph_command, serve
from backend.cli.running_server import candidate_urls
from backend.cli.terminal import Terminal
from backend.errors import SettingsError
from backend.settings import Settings
from tests.support import stand_in_server
from tests.support.conditions import until
from tests.support.langgraph_server import environment, free_port

pytestmark = pytest.mark.anyio

READY = "  Data "


async def no_database() -> None:
    pass


class Dev:
    """`afterthought dev` in this process; what it printed, and how it ended."""

    def __init__(self, data_dir: Path, behaviour: str, **settings: object) -> None:
        self.settings = Settings.model_validate({"data_dir": data_dir, **settings})
        self._out, self._err = io.StringIO(), io.StringIO()
        command = [sys.executable, stand_in_server.__file__, behaviour]
        terminal = Terminal(out=self._out, err=self._err)
        dev = DevServer(settings=self.settings, prepare_database=no_database, command=command, terminal=terminal)
        self._serving = asyncio.ensure_future(serve(dev))

    @property
    def out(self) -> str:
        return self._out.getvalue()

    @property
    def err(self) -> str:
        return self._err.getvalue()

    async def ready(self) -> None:
        await until(lambda: READY in self.out or self._serving.done(), 30)
        assert READY in self.out, self.err

    async def ended(self) -> int:
        async with asyncio.timeout(30):
            return await self._serving


async def test_the_addresses_are_printed_once_the_server_answers(tmp_path: Path) -> None:
    port = free_port()
    dev = Dev(tmp_path, "serve", port=port)
    await dev.ready()

    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        assert (await client.get("/ok")).json()["ok"]
        variables = (await client.get("/variables")).json()
    os.kill(os.getpid(), signal.SIGINT)

    assert await dev.ended() == 0
    assert f"http://127.0.0.1:{port}/docs" in dev.out
    assert f"https://smith.langchain.com/studio/?baseUrl=http://127.0.0.1:{port}" in dev.out
    assert "not a language model" in dev.out
    assert f"http://127.0.0.1:{port}/app\n" in dev.out
    assert variables["SELF_URL"] == f"http://127.0.0.1:{port}"
    assert variables["LANGGRAPH_NO_VERSION_CHECK"] == "true"
    assert variables["LANGGRAPH_CLI_NO_ANALYTICS"] == "1"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_the_server_and_then_the_program(tmp_path: Path, number: signal.Signals) -> None:
    port = free_port()
    dev = Dev(tmp_path, "serve", port=port)
    await dev.ready()
    assert candidate_urls(dev.settings)[0] == f"http://127.0.0.1:{port}"
    assert (tmp_path / "server-url").exists()

    os.kill(os.getpid(), number)

    assert await dev.ended() == 0
    assert dev.err == ""
    assert not answers(port)
    assert not (tmp_path / "server-url").exists()


async def test_a_second_signal_ends_a_server_that_does_not_stop(tmp_path: Path) -> None:
    port = free_port()
    dev = Dev(tmp_path, "stubborn", port=port)
    await dev.ready()

    os.kill(os.getpid(), signal.SIGINT)
    await until(lambda: "Stopping" in dev.out)
    os.kill(os.getpid(), signal.SIGINT)

    assert await dev.ended() == 0
    assert not answers(port)


async def test_a_signal_before_the_server_answers_ends_everything_too(tmp_path: Path) -> None:
    dev = Dev(tmp_path, "silent", port=free_port())
    await until(lambda: signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL)

    os.kill(os.getpid(), signal.SIGTERM)

    assert await dev.ended() == 0
    assert READY not in dev.out


async def test_a_server_that_ends_by_itself_ends_the_program_with_its_code_and_a_line(tmp_path: Path) -> None:
    dev = Dev(tmp_path, "die", port=free_port())

    assert await dev.ended() == stand_in_server.DEATH
    assert dev.err == "The server ended by itself with exit code 3; its last lines say why.\n"
    assert READY not in dev.out


async def test_a_port_that_was_set_and_is_taken_stops_the_start(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]

        with pytest.raises(SettingsError, match=f"PORT: {port} is taken"):
            await Dev(tmp_path, "serve", port=port).ended()


async def test_the_next_free_port_is_used_and_said_where_the_default_one_is_taken(tmp_path: Path) -> None:
    with socket.socket() as listener:
        with suppress(OSError):  # where another program has it already, it is taken as well
            listener.bind(("127.0.0.1", 2024))
            listener.listen()
        dev = Dev(tmp_path, "serve")
        await dev.ready()
        os.kill(os.getpid(), signal.SIGINT)
        await dev.ended()

    used = dev.out.partition("using ")[2].partition(".")[0]
    assert dev.out.startswith("Port 2024 is taken by another program; using ")
    assert f"http://127.0.0.1:{used}/app\n" in dev.out
    assert f"http://127.0.0.1:{used}/docs" in dev.out


def test_the_server_runs_ten_jobs_at_once_on_loopback_and_reloads_only_when_asked_to() -> None:
    command = " ".join(langgraph_command(reload=False, quiet=True))

    assert "--n-jobs-per-worker 10" in command
    assert "--host 127.0.0.1" in command
    assert "--no-browser" in command
    assert "--no-reload" in command
    assert "--no-reload" not in langgraph_command(reload=True, quiet=True)


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        pytest.param({"LOG_LEVEL": "LOUD"}, "LOG_LEVEL: ", id="a value that is not allowed"),
        pytest.param({"PORT": "eighty"}, "PORT: ", id="no number"),
        pytest.param({"AUTH_MODE": "jwt"}, "AUTH_MODE=jwt needs", id="a setting that needs another"),
        pytest.param({}, "langgraph.json", id="another folder"),
    ],
)
async def test_the_program_says_in_one_line_what_stops_it(
    tmp_path: Path, variables: dict[str, str], reason: str
) -> None:
    done = await anyio.run_process(
        [sys.executable, "-m", "backend.cli", "dev"], cwd=tmp_path, env=environment(variables), check=False
    )

    assert done.returncode == 2
    assert done.stdout == b""
    assert reason in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("database_url", "code", "reason"),
    [
        pytest.param(f"postgresql://127.0.0.1:{free_port()}/db", 1, "does not answer: ", id="no server there"),
        pytest.param("not an address", 2, "DATABASE_URL: ", id="no address"),
    ],
)
async def test_the_program_says_in_one_line_what_is_wrong_with_the_database(
    tmp_path: Path, database_url: str, code: int, reason: str
) -> None:
    await anyio.Path(tmp_path / "langgraph.json").write_text("{}")
    variables = {"DATABASE_URL": database_url, "PORT": str(free_port())}

    done = await anyio.run_process(
        [sys.executable, "-m", "backend.cli", "dev"], cwd=tmp_path, env=environment(variables), check=False
    )

    assert done.returncode == code
    assert reason in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def answers(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


async def test_a_second_server_in_the_same_folder_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    first = Dev(tmp_path, "serve", port=free_port())
    await first.ready()

    with pytest.raises(SettingsError, match="a server of this folder is running already"):
        await Dev(tmp_path, "serve", port=free_port()).ended()

    os.kill(os.getpid(), signal.SIGINT)
    assert await first.ended() == 0
