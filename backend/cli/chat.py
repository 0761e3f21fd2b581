"""`afterthought chat`: a conversation in the terminal with a running server, or one message a line from a pipe."""

import argparse
import asyncio
import importlib
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import assert_never

import httpx

from backend.cli.conversation import Called, Conversation, Failed, Piece, Said, ToolFailed, connect, shorten
from backend.cli.running_server import candidate_urls
from backend.cli.terminal import Terminal
from backend.errors import AfterthoughtError, InvalidInput, ServerUnavailable
from backend.ids import ThreadId
from backend.settings import load_settings

PROMPT = "you> "
HELP = """\
/new       start a new thread
/threads   list the latest threads
/help      show this
/quit      leave, as Ctrl-D does
Ctrl-C stops an answer while it comes."""
LOOK_SECONDS = 3.0
MAX_SHOWN_CHARS = 200
MAX_TITLE_CHARS = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", help="the server; without it the one that 'afterthought dev' started here")
    parser.add_argument("--thread", metavar="ID", help="go on with this thread")
    parser.add_argument("--user", metavar="ID", help="who speaks, on a server with AUTH_MODE=none")
    parser.add_argument("--token", help="the bearer token, on a server with another AUTH_MODE")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    with asyncio.Runner() as runner:
        url = runner.run(find_server([options.url] if options.url else candidate_urls(load_settings())))
        client = connect(url, token=options.token)
        chat = Chat(Conversation(client, user=options.user), terminal=terminal, runner=runner)
        try:
            if options.thread:
                chat.resume(ThreadId(options.thread))
            if sys.stdin.isatty():
                return chat.talk(url)
            return chat.answer_lines(sys.stdin)
        finally:
            runner.run(client.aclose())


async def find_server(urls: Sequence[str]) -> str:
    """The first of the addresses where a server answers.

    Raises:
        ServerUnavailable: none does; says where it was looked for.
    """
    async with httpx.AsyncClient(timeout=LOOK_SECONDS) as client:
        for url in urls:
            with suppress(httpx.HTTPError, httpx.InvalidURL):
                if (await client.get(f"{url}/ok")).is_success:
                    return url
    raise ServerUnavailable(
        f"No server answers at {' or '.join(urls)}. Start one with 'make dev', or name it with --url."
    )


class Chat:
    """What a person, or a pipe, has of a conversation."""

    def __init__(self, conversation: Conversation, *, terminal: Terminal, runner: asyncio.Runner) -> None:
        """`runner` turns Ctrl-C during an answer into its cancellation."""
        self._conversation = conversation
        self._terminal = terminal
        self._runner = runner

    def resume(self, thread_id: ThreadId) -> None:
        """Go on with a thread and show its last exchange."""
        for role, text in self._runner.run(self._conversation.resume(thread_id)):
            self._terminal.aside(f"{'you' if role == 'human' else 'it'}: {shorten(text, MAX_SHOWN_CHARS)}")

    def talk(self, url: str) -> int:
        """Ask for messages until Ctrl-D or /quit; what fails is said, and the next message may succeed."""
        with suppress(ImportError):
            importlib.import_module("readline")  # lets input() edit the line and go back to earlier ones
        self._terminal.aside(f"Chatting with {url}. /help lists the commands, Ctrl-D leaves.")
        while True:
            try:
                line = input(PROMPT).strip()
            except EOFError:
                self._terminal.say()
                return 0
            except KeyboardInterrupt:
                self._terminal.say()
                continue
            if line == "/quit":
                return 0
            try:
                self._carry_out(line)
            except AfterthoughtError as error:
                self._terminal.complain(error.message)
            except KeyboardInterrupt:
                self._terminal.aside("\n(stopped)")

    def answer_lines(self, lines: Iterable[str]) -> int:
        """Answer every line of a pipe; 1 if an answer failed, and the lines after it are answered all the same."""
        failures = 0
        for line in lines:
            if line.strip() == "/quit":
                break
            try:
                failures += not self._carry_out(line.strip())
            except AfterthoughtError as error:
                self._terminal.complain(error.message)
                failures += 1
        return 1 if failures else 0

    def _carry_out(self, line: str) -> bool:
        """A message or a command; whether it succeeded."""
        match line:
            case "":
                pass
            case "/new":
                self._conversation.start_over()
                self._terminal.aside("A new thread starts with your next message.")
            case "/threads":
                self._list_threads()
            case "/help":
                self._terminal.aside(HELP)
            case _ if line.startswith("/") and line[1:].isalpha():
                raise InvalidInput(f"There is no {line}; /help lists the commands.")
            case _:
                answer = Answer(self._terminal)
                self._runner.run(self._conversation.ask(line, show=answer.show))
                return answer.finish()
        return True

    def _list_threads(self) -> None:
        threads = self._runner.run(self._conversation.threads())
        for thread in threads:
            title = (thread["metadata"] or {}).get("title") or "(no title)"
            changed = str(thread["updated_at"]).replace("T", " ")[:16]
            self._terminal.say(f"{thread['thread_id']}  {changed}  {shorten(str(title), MAX_TITLE_CHARS)}")
        if not threads:
            self._terminal.aside("There is no thread yet.")


class Answer:
    """One answer on the terminal: its text as it comes, each tool call on a line of its own."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._is_mid_line = False
        self._is_empty = True
        self._has_failed = False

    def show(self, piece: Piece) -> None:
        """Show what came next."""
        self._is_empty = False
        match piece:
            case Said(text):
                self._terminal.stream(text)
                self._is_mid_line = not text.endswith("\n")
            case Called(tool, arguments):
                self._end_line()
                self._terminal.aside(f"· {tool}({arguments})")
            case ToolFailed(message):
                self._end_line()
                self._terminal.aside(f"· it failed: {message}")
            case Failed(message):
                self._end_line()
                self._terminal.complain(message)
                self._has_failed = True
            case _:
                assert_never(piece)

    def finish(self) -> bool:
        """End the last line; whether there was an answer."""
        self._end_line()
        if self._is_empty:
            self._terminal.complain("There was no answer.")
        return not (self._is_empty or self._has_failed)

    def _end_line(self) -> None:
        if self._is_mid_line:
            self._terminal.say()
            self._is_mid_line = False
