"""The command line: `afterthought dev`, `afterthought chat` and the others of `COMMANDS`; one module each."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Protocol, cast

import structlog

from backend import __version__
from backend.cli.terminal import Terminal
from backend.errors import AfterthoughtError, SettingsError
from backend.observability.logging import configure_logging

COMMANDS = {
    "dev": "serve on this machine, with a database of its own",
    "chat": "chat with a running server",
    "doctor": "say what is configured, what is missing and how to fix it",
    "backfill": "write the thread summaries that are missing",
    "export": "print everything that is remembered of a user, as JSON",
    "erase": "erase everything of a user",
}
FAILED = 1
MISCONFIGURED = 2
INTERRUPTED = 130


class Command(Protocol):
    """What a command's module has."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace, terminal: Terminal) -> int:
        """Carry it out; the exit code."""
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command; the exit code: 0 done, 1 failed, 2 wrong settings or arguments, 130 Ctrl-C."""
    named = _parser().parse_args(arguments)
    # imported only now: what one command needs takes the others a second or more to load
    command = cast("Command", importlib.import_module(f"backend.cli.{named.command}"))
    parser = argparse.ArgumentParser(prog=f"afterthought {named.command}", description=COMMANDS[named.command])
    command.add_arguments(parser)
    options = parser.parse_args(named.arguments)
    configure_logging()
    # where complaints go, because what is printed may be read by a program
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    terminal = Terminal(out=sys.stdout, err=sys.stderr)
    try:
        return command.run(options, terminal)
    except AfterthoughtError as error:
        terminal.complain(error.message)
        return MISCONFIGURED if isinstance(error, SettingsError) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:<8} {summary}" for name, summary in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="afterthought",
        description="Agents that remember.",
        epilog=f"commands:\n{listed}\n\nafterthought COMMAND --help says what a command takes.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"afterthought {__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="one of those below")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser
