"""For every test: one kind of event loop, no setting of this machine, no network but loopback."""

import os
from collections.abc import Iterator

import pytest

from backend.settings import Settings
from tests.support.loopback_only import loopback_only
from tests.support.postgres import database, database_url, own_server, postgres_server, prepared_data

__all__ = ["database", "database_url", "loopback_only", "own_server", "postgres_server", "prepared_data"]

ALIASES = {"LANGGRAPH_API_URL"}


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def settings_of_this_machine_are_out_of_sight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No variable that `Settings` reads, and a working directory without a `.env`."""
    names = {name.upper() for name in Settings.model_fields} | ALIASES
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.upper() in names]:
            patch.delenv(name)
        patch.chdir(tmp_path_factory.mktemp("working_directory"))
        yield
