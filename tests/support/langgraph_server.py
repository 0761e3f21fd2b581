"""A real `langgraph dev` in a directory of its own, so that tests share nothing with the developer's server."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

REPOSITORY = Path(__file__).parents[2]
START_SECONDS = 60
STOP_SECONDS = 15
PASSED_ON = ("PATH", "HOME", "TMPDIR", "LANG", "XDG_RUNTIME_DIR", "VIRTUAL_ENV")


class ServerStopped(Exception):
    """The server ended by itself before it answered; the message is its log."""


@dataclass(frozen=True)
class RunningServer:
    """Where the server answers, and what it wrote."""

    url: str
    process: "subprocess.Popen[bytes]"
    log_file: Path

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")


@dataclass(frozen=True)
class ServerFiles:
    """What `langgraph.json` names, by dotted path; the product's own unless a test brings others."""

    graphs: Mapping[str, Any] = field(
        default_factory=lambda: {"agent": "backend.agent:graph", "background_agent": "backend.background_agent:graph"}
    )
    app: str | None = "backend.app:app"
    auth: str | None = "backend.auth:auth"
    disable_studio_auth: bool = True
    store: str | None = None
    checkpointer: str | None = None

    def as_json(self) -> str:
        described: dict[str, Any] = {"dependencies": ["."], "graphs": dict(self.graphs)}
        if self.auth:
            described["auth"] = {"path": self.auth, "disable_studio_auth": self.disable_studio_auth}
        if self.app:
            described["http"] = {"app": self.app, "enable_custom_route_auth": True}
        if self.store:
            described["store"] = {"path": self.store}
        if self.checkpointer:
            described["checkpointer"] = {"path": self.checkpointer}
        return json.dumps(described)


@contextmanager
def running_server(directory: Path, *, files: ServerFiles, env: Mapping[str, str]) -> Generator[RunningServer]:
    """Serve from `directory` until the block ends; leaves no process behind.

    Raises:
        ServerStopped: it ended before it answered.
    """
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "langgraph.json").write_text(files.as_json())
    log_file = directory / "server.log"
    port = free_port()
    with log_file.open("wb") as log:
        process = subprocess.Popen(  # noqa: S603
            [
                *(sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"),
                *("--n-jobs-per-worker", "10", "--host", "127.0.0.1", "--port", str(port)),
            ],
            cwd=directory,
            env=environment(env),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        server = RunningServer(url=f"http://127.0.0.1:{port}", process=process, log_file=log_file)
        try:
            wait_until_it_answers(server)
            yield server
        finally:
            stop(process)


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """Nothing of the developer's settings, no tracing, no question to the outside."""
    inherited = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    fixed = {
        "PYTHONPATH": str(REPOSITORY),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANGGRAPH_NO_VERSION_CHECK": "true",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGSMITH_TRACING": "false",
    }
    return {**inherited, **fixed, **env}


def wait_until_it_answers(server: RunningServer) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            raise ServerStopped(server.log)
        try:
            if httpx.get(f"{server.url}/ok", timeout=2).is_success:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise TimeoutError(server.log)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End the server and all that it started: it leads a process group of its own."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
