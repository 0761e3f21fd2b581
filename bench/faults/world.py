"""What one fault is tried on: a PostgreSQL, servers, models and chatting clients, all of its own."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bench.faults.clock import MovedClock
from bench.faults.disk import small_disk
from bench.faults.model_front import ModelFront
from bench.load.ledger import Sent, Stored
from bench.load.script import Script
from bench.load.stored import look, marks_in, remembered
from bench.load.traffic import Chat, Traffic, make_chats
from bench.turns.served import served
from tests.support.langgraph_server import RunningServer
from tests.support.model_server import ModelServer
from tests.support.postgres import TestServer, prepare, temporary_directory

CLIENTS: Final = 4
THREADS: Final = 8
SAVE_EVERY: Final = 3
KEEP_RECENT: Final = 4
ANSWER_SECONDS: Final = 120.0
PAUSE_SECONDS: Final = 20.0


class Place:
    """One `langgraph dev` in a directory of its own, which may die and come back."""

    def __init__(self, directory: Path, url: str, environment: Mapping[str, str]) -> None:
        self._serve = lambda: served(directory, url, environment)
        self._stack = ExitStack()
        self.running: RunningServer

    async def start(self) -> None:
        self.running = await asyncio.to_thread(self._stack.enter_context, self._serve())

    async def stop(self) -> None:
        """As a person does who presses Ctrl-C."""
        await asyncio.to_thread(self._stack.close)

    async def kill(self) -> None:
        """With -9."""
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
    clients: Sequence[Sequence[Chat]]
    """The chats of each."""

    @property
    def chats(self) -> Sequence[Chat]:
        return [chat for own in self.clients for chat in own]

    async def answered(self, turns: int, *, within: float = ANSWER_SECONDS) -> Sequence[str]:
        """Wait until each thread had so many more answers. The names of those that had not in time."""
        before, end = len(self.traffic.sent), asyncio.get_running_loop().time() + within
        while silent := self._silent(turns, self.traffic.sent[before:]):
            if asyncio.get_running_loop().time() > end:
                break
            await asyncio.sleep(0.1)
        return silent

    @asynccontextmanager
    async def paused(self) -> AsyncGenerator[None]:
        """No run is under way in the block, as far as can be told."""
        self.traffic.may_go.clear()
        try:
            while self.traffic.under_way:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            answered = sum(one.answered for one in self.traffic.sent)
            await remembered(self.url, episodes=answered, summarized=0, within=PAUSE_SECONDS)
            yield
        finally:
            self.traffic.may_go.set()

    def _silent(self, turns: int, sent: Sequence[Sent]) -> Sequence[str]:
        answers = [one.thread_id for one in sent if one.answered]
        return [chat.name for chat in self.chats if answers.count(chat.thread_id) < turns]

    async def turn_each(self) -> Sequence[Sent]:
        """One more turn in each thread, all at once; none of them saves."""
        return await asyncio.gather(*(self.traffic.turn(chat, may_save=False) for chat in self.chats))

    async def stored(self) -> Stored:
        """What is there now."""
        asked: dict[str, Sequence[str]] = {}
        answers: dict[str, Sequence[str]] = {}
        for number, place in enumerate(self.places):
            own = [chat.thread_id for chat in self.chats if chat.server == number]
            asked_here, answers_here = await marks_in(self.traffic.client(place.running.url), own)
            asked |= asked_here
            answers |= answers_here
        return await look(self.url, users={chat.user for chat in self.chats}, asked=asked, answers=answers)


@asynccontextmanager
async def a_world(needs: Needs) -> AsyncGenerator[World]:
    """All of it runs while the block does."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(temporary_directory())
        folder.chmod(0o755)
        disk = stack.enter_context(small_disk(folder / "disk")) if needs.small_disk else folder
        clock = MovedClock(folder / "clock")
        with clock.for_children() if needs.moved_clock else nullcontext():
            postgres = await asyncio.to_thread(TestServer, disk)  # safe on disk, as the product runs it
        stack.callback(postgres.close)
        await asyncio.to_thread(prepare, postgres)
        url, model, script = postgres.create_database(), stack.enter_context(ModelServer()), Script()
        script.attach(model)
        front = ModelFront(urlsplit(model.url).port or 0)
        await front.open()
        stack.push_async_callback(front.close)
        environment = {
            **model.environment,
            "OPENAI_BASE_URL": front.url,
            "MEMORY_THREAD_SUMMARY_KEEP_RECENT": str(KEEP_RECENT),
            **needs.settings,
            **(clock.environment if needs.moved_clock else {}),
        }
        places = [Place(folder / f"server{number}", url, environment) for number in range(needs.servers)]
        for place in places:
            stack.push_async_callback(place.stop)
            await place.start()
        traffic = Traffic(lambda server: places[server].running.url)
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
            clients=make_chats(
                clients=CLIENTS, threads=THREADS, users=needs.users, servers=needs.servers, save_every=SAVE_EVERY
            ),
        )
