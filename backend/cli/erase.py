"""`afterthought erase`: erases everything of a user, after asking for a confirmation that nobody types by accident."""

import argparse
import asyncio
import sys
from collections.abc import Mapping

from backend.cli.memory_access import connect_to_server, open_memory, user_id
from backend.cli.terminal import Terminal
from backend.errors import InvalidInput
from backend.ids import UserId
from backend.settings import Settings, load_settings

NO_THREADS = "Threads stay: without authentication they belong to nobody."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--user", metavar="ID", type=user_id, required=True, help="whose data")
    parser.add_argument("--yes", action="store_true", help="do not ask; for scripts")
    parser.add_argument("--url", help="the server; without it the one that 'afterthought dev' started here")
    parser.epilog = (
        "Erases memory, account and threads. Where users sign in it needs the running server, which has the threads, "
        "and SERVICE_SECRET; with AUTH_MODE=none it needs the database alone, and threads stay."
    )


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    settings = load_settings()
    if not options.yes and not _confirms(options.user):
        terminal.complain("Nothing was erased.")
        return 1
    for kind, count in asyncio.run(erase(settings, options.user, url=options.url)).items():
        terminal.say(f"{kind} {count}")
    if settings.auth_mode == "none" and terminal.is_interactive:
        terminal.aside(NO_THREADS)
    return 0


async def erase(settings: Settings, whose: UserId, *, url: str | None) -> Mapping[str, int]:
    """What `DELETE /api/admin/users/{id}` does and answers. May be repeated after a failure.

    Raises:
        ServerUnavailable, StorageUnavailable: not everything was erased.
    """
    server = None if settings.auth_mode == "none" else await connect_to_server(settings, url=url)
    async with open_memory(settings, server=server) as services:
        return await services.forgetting.erase_user(whose)


def _confirms(whose: UserId) -> bool:
    """Whether the person at the terminal types the user's id.

    Raises:
        InvalidInput: there is no terminal to ask at.
    """
    if not sys.stdin.isatty():
        raise InvalidInput("There is nobody to ask: confirm with --yes.")
    try:
        return input(f"This erases everything of {whose!r}. Type the id to go on: ") == whose
    except EOFError:
        return False
