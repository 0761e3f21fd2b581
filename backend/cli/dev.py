"""`afterthought dev`: the database, the server and their addresses, for one machine."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from backend.cli.model_line import model_line
from backend.cli.port import HOST, choose_port, is_free
from backend.cli.running_server import forget_server, record_server, url_of
from backend.cli.server_process import ServerProcess, answers, first_of
from backend.cli.stop_signals import StopSignals, stop_signals
from backend.cli.terminal import Terminal
from backend.errors import AfterthoughtError, SettingsError
from backend.settings import Settings, load_settings
from backend.storage.database import Database
from backend.storage.file_locks import exclusively

JOBS_PER_WORKER = 10
"""With the server's default of one job at a time the next chat waits for the background run of the last one."""
SERVER_FOLDER = Path(".langgraph_api")
STUDIO = "https://smith.langchain.com/studio/?baseUrl="


@dataclass(frozen=True, slots=True)
class DevServer:
    """What `dev` runs.

    Attributes:
        prepare_database: makes sure that there is a database, up to date, as long as this program lives.
        command: the command line of the server, which gets the port appended.
    """

    settings: Settings
    prepare_database: Callable[[], Awaitable[None]]
    command: Sequence[str]
    terminal: Terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reload", action="store_true", help="restart the server when a Python file changes")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    settings = load_settings()
    if not Path("langgraph.json").is_file():
        raise SettingsError("langgraph.json is not in this folder: start the server in the project's folder")
    command = langgraph_command(reload=options.reload, quiet=settings.log_level != "DEBUG")
    # The embedded database ends with the last program that holds it. This one does, over all reloads of the server.
    prepare = Database(settings).prepare
    return asyncio.run(
        serve(DevServer(settings=settings, prepare_database=prepare, command=command, terminal=terminal))
    )


def langgraph_command(*, reload: bool, quiet: bool) -> list[str]:
    """`langgraph dev` of this interpreter's environment; `quiet` leaves out what the server says about itself."""
    module = "backend.cli.langgraph_dev" if quiet else "langgraph_cli"
    command = [sys.executable, "-m", module, "dev", "--host", HOST, "--no-browser"]
    return [*command, "--n-jobs-per-worker", str(JOBS_PER_WORKER), *([] if reload else ["--no-reload"])]


async def serve(dev: DevServer) -> int:
    """Serve until a signal comes or the server ends by itself; the exit code.

    Raises:
        SettingsError: a server of this folder runs already, the port is taken, or DATABASE_URL or DATA_DIR cannot be
            used.
        StorageUnavailable: the database does not answer or does not start.
    """
    with _only_server_here():
        return await _serve(dev)


async def _serve(dev: DevServer) -> int:
    settings = dev.settings
    port = choose_port(settings.port, fixed="port" in settings.model_fields_set, is_free=is_free)
    if port != settings.port:
        dev.terminal.say(f"Port {settings.port} is taken by another program; using {port}.")
    with stop_signals() as signals:
        await _prepare_database(dev, signals)
        if signals.stop.is_set():
            return 0
        return await _run_server(dev, port=port, signals=signals)


@contextmanager
def _only_server_here() -> Generator[None]:
    """The LangGraph server keeps its list of threads in a folder here; of two servers the last to end would win."""
    with ExitStack() as held:
        try:
            SERVER_FOLDER.mkdir(exist_ok=True)
            held.enter_context(exclusively(SERVER_FOLDER / "running", seconds=0))
        except TimeoutError:
            raise SettingsError(
                "a server of this folder is running already: stop it, or start this one in a folder of its own"
            ) from None
        except PermissionError:
            raise SettingsError(f"the server cannot write in {SERVER_FOLDER.absolute()}, which it must") from None
        yield


async def _prepare_database(dev: DevServer, signals: StopSignals) -> None:
    """Before the server, so that what is wrong with it is one line and not the end of the server's traceback."""
    try:
        await dev.prepare_database()
    except AfterthoughtError:
        # Ctrl-C reaches the database's own programs too, which then fail; that is no news.
        if not signals.stop.is_set():
            raise


async def _run_server(dev: DevServer, *, port: int, signals: StopSignals) -> int:
    url = url_of(port)
    server = await ServerProcess.start([*dev.command, "--port", str(port)], environment=_environment(dev, url))
    try:
        await first_of(answers(url), server.ended(), signals.stop.wait())
        if server.exit_code is None and not signals.stop.is_set():
            record_server(dev.settings.data_dir, url)
            for line in _addresses(dev.settings, url):
                dev.terminal.say(line)
            await first_of(server.ended(), signals.stop.wait())
        if signals.stop.is_set():
            dev.terminal.say("Stopping ... (Ctrl-C once more stops at once)")
            return 0
        dev.terminal.complain(f"The server ended by itself with exit code {server.exit_code}; its last lines say why.")
        return server.exit_code or 1
    finally:
        await server.stop(at_once=signals.at_once)
        forget_server(dev.settings.data_dir, url)


def _environment(dev: DevServer, url: str) -> dict[str, str]:
    return {
        "SELF_URL": url,
        "LOG_LEVEL": dev.settings.log_level,
        "LOG_COLOR": str(dev.terminal.is_interactive).lower(),
        # the server's own look for a newer version, and its usage statistics
        "LANGGRAPH_NO_VERSION_CHECK": "true",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    }


def _addresses(settings: Settings, url: str) -> list[str]:
    return [
        "",
        f"Afterthought serves on {url}   (Ctrl-C stops it)",
        "",
        f"  Page      {url}/app",
        "  Terminal  make chat, in another terminal",
        f"  API       {url}/docs",
        f"  Studio    {STUDIO}{url}",
        f"  Model     {model_line(settings)}",
        f"  Data      {data_line(settings)}",
        "",
    ]


def data_line(settings: Settings) -> str:
    """Where the data lies; never the DSN, which may carry a password."""
    return f"the embedded database in {settings.embedded_data}" if settings.embedded_data else "DATABASE_URL"
