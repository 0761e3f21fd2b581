"""The server as a child process: started, watched until it answers, stopped with everything it started."""

import asyncio
import os
import signal
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

import httpx

STOP_SECONDS = 15.0
"""How long the server may take to end its runs and write its state; then it is killed."""
POLL_SECONDS = 0.1


class ServerProcess:
    """A command in a session of its own: Ctrl-C in the terminal reaches this program alone, which decides the order."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, command: Sequence[str], *, environment: Mapping[str, str]) -> Self:
        """Start it with the variables that this program has, and those of `environment` on top."""
        variables = {**os.environ, **environment}
        return cls(
            await asyncio.create_subprocess_exec(
                *command, env=variables, stdin=asyncio.subprocess.DEVNULL, start_new_session=True
            )
        )

    @property
    def exit_code(self) -> int | None:
        """As a shell would give it; None while it runs."""
        code = self._process.returncode
        return code if code is None or code >= 0 else 128 - code

    @property
    def group(self) -> int:
        """The process group of the server and of what it starts."""
        return self._process.pid

    async def ended(self) -> None:
        """Wait for its end."""
        await self._process.wait()

    async def stop(self, *, at_once: asyncio.Event) -> None:
        """Ask it to end; after `STOP_SECONDS`, or when `at_once` is set, kill it and all that it started."""
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGINT)
            await first_of(self._process.wait(), at_once.wait(), within=STOP_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(self.group, signal.SIGKILL)
        await self._process.wait()


async def answers(url: str) -> None:
    """Return once `GET <url>/ok` is answered, however long that takes."""
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=5) as client:
        while True:
            with suppress(httpx.HTTPError):
                if (await client.get("/ok")).is_success:
                    return
            await asyncio.sleep(POLL_SECONDS)


async def first_of(*waits: Coroutine[Any, Any, object], within: float | None = None) -> None:
    """Return when the first of them is done, or after `within` seconds; the others are cancelled."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, timeout=within, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
