"""An answered turn is remembered, although the database could not take it when it was to be kept."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import psycopg
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.support.conditions import eventually, until
from tests.support.langgraph_server import running_server
from tests.support.model_server import ModelServer, structured, text
from tests.support.product import PRODUCT, Product
from tests.support.sdk_chat import stream_turn

pytestmark = [pytest.mark.anyio, pytest.mark.server]

REFUSE = """
CREATE SEQUENCE attempts;
CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM nextval('attempts'); RAISE EXCEPTION 'no space left on device' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER no_room BEFORE INSERT ON memories EXECUTE FUNCTION no_room();
"""
ATTEMPTED = "SELECT is_called FROM attempts"
"""Numbers that were drawn stay drawn when a statement fails."""
TAKE_AGAIN = "DROP TRIGGER no_room ON memories"
EPISODES = "SELECT content FROM memories WHERE kind = 'episode' ORDER BY created_at"


@pytest.fixture
def product(database_url: str, tmp_path: Path) -> Generator[Product]:
    with ModelServer() as model:
        model.when("router", structured({"subagent": "chat_agent"}))
        model.when("title", text("A fine title"))
        model.when("chat", text("Hello there."))
        env = {**model.environment, "DATABASE_URL": database_url}
        with running_server(tmp_path, files=PRODUCT, env=env) as server:
            yield Product(server, model)


@pytest.fixture
async def client(product: Product) -> AsyncGenerator[LangGraphClient]:
    async with get_client(url=product.url, api_key=None) as client:
        yield client


def execute(url: str, statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statements.encode())


def was_attempted(url: str) -> bool:
    with psycopg.connect(url) as connection:
        row = connection.execute(ATTEMPTED).fetchone()
        return row is not None and bool(row[0])


def episodes(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [content.partition("\n")[0] for (content,) in connection.execute(EPISODES)]


async def test_a_turn_that_could_not_be_kept_at_once_is_kept_later(client: LangGraphClient, database_url: str) -> None:
    thread_id = (await client.threads.create())["thread_id"]
    execute(database_url, REFUSE)
    assert (await stream_turn(client, thread_id, "one")).text == "Hello there."
    await until(lambda: was_attempted(database_url), timeout_seconds=20)
    execute(database_url, TAKE_AGAIN)
    assert (await stream_turn(client, thread_id, "two")).text == "Hello there."

    async def are_kept() -> bool:
        return sorted(episodes(database_url)) == ["User: one", "User: two"]

    await eventually(are_kept, timeout_seconds=20)
