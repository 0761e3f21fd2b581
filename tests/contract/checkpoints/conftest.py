"""The checkpointers that have to behave alike."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from backend.storage.database import Database
from backend.storage.langgraph_checkpointer import PostgresSaver, open_checkpointer
from tests.support.postgres import TestServer, make_database
from tests.support.server_adapter import ServerAdapter

OpenSaver = Callable[[], BaseCheckpointSaver[Any]]
"""Gives a saver over the same data each time, as a new process would have it; in memory, always the same one."""


@pytest.fixture
async def saver(database: Database) -> AsyncIterator[PostgresSaver]:
    async with open_checkpointer(database) as saver:
        yield saver


@pytest.fixture(params=["in memory", "postgres", "postgres behind the server's adapter"])
async def open_saver(request: pytest.FixtureRequest) -> AsyncIterator[OpenSaver]:
    if request.param == "in memory":
        memory = InMemorySaver()
        yield lambda: memory
        return
    server: TestServer = request.getfixturevalue("postgres_server")
    url = server.create_database()
    database = make_database(url)
    async with database.running():
        pool = await database.pool()
        adapted = request.param != "postgres"
        yield lambda: ServerAdapter(PostgresSaver(database, pool)) if adapted else PostgresSaver(database, pool)
    server.drop_database(url)
