"""Memory as a command reaches it: over the same database as the server, beside it."""

import argparse
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from backend.accounts.identity import is_user_id
from backend.bootstrap import Services, assemble
from backend.cli.chat import find_server
from backend.cli.running_server import candidate_urls
from backend.errors import InvalidInput, StorageUnavailable
from backend.ids import UserId
from backend.server_client import ServerClient
from backend.settings import Settings
from backend.storage.database import Database

SERVER_SECONDS = 30.0
"""A person waits longer for the server than a turn does, and long threads take a while."""


def user_id(text: str) -> UserId:
    """The type of an argument that names a user."""
    if not is_user_id(text):
        raise argparse.ArgumentTypeError("this cannot be the id of a user")
    return UserId(text)


def named_or_default(named: UserId | None, settings: Settings) -> UserId:
    """The user who was named, or who speaks where nobody signs in.

    Raises:
        InvalidInput: users sign in, or nobody speaks, so one has to be named.
    """
    if named is not None:
        return named
    if settings.auth_mode == "none" and is_user_id(settings.auth_default_user):
        return UserId(settings.auth_default_user)
    raise InvalidInput("Name the user with --user; there is no default user with these settings.")


async def connect_to_server(settings: Settings, *, url: str | None) -> ServerClient:
    """A client of the server that runs here, or at `url`; it acts for users by means of SERVICE_SECRET.

    Raises:
        ServerUnavailable: no server answers.
    """
    urls: Sequence[str] = [url] if url else candidate_urls(settings)
    found = {"self_url": await find_server(urls), "server_timeout_seconds": SERVER_SECONDS}
    return ServerClient(settings=settings.model_copy(update=found))


@asynccontextmanager
async def open_memory(settings: Settings, *, server: ServerClient | None = None) -> AsyncGenerator[Services]:
    """All services over the database, which is brought up to date; nothing is served.

    Raises:
        SettingsError: the database cannot be used.
        StorageUnavailable: it does not answer, or it is the embedded one and was never made.
    """
    if settings.embedded_data is not None and not settings.embedded_data.exists():
        raise StorageUnavailable(
            f"There is no database in {settings.embedded_data} yet: nothing is remembered here. "
            "Start the server once ('make dev'), or set DATABASE_URL or DATA_DIR."
        )
    services = assemble(settings, database=Database(settings), server=server)
    try:
        async with services.memories.running(services.database):
            yield services
    finally:
        await services.models.close()
