"""Commands of the program: in this process with their output as text, or as the program that a person starts."""

import argparse
import asyncio
import io
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import anyio
import pytest

from backend.cli import Command
from backend.cli.terminal import Terminal
from tests.support.langgraph_server import environment
from tests.support.memory_homes import HomeInPostgres, Process

T = TypeVar("T")


@dataclass(frozen=True)
class Done:
    """What a command ended with, and what it wrote."""

    code: int
    out: str
    err: str


def carry_out(command: Command, *arguments: str) -> Done:
    """Run a command of this process, with the environment for its settings. Its errors pass."""
    out, err = io.StringIO(), io.StringIO()
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    code = command.run(parser.parse_args(arguments), Terminal(out=out, err=err))
    return Done(code, out.getvalue(), err.getvalue())


async def run_program(*arguments: str, variables: Mapping[str, str], cwd: Path) -> Done:
    """The program itself, with pipes for a keyboard and a screen."""
    done = await anyio.run_process(
        [sys.executable, "-m", "backend.cli", *arguments], cwd=cwd, env=environment(variables), check=False
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


@dataclass(frozen=True)
class Surroundings:
    """The database and the settings of a command, which it reads from the environment."""

    database_url: str
    patch: pytest.MonkeyPatch
    cwd: Path

    def set(self, variables: Mapping[str, str]) -> None:
        for name, value in variables.items():
            self.patch.setenv(name, value)

    def with_memory(self, act: Callable[[Process], Awaitable[T]]) -> T:
        """Do something with the memory in the database, as another process."""

        async def open_and_act() -> T:
            async with HomeInPostgres(self.database_url).process() as process:
                return await act(process)

        return asyncio.run(open_and_act())


@pytest.fixture
def surroundings(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Surroundings:
    """A database of the test's own in DATABASE_URL, and an empty working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", database_url)
    return Surroundings(database_url, monkeypatch, tmp_path)
