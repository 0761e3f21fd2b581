"""`afterthought backfill`: writes the thread summaries that are missing, as background runs would have."""

import argparse
import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from langchain_core.runnables import RunnableConfig

from backend.accounts.run_context import run_context
from backend.background.summarize import Summarizer
from backend.bootstrap import Services
from backend.cli.memory_access import connect_to_server, named_or_default, open_memory, user_id
from backend.cli.progress import progress
from backend.cli.terminal import Terminal
from backend.errors import BadModelOutput, InvalidInput, NotFound
from backend.ids import ThreadId, UserId
from backend.memory.summaries.service import Summaries
from backend.server_client import ServerClient
from backend.settings import Settings, load_settings
from backend.storage.account_rows import AccountRows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument(
        "--user",
        metavar="ID",
        type=user_id,
        help="whose threads; may be left out with AUTH_MODE=none, where it is AUTH_DEFAULT_USER",
    )
    whose.add_argument(
        "--all", action="store_true", help="the threads of all users; those who have signed in, where users sign in"
    )
    parser.add_argument("--url", help="the server; without it the one that 'afterthought dev' started here")
    parser.epilog = (
        "Needs the running server, for the messages, and its settings: the database, the summary model, and "
        "SERVICE_SECRET where users sign in. May be stopped and started again: it goes on where it stopped."
    )


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    settings = load_settings()
    if settings.memory_thread_summary_keep_recent < 1:
        raise InvalidInput("MEMORY_THREAD_SUMMARY_KEEP_RECENT is 0, which turns thread summaries off.")
    wanted = None if options.all else named_or_default(options.user, settings)
    written = asyncio.run(backfill(settings, wanted=wanted, url=options.url))
    for failure in written.failures:
        terminal.complain(failure)
    terminal.say(written.as_line())
    return 1 if written.failures else 0


@dataclass(frozen=True, slots=True)
class OwnedThread:
    owner: UserId
    thread_id: ThreadId


@dataclass(slots=True)
class Written:
    """What a backfill did."""

    looked_at: int = 0
    threads: int = 0
    passes: int = 0
    failures: list[str] = field(default_factory=list[str])

    def as_line(self) -> str:
        return f"Passes written: {self.passes}, in {self.threads} of {self.looked_at} threads."


async def backfill(settings: Settings, *, wanted: UserId | None, url: str | None) -> Written:
    """Make all passes that are due in the threads of a user, or of everybody.

    Raises:
        ServerUnavailable, StorageUnavailable, ModelUnavailable: what was written until then stays.
    """
    server = await connect_to_server(settings, url=url)
    async with open_memory(settings, server=server) as services:
        threads = await find_threads(services, server, wanted)
        return await write_missing(services, threads)


async def find_threads(services: Services, server: ServerClient, wanted: UserId | None) -> Sequence[OwnedThread]:
    """The threads of a user, or of everybody."""
    if services.settings.auth_mode == "none":
        return await _by_last_speaker(services.settings, server, wanted)
    users = [wanted] if wanted is not None else await AccountRows(services.database).users()
    return [OwnedThread(owner, thread_id) for owner in users for thread_id in await server.threads_of(owner)]


async def _by_last_speaker(settings: Settings, server: ServerClient, wanted: UserId | None) -> Sequence[OwnedThread]:
    """Without authentication a thread's summaries are for whoever spoke in it last, as after a turn."""
    found: list[OwnedThread] = []
    for thread_id in await server.all_threads():
        try:
            config: RunnableConfig = {"configurable": dict(await server.latest_configurable(thread_id))}
        except NotFound:
            continue
        speaker = run_context(config, auth_mode="none", default_user=settings.auth_default_user).user_id
        if speaker is not None and wanted in (None, speaker):
            found.append(OwnedThread(speaker, thread_id))
    return found


async def write_missing(services: Services, threads: Iterable[OwnedThread]) -> Written:
    """Thread by thread; what one model answer spoils, the next threads do not suffer from."""
    listed, written = list(threads), Written()
    with progress("Summarizing threads", total=len(listed)) as move_on:
        for thread in listed:
            try:
                passes = await _write_all(
                    services.summarizer, services.memories.of(thread.owner).summaries, thread.thread_id
                )
                written.passes += passes
                written.threads += passes > 0
            except BadModelOutput as error:
                written.failures.append(f"Thread {thread.thread_id}: {error.message}")
            written.looked_at += 1
            move_on()
    return written


async def _write_all(summarizer: Summarizer, summaries: Summaries, thread_id: ThreadId) -> int:
    """The number of passes; none for a thread that has been deleted meanwhile."""
    passes = 0
    try:
        while await summarizer.compress(summaries, thread_id):
            passes += 1
    except NotFound:
        pass
    return passes
