"""What a running server survives. Each test has a server, and a database, of its own."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.support.langgraph_server import RunningServer, ServerStopped, running_server
from tests.support.model_server import ModelServer, structured, text
from tests.support.postgres import TestServer
from tests.support.product import PRODUCT, Product
from tests.support.sdk_chat import messages_of, metadata_when, stream_turn

pytestmark = [pytest.mark.anyio, pytest.mark.server]

ENTRIES = structured({"entries": [{"question": "What?", "answer": "That.", "refs": ["#1"]}]})
FEW_SECONDS = 12.0
"""A turn touches the database several times before it gives up, each time waiting for at most three seconds."""


@contextmanager
def a_product(directory: Path, **env: str) -> Generator[Product]:
    with ModelServer() as model:
        model.when("router", structured({"subagent": "chat_agent"}))
        model.when("title", text("A fine title"))
        model.when("chat", text("Hello there."))
        with running_server(directory, files=PRODUCT, env={**model.environment, **env}) as server:
            yield Product(server, model)


@asynccontextmanager
async def a_client(server: RunningServer) -> AsyncGenerator[LangGraphClient]:
    async with get_client(url=server.url, api_key=None) as client:
        yield client


async def test_a_chat_starts_at_once_while_a_background_run_takes_long(tmp_path: Path) -> None:
    with a_product(tmp_path, MEMORY_THREAD_SUMMARY_KEEP_RECENT="1") as product:
        gate = product.model.hold("summary")
        product.model.when("summary", ENTRIES)
        async with a_client(product.server) as client:
            first, second = await client.threads.create(), await client.threads.create()
            await stream_turn(client, first["thread_id"], "hi")
            await product.model.wait_until(lambda: gate.waiting)
            same = await stream_turn(client, first["thread_id"], "and again")
            other = await stream_turn(client, second["thread_id"], "hi")
            assert gate.waiting
            gate.release()
    for turn in (same, other):
        assert turn.text == "Hello there."
        assert turn.first_token_seconds is not None
        assert turn.first_token_seconds < 2.0


class TestDatabaseAway:
    async def test_a_turn_fails_with_a_clear_message_and_the_next_works_after_its_return(
        self, tmp_path: Path, own_server: TestServer
    ) -> None:
        with a_product(tmp_path / "server", DATABASE_URL=own_server.url) as product:
            async with a_client(product.server) as client:
                thread_id = (await client.threads.create())["thread_id"]
                await stream_turn(client, thread_id, "before")
                gate = product.model.hold("chat")
                async with asyncio.TaskGroup() as tasks:
                    cut = tasks.create_task(stream_turn(client, thread_id, "during"))
                    await product.model.wait_until(lambda: gate.waiting)
                    own_server.kill()
                    gate.release()
                assert cut.result().seconds < FEW_SECONDS
                told = str(cut.result().errors)
                assert cut.result().text == "Hello there." or "StorageUnavailable" in told

                down = await stream_turn(client, thread_id, "while it is away")
                assert down.seconds < FEW_SECONDS
                assert "does not answer" in str(down.errors)

                own_server.start()
                back = await stream_turn(client, thread_id, "after")
                assert (back.text, back.errors) == ("Hello there.", [])
                texts = [message["content"] for message in await messages_of(client, thread_id)]
                assert texts[:2] == ["before", "Hello there."]
                assert texts[-2:] == ["after", "Hello there."]

    async def test_ended_connections_are_replaced_without_a_failed_turn(
        self, tmp_path: Path, own_server: TestServer
    ) -> None:
        with a_product(tmp_path / "server", DATABASE_URL=own_server.url) as product:
            async with a_client(product.server) as client:
                thread_id = (await client.threads.create())["thread_id"]
                await stream_turn(client, thread_id, "before")
                own_server.kill_connections()
                turn = await stream_turn(client, thread_id, "after")
                assert (turn.text, turn.errors) == ("Hello there.", [])


async def test_threads_survive_a_restart_of_the_server(tmp_path: Path) -> None:
    with a_product(tmp_path) as product:
        async with a_client(product.server) as client:
            thread_id = (await client.threads.create())["thread_id"]
            await stream_turn(client, thread_id, "before")
            await metadata_when(client, thread_id, "last_message_at")
    with a_product(tmp_path) as product:
        async with a_client(product.server) as client:
            turn = await stream_turn(client, thread_id, "after")
            assert turn.errors == []
            texts = [message["content"] for message in await messages_of(client, thread_id)]
            assert texts == ["before", "Hello there.", "after", "Hello there."]
            assert (await metadata_when(client, thread_id, "title"))["title"] == "A fine title"
            sent = [message["content"] for message in product.model.for_model("chat")[-1].messages[1:]]
            assert sent == ["before", "Hello there.", "after"]


async def test_a_server_without_its_database_says_so_when_it_starts(tmp_path: Path) -> None:
    with (
        pytest.raises(ServerStopped, match="The database does not answer"),
        a_product(tmp_path, DATABASE_URL="postgresql://nobody@127.0.0.1:9/none"),
    ):
        pass
