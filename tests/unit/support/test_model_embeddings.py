import contextlib
import math
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from tests.support.model_embeddings import EmbeddingsRequest, vector_of
from tests.support.model_server import ModelServer, Reply, error, text, vectors

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
async def client(server: ModelServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=30) as client:
        yield client


async def post(client: httpx.AsyncClient, asked: Any) -> httpx.Response:
    return await client.post("/embeddings", json={"model": "small", "input": asked})


async def ask_once(reply: Reply, asked: Any) -> None:
    """Of a server of its own, which says at its end what was wrong."""
    with ModelServer() as server:
        server.when("small", reply)
        async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=30) as client:
            with contextlib.suppress(httpx.HTTPError):
                await post(client, asked)


def nearness(one: str, other: str) -> float:
    first, second = vector_of(one, 64), vector_of(other, 64)
    return sum(a * b for a, b in zip(first, second, strict=True)) / math.hypot(*first) / math.hypot(*second)


async def test_vectors_come_in_openais_form_and_the_request_is_recorded(
    server: ModelServer, client: httpx.AsyncClient
) -> None:
    server.when("small", vectors(16))

    body = (await post(client, ["one", "two"])).json()
    alone = (await post(client, "two")).json()

    assert [len(one["embedding"]) for one in body["data"]] == [16, 16]
    assert alone["data"][0]["embedding"] == body["data"][1]["embedding"]
    assert isinstance(server.last, EmbeddingsRequest)
    assert server.last.inputs == ["two"]


async def test_errors_and_given_values_are_scripted_like_replies(
    server: ModelServer, client: httpx.AsyncClient
) -> None:
    server.then(error(503, "overloaded"), vectors(values=[None]))

    assert (await post(client, "one")).status_code == 503
    assert (await post(client, "one")).json()["data"][0]["embedding"] is None
    server.assert_all_used()


@pytest.mark.parametrize("asked", [[], [""], ["one", 2]])
async def test_inputs_that_no_provider_takes_fail_the_test(asked: Any) -> None:
    with pytest.raises(AssertionError, match="is invalid: Invalid 'input'"):
        await ask_once(vectors(), asked)


async def test_a_chat_reply_to_a_request_for_vectors_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="has to be answered with vectors"):
        await ask_once(text("fine"), "one")


def test_texts_that_share_words_are_near() -> None:
    assert nearness("I live in Oslo", "in Oslo I live") > 0.99
    assert nearness("I live in Oslo", "they live in Oslo") > 0.5 > nearness("I live in Oslo", "stocks fell today")
    assert any(vector_of("", 4))
