"""The chat against a scripted server: in this process, and as the program that a person starts."""

import asyncio
import contextlib
import io
import os
import pty
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import anyio
import pytest

from backend.cli.chat import Chat, find_server
from backend.cli.conversation import Conversation, connect
from backend.cli.terminal import Terminal
from backend.errors import NotFound, ServerUnavailable
from backend.ids import ThreadId
from tests.support.agent_server import RUN_ID, THREAD_ID, AgentServer, chunk, update
from tests.support.conditions import until
from tests.support.langgraph_server import environment, free_port

HELLO = [chunk("Hell"), chunk("o"), update({"type": "ai", "content": "Hello", "tool_calls": []})]
THREAD: dict[str, Any] = {
    "thread_id": THREAD_ID,
    "updated_at": "2026-11-29T21:30:01.135505+00:00",
    "metadata": {"title": "Trip to Oslo"},
    "values": {
        "messages": [
            {"type": "human", "content": "Hello"},
            {"type": "ai", "content": "Hello, Ana"},
            {"type": "human", "content": "Oslo?"},
            {"type": "ai", "content": "", "tool_calls": []},
            {"type": "ai", "content": "A city."},
        ]
    },
}


class Session:
    """A chat with its two streams, as text."""

    def __init__(self, server: AgentServer, runner: asyncio.Runner, *, user: str | None, token: str | None) -> None:
        self._out, self._err = io.StringIO(), io.StringIO()
        conversation = Conversation(connect(server.url, token=token), user=user)
        self.chat = Chat(conversation, terminal=Terminal(out=self._out, err=self._err), runner=runner)

    @property
    def out(self) -> str:
        return self._out.getvalue()

    @property
    def err(self) -> str:
        return self._err.getvalue()


Start = Callable[..., Session]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a chat with a server; `user` and `token` as on the command line."""
    with asyncio.Runner() as runner:

        def make(server: AgentServer, user: str | None = None, token: str | None = None) -> Session:
            return Session(server, runner, user=user, token=token)

        yield make


def test_an_answer_is_shown_as_it_comes_and_its_line_is_ended(start: Start) -> None:
    with AgentServer(HELLO) as server:
        session = start(server)
        code = session.chat.answer_lines(["Hello\n"])

    assert (code, session.out, session.err) == (0, "Hello\n", "")
    assert server.runs[0]["assistant_id"] == "agent"
    [message] = server.runs[0]["input"]["messages"]
    assert (message["role"], message["content"]) == ("human", "Hello")
    assert UUID(message["id"]), "a run that is begun again after a kill would add a message without an id once more"
    assert "config" not in server.runs[0]


def test_the_user_is_named_only_when_there_is_one(start: Start) -> None:
    with AgentServer(HELLO) as server:
        start(server, user="ana").chat.answer_lines(["Hello"])

    assert server.runs[0]["config"] == {"configurable": {"user_id": "ana"}}


def test_messages_go_to_one_thread_until_a_new_one_is_asked_for(start: Start) -> None:
    with AgentServer(HELLO, HELLO, HELLO) as server:
        session = start(server)
        session.chat.answer_lines(["one", "", "two", "/new", "three"])

    created = [index for index, request in enumerate(server.requests) if request.path == "/threads"]
    assert len(server.runs) == 3
    assert len(created) == 2, "a thread at the first message, and one after /new"


def test_a_tool_call_has_a_line_of_its_own(start: Start) -> None:
    calls = update({"type": "ai", "content": "", "tool_calls": [{"name": "get_weather", "args": {"place": "Oslo"}}]})
    failure = update({"type": "tool", "status": "error", "content": "no such place"})
    with AgentServer([chunk("Let me see."), calls, failure, chunk("Sorry.")]) as server:
        session = start(server)
        session.chat.answer_lines(["Weather?"])

    assert session.out == 'Let me see.\n· get_weather(place="Oslo")\n· it failed: no such place\nSorry.\n'


def test_a_failed_run_is_said_and_the_next_message_is_answered(start: Start) -> None:
    with AgentServer([chunk("Hm"), ("error", {"message": "the model is away"})], HELLO) as server:
        session = start(server)
        code = session.chat.answer_lines(["one", "two"])

    assert (code, session.out, session.err) == (1, "Hm\nHello\n", "the model is away\n")


def test_a_run_without_any_answer_is_a_failure(start: Start) -> None:
    with AgentServer([]) as server:
        session = start(server)
        code = session.chat.answer_lines(["one"])

    assert (code, session.err) == (1, "There was no answer.\n")


def test_an_unknown_command_is_not_sent_and_a_path_is(start: Start) -> None:
    with AgentServer(HELLO) as server:
        session = start(server)
        code = session.chat.answer_lines(["/bogus", "/etc/hosts is what?"])

    assert code == 1
    assert session.err == "There is no /bogus; /help lists the commands.\n"
    assert len(server.runs) == 1


def test_nothing_after_quit_is_sent(start: Start) -> None:
    with AgentServer() as server:
        assert start(server).chat.answer_lines(["/quit", "Hello"]) == 0

    assert server.runs == []


def test_threads_are_listed_with_their_titles(start: Start) -> None:
    untitled = {**THREAD, "metadata": None}
    with AgentServer(threads=[THREAD, untitled]) as server:
        session = start(server)
        session.chat.answer_lines(["/threads"])

    assert session.out == f"{THREAD_ID}  2026-11-29 21:30  Trip to Oslo\n{THREAD_ID}  2026-11-29 21:30  (no title)\n"


def test_a_thread_is_resumed_with_its_last_exchange(start: Start) -> None:
    with AgentServer(HELLO, threads=[THREAD]) as server:
        session = start(server)
        session.chat.resume(ThreadId(THREAD_ID))
        session.chat.answer_lines(["Hello"])

    assert session.out == "you: Oslo?\nit: A city.\nHello\n"
    assert [request.path for request in server.requests if request.path == "/threads"] == []


def test_a_thread_that_is_not_there_is_an_error(start: Start) -> None:
    with AgentServer() as server, pytest.raises(NotFound):
        start(server).chat.resume(ThreadId(THREAD_ID))


def test_text_that_cannot_be_encoded_is_sent_with_a_replacement(start: Start) -> None:
    with AgentServer(HELLO) as server:
        start(server).chat.answer_lines(["half \ud83d"])

    assert server.runs[0]["input"]["messages"][0]["content"] == "half \ufffd"


@pytest.mark.parametrize("token", [None, "wrong"])
def test_a_server_that_wants_another_token_is_named_as_the_reason(start: Start, token: str | None) -> None:
    with AgentServer(HELLO, token="right") as server:
        session = start(server, token=token)
        code = session.chat.answer_lines(["Hello"])

    assert code == 1
    assert "--token" in session.err


def test_the_token_is_sent(start: Start) -> None:
    with AgentServer(HELLO, token="right") as server:
        assert start(server, token="right").chat.answer_lines(["Hello"]) == 0


@pytest.mark.anyio
async def test_the_first_server_that_answers_is_found() -> None:
    with AgentServer() as server:
        nobody = f"http://127.0.0.1:{free_port()}"

        assert await find_server([nobody, "not an address", server.url]) == server.url


@pytest.mark.anyio
async def test_no_server_is_an_error_that_says_where_it_was_looked_for() -> None:
    nobody = f"http://127.0.0.1:{free_port()}"

    with pytest.raises(ServerUnavailable, match=nobody):
        await find_server([nobody])


async def run_program(*arguments: str, lines: str, cwd: Path) -> tuple[int, str, str]:
    """Exit code and what was written, of the program with a pipe for a keyboard."""
    done = await anyio.run_process(
        [sys.executable, "-m", "backend.cli", "chat", *arguments],
        input=lines.encode(),
        cwd=cwd,
        env=environment({}),
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.anyio
async def test_the_program_answers_each_line_of_a_pipe(tmp_path: Path) -> None:
    with AgentServer(HELLO, [chunk("東京")]) as server:
        code, out, err = await run_program("--url", server.url, lines="one\ntwo\n", cwd=tmp_path)

    assert (code, out, err) == (0, "Hello\n東京\n", "")


@pytest.mark.anyio
async def test_the_program_says_in_one_line_that_no_server_runs(tmp_path: Path) -> None:
    code, out, err = await run_program("--url", f"http://127.0.0.1:{free_port()}", lines="one\n", cwd=tmp_path)

    assert (code, out) == (1, "")
    assert err.startswith("No server answers at http://127.0.0.1:")
    assert err.count("\n") == 1


class Person:
    """The program on a terminal of its own, read and typed to by a test."""

    def __init__(self, process: asyncio.subprocess.Process, terminal: int) -> None:
        self._process = process
        self._terminal = terminal
        self.screen = ""

    def read(self) -> None:
        """What has come; the terminal of a program that has left cannot be read."""
        with contextlib.suppress(OSError):
            self.screen += os.read(self._terminal, 4096).decode()

    async def sees(self, text: str, *, within: float = 30) -> None:
        """Wait until the text appears after what was seen before."""
        await until(lambda: text in self.screen, within)
        self.screen = self.screen.partition(text)[2]

    def types(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    async def presses(self, key: str, text: str) -> None:
        """Press a key until the text appears: readline misses an interruption right behind its prompt."""
        for _ in range(10):
            self.types(key)
            with contextlib.suppress(AssertionError):
                await self.sees(text, within=3)
                return
        raise AssertionError(f"no {text!r} on the screen")

    async def left(self) -> int:
        async with asyncio.timeout(30):
            return await self._process.wait()


@contextlib.asynccontextmanager
async def sit_down(server: AgentServer, cwd: Path) -> AsyncGenerator[Person]:
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", TAKE_TERMINAL, sys.executable, "-m", "backend.cli", "chat", "--url", server.url),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env=environment({"TERM": "dumb"}),
        start_new_session=True,
    )
    os.close(theirs)
    person = Person(process, ours)
    asyncio.get_running_loop().add_reader(ours, person.read)
    try:
        yield person
    finally:
        asyncio.get_running_loop().remove_reader(ours)
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(ours)


TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
"""Ctrl-C reaches a program only through the terminal that its session owns."""

CTRL_C, CTRL_D = "\x03", "\x04"


@pytest.mark.anyio
async def test_ctrl_c_ends_the_answer_and_its_run_but_not_the_chat_and_ctrl_d_leaves(tmp_path: Path) -> None:
    with AgentServer() as server:
        async with sit_down(server, tmp_path) as person:
            await person.sees("you> ")
            person.types("Hello\n")
            await person.sees("I am thinking")
            person.types(CTRL_C)
            await person.sees("(stopped)")
            await person.sees("you> ")
            assert server.requests[-1].path == f"/threads/{THREAD_ID}/runs/{RUN_ID}/cancel"

            await person.presses(CTRL_C, "you> ")
            person.types(CTRL_D)
            assert await person.left() == 0
