"""Deleting threads on a real server: what goes, what stays, and what runs meanwhile."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager

import httpx
import psycopg
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import NotFoundError

from tests.support.langgraph_server import running_server
from tests.support.model_server import ModelServer, structured, text
from tests.support.postgres import TestServer
from tests.support.product import PRODUCT, Product
from tests.support.sdk_chat import stream_turn
from tests.support.two_users import ANA, BO, TOKENS

pytestmark = [pytest.mark.anyio, pytest.mark.server]

THREADS = 6


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, postgres_server: TestServer) -> Generator[tuple[Product, str]]:
    url = postgres_server.create_database()
    directory = tmp_path_factory.mktemp("deletions")
    with ModelServer() as model:
        env = {**model.environment, **TOKENS, "DATABASE_URL": url}
        with running_server(directory, files=PRODUCT, env=env) as server:
            yield Product(server, model), url
            model.reset()


@pytest.fixture
def product(shared: tuple[Product, str]) -> Product:
    model = shared[0].model
    model.reset()
    model.when("router", structured({"subagent": "chat_agent"}))
    model.when("title", text("A fine title"))
    model.when("chat", text("Hello there."))
    return shared[0]


@asynccontextmanager
async def signed_in(product: Product, token: str) -> AsyncGenerator[LangGraphClient]:
    headers = {"authorization": f"Bearer {token}"}
    async with get_client(url=product.url, api_key=None, headers=headers) as client:
        yield client


async def threads_there(client: LangGraphClient, thread_ids: list[str]) -> list[str]:
    there: list[str] = []
    for thread_id in thread_ids:
        try:
            await client.threads.get(thread_id)
            there.append(thread_id)
        except NotFoundError:
            pass
    return there


async def test_threads_deleted_at_once_are_those_that_were_named(product: Product) -> None:
    async with signed_in(product, ANA) as ana, signed_in(product, BO) as bo:
        anas = [(await ana.threads.create())["thread_id"] for _ in range(THREADS)]
        bos = [(await bo.threads.create())["thread_id"] for _ in range(THREADS)]
        await asyncio.gather(*(ana.threads.delete(thread_id) for thread_id in anas))
        assert await threads_there(ana, anas) == []
        assert await threads_there(bo, bos) == bos


async def test_background_runs_that_end_together_take_no_chat_with_them(product: Product) -> None:
    async with signed_in(product, ANA) as ana, signed_in(product, BO) as bo:

        async def chat(client: LangGraphClient) -> str:
            thread_id = (await client.threads.create())["thread_id"]
            for message in ("one", "two"):
                turn = await stream_turn(client, thread_id, message)
                assert turn.errors == []
            return thread_id

        chats = await asyncio.gather(*(chat(client) for client in (ana, bo) for _ in range(THREADS)))
        assert await threads_there(ana, chats[:THREADS]) == chats[:THREADS]
        assert await threads_there(bo, chats[THREADS:]) == chats[THREADS:]
    assert "Unexpected missing thread" not in product.server.log


@pytest.mark.parametrize("path", ["/threads/{}", "/api/threads/{}"], ids=["the server's own", "ours"])
async def test_a_thread_deleted_in_the_middle_of_a_turn_leaves_nothing(
    path: str, product: Product, shared: tuple[Product, str]
) -> None:
    async with signed_in(product, ANA) as ana:
        thread_id = (await ana.threads.create())["thread_id"]
        await stream_turn(ana, thread_id, "before")
        gate = product.model.hold("chat", after_chunks=1)
        during = asyncio.create_task(stream_turn(ana, thread_id, "during"))
        await product.model.wait_until(lambda: gate.waiting)
        async with httpx.AsyncClient(base_url=product.url, headers={"authorization": f"Bearer {ANA}"}) as http:
            response = await http.delete(path.format(thread_id), timeout=30)
        assert response.status_code == 204
        gate.release()
        await asyncio.wait([during])
        assert await threads_there(ana, [thread_id]) == []
    assert rows_of(thread_id, shared[1]) == 0


def rows_of(thread_id: str, url: str) -> int:
    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "summarized_threads")
    counts = " + ".join(f"(SELECT count(*) FROM {table} WHERE thread_id = %(id)s)" for table in tables)  # noqa: S608
    with psycopg.connect(url) as connection:
        row = connection.execute(f"SELECT {counts}".encode(), {"id": thread_id}).fetchone()
    return row[0] if row else -1
