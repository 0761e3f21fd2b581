"""What one fault is tried on: a PostgreSQL, servers, models and chatting clients, all of its own."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bench.faults.clock import MovedClock
from bench.faults.disk import small_disk
from bench.faults.model_front import ModelFront
from bench.load.ledger import Sent
from bench.load.script import Script
from bench.load.traffic import Chat, Traffic, make_chats
from bench.turns.served import served
from tests.support.langgraph_server import RunningServer
from tests.support.model_server import ModelServer
from tests.support.postgres import TestServer, prepare, temporary_directory

CLIENTS: Final = 4
THREADS: Final = 8
KEEP_RECENT: Final = 4
SAVE_EVERY: Final = 3
ANSWER_SECONDS: Final = 120.0


class Place:
    """One `langgraph dev` in a directory of its own, which may die and come back."""

    def __init__(self, directory: Path, url: str, environment: Mapping[str, str]) -> None:
        self._start: Callable[[], RunningServer]
        self._stack = ExitStack()
        self._arguments = (directory, url, environment)
        self.running: RunningServer | None = None

    @property
    def url(self) -> str:
        assert self.running is not None
        return self.running.url

    async def start(self) -> None:
        self.running = await asyncio.to_thread(self._stack.enter_context, served(*self._arguments))

    async def stop(self) -> None:
        """As a person does who presses Ctrl-C."""
        await asyncio.to_thread(self._stack.close)

    async def kill(self) -> None:
        """With -9."""
        assert self.running is not None
        os.killpg(self.running.process.pid, signal.SIGKILL)
        await self.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a fault needs beside the usual."""

    servers: int = 1
    users: int = 2
    small_disk: bool = False
    moved_clock: bool = False
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything that a fault may strike."""

    postgres: TestServer
    url: str
    disk: Path
    """The folder of the database's file system."""
    clock: MovedClock
    model: ModelServer
    script: Script
    front: ModelFront
    places: Sequence[Place]
    traffic: Traffic
    chats: Sequence[Sequence[Chat]]

    @property
    def all_chats(self) -> Sequence[Chat]:
        return [chat for own in self.chats for chat in own]

    async def answered(self, turns: int, *, seconds: float = ANSWER_SECONDS) -> bool:
        """Wait until each thread had so many more answers; whether it did in time."""
        before = len(self.traffic.sent)
        end = asyncio.get_running_loop().time() + seconds
        while self._fewest(self.traffic.sent[before:]) < turns:
            if asyncio.get_running_loop().time() > end:
                return False
            await asyncio.sleep(0.1)
        return True

    async def turn_each(self) -> Sequence[Sent]:
        """One more turn in each thread, all at once; none of them saves."""
        return await asyncio.gather(*(self.traffic.turn(chat, may_save=False) for chat in self.all_chats))

    def _fewest(self, sent: Sequence[Sent]) -> int:
        answered = [one.thread_id for one in sent if one.answered]
        return min(answered.count(chat.thread_id) for chat in self.all_chats)


@asynccontextmanager
async def a_world(needs: Needs) -> AsyncGenerator[World]:
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(temporary_directory())
        folder.chmod(0o755)
        disk = stack.enter_context(small_disk(folder / "disk")) if needs.small_disk else folder
        clock = MovedClock(folder / "clock")
        postgres = await asyncio.to_thread(_postgres, disk, clock if needs.moved_clock else None)
        stack.callback(postgres.close)
        url, model, script = postgres.create_database(), stack.enter_context(ModelServer()), Script()
        script.attach(model)
        front = ModelFront(urlsplit(model.url).port or 0)
        await front.open()
        stack.push_async_callback(front.close)
        variables = {
            **model.environment,
            "OPENAI_BASE_URL": front.url,
            "MEMORY_THREAD_SUMMARY_KEEP_RECENT": str(KEEP_RECENT),
            **needs.settings,
            **(clock.environment if needs.moved_clock else {}),
        }
        places = [Place(folder / f"server{number}", url, variables) for number in range(needs.servers)]
        for place in places:
            stack.push_async_callback(place.stop)
            await place.start()
        traffic = Traffic()
        stack.push_async_callback(traffic.close)
        yield World(
            postgres=postgres,
            url=url,
            disk=disk,
            clock=clock,
            model=model,
            script=script,
            front=front,
            places=places,
            traffic=traffic,
            chats=make_chats(
                [lambda place=place: place.url for place in places],
                clients=CLIENTS,
                threads=THREADS,
                users=needs.users,
                save_every=SAVE_EVERY,
            ),
        )


def _postgres(directory: Path, clock: MovedClock | None) -> TestServer:
    """Safe on disk, as the product runs it."""
    with ExitStack() as stack:
        if clock is not None:
            stack.enter_context(clock.for_children())
        server = TestServer(directory)
    prepare(server)
    return server
