"""Hearing from other processes what has changed."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from backend.storage.database import Database
from backend.storage.notifications import Listener, notify, notify_episode
from tests.support.conditions import until
from tests.support.postgres import TestServer, make_database

pytestmark = pytest.mark.anyio

Heard = list[str | None]


@asynccontextmanager
async def listening(database: Database) -> AsyncGenerator[Heard]:
    """What is heard, from when it listens on."""
    heard: Heard = []
    listener = Listener(database, heard.append)
    listener.start()
    try:
        await until(lambda: heard)
        yield heard
    finally:
        await listener.stop()


async def tell(database: Database, scope: str) -> None:
    async with database.connection() as connection:
        await notify(connection, scope)


async def test_at_first_anything_may_have_changed(database: Database):
    async with listening(database) as heard:
        assert heard == [None]


@pytest.mark.parametrize("scope", ["ana", "ana.lopez@example.org", "東京 ' \" \\ %", "x" * 7_999])
async def test_every_listener_hears_the_scope(database: Database, database_url: str, scope: str):
    async with listening(database) as here, listening(make_database(database_url)) as there:
        await tell(database, scope)
        await until(lambda: len(here) == len(there) == 2)
        assert here == there == [None, scope]


@pytest.mark.parametrize("scope", ["x" * 8_000, "東" * 2_667])
async def test_a_scope_too_long_to_tell_says_that_anything_may_have_changed(database: Database, scope: str):
    async with listening(database) as heard:
        await tell(database, scope)
        await until(lambda: len(heard) == 2)
        assert heard == [None, None]


async def test_what_is_rolled_back_is_not_heard(database: Database):
    async with listening(database) as heard:
        async with database.connection() as connection, connection.transaction(force_rollback=True):
            await notify(connection, "undone")
        await tell(database, "done")
        await until(lambda: len(heard) == 2)
        assert heard == [None, "done"]


async def test_after_a_lost_connection_anything_may_have_changed_and_it_goes_on(own_server: TestServer):
    database = make_database(own_server.url)
    async with listening(database) as heard:
        own_server.kill_connections()
        await until(lambda: heard == [None, None])
        await tell(database, "ana")
        await until(lambda: heard == [None, None, "ana"])
        own_server.stop()
        own_server.start()
        await until(lambda: heard == [None, None, "ana", None])


async def tell_of_episode(database: Database, scope: str) -> None:
    async with database.connection() as connection:
        await notify_episode(connection, scope)


async def test_a_recorded_episode_is_heard_of_apart_from_changes(database: Database):
    changes: Heard = []
    episodes: Heard = []
    listener = Listener(database, changes.append, on_episode=episodes.append)
    listener.start()
    await until(lambda: changes)
    await tell_of_episode(database, "ana")
    await tell_of_episode(database, "x" * 8_000)
    await tell(database, "ben")
    await until(lambda: len(changes) == 2)
    await listener.stop()
    assert (changes, episodes) == ([None, "ben"], ["ana", None])


async def test_who_wants_changes_only_hears_of_no_episode(database: Database):
    async with listening(database) as heard:
        await tell_of_episode(database, "ana")
        await tell(database, "ben")
        await until(lambda: len(heard) == 2)
        assert heard == [None, "ben"]


async def sessions(database_url: str) -> int:
    async with await psycopg.AsyncConnection[Any].connect(database_url) as connection:
        row = await (
            await connection.execute("SELECT count(*) FROM pg_stat_activity WHERE query = 'LISTEN memory_changed'")
        ).fetchone()
        assert row is not None
        return row[0]


async def test_a_stopped_listener_leaves_no_task_and_no_connection(database_url: str):
    before = asyncio.all_tasks()
    async with listening(make_database(database_url)):
        assert await sessions(database_url) == 1
    assert asyncio.all_tasks() == before
    async with asyncio.timeout(5):
        while await sessions(database_url):
            pass


async def test_starting_twice_listens_once(database: Database, database_url: str):
    listener = Listener(database, lambda _: None)
    tasks = asyncio.all_tasks()
    listener.start()
    listener.start()
    assert len(asyncio.all_tasks() - tasks) == 1
    await listener.stop()
    await listener.stop()


async def test_it_can_be_started_again_in_another_event_loop(database_url: str):
    heard: Heard = []
    listener = Listener(make_database(database_url), heard.append)

    async def listen_for_a_moment(stop: Callable[[], Awaitable[None]] | None) -> None:
        already = len(heard)
        listener.start()
        await until(lambda: len(heard) > already)
        if stop is not None:
            await stop()

    await asyncio.to_thread(asyncio.run, listen_for_a_moment(None))  # a loop that ends without a word
    await asyncio.to_thread(asyncio.run, listen_for_a_moment(listener.stop))
    assert heard == [None, None]
