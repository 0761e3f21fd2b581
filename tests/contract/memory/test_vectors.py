"""Filling in vectors: `Vectors` over PostgreSQL, with an embedder that counts, and once over the provider's API."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from backend.errors import BadModelOutput, ModelUnavailable
from backend.ids import UserId
from backend.llm.embeddings import Embedder, make_embedder
from backend.memory.scope import scope_label
from backend.memory.vectors import BATCH, Vectors
from backend.settings import Settings
from backend.storage.database import Database
from backend.storage.embedding_rows import EmbeddingRows
from tests.support.memory_table import correct, forget, remember, stored_vectors
from tests.support.model_embeddings import vector_of
from tests.support.model_server import ModelServer, error, vectors

pytestmark = pytest.mark.anyio

ANA, BEN = UserId("ana@example.org"), UserId("ben")
MODEL = "small-embedder"


async def nothing() -> None:
    """What happens meanwhile, unless told otherwise."""


class CountingEmbedder:
    """Vectors of words; keeps each batch, and lets something happen between the question and the answer."""

    def __init__(self, model: str = MODEL, *, dimension: int = 4) -> None:
        self.model = model
        self.dimension = dimension
        self.batches: list[list[str]] = []
        self.meanwhile: Callable[[], Awaitable[None]] = nothing
        self.fails_at: int | None = None

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.batches.append(list(texts))
        await self.meanwhile()
        if len(self.batches) == self.fails_at:
            raise ModelUnavailable
        return [vector_of(text, self.dimension) for text in texts]

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


def vectors_of(database: Database, embedder: Embedder | None) -> Vectors:
    """As a process that has just started."""
    return Vectors(rows=EmbeddingRows(database), embedder=embedder)


async def remember_all(database: Database, *contents: str, user_id: UserId = ANA) -> None:
    for minutes, content in enumerate(contents):
        await remember(database, content, scope_label(user_id), minutes=minutes)


async def dimensions(database: Database) -> list[int]:
    return [vector.count(",") + 1 for *_, vector in await stored_vectors(database)]


async def test_rows_get_vectors_of_what_they_say(database: Database, embedder: CountingEmbedder) -> None:
    await remember_all(database, "I live in Oslo", "I like skiing")

    assert await vectors_of(database, embedder).fill(ANA) == 2

    assert [(content, model, version) for content, model, version, _ in await stored_vectors(database)] == [
        ("I like skiing", MODEL, 1),
        ("I live in Oslo", MODEL, 1),
    ]
    assert embedder.batches == [["I like skiing", "I live in Oslo"]], "the newest first"


async def test_running_again_and_beside_itself_changes_nothing(database: Database, embedder: CountingEmbedder) -> None:
    await remember_all(database, *map(str, range(5)))

    await asyncio.gather(*(vectors_of(database, embedder).fill(ANA) for _ in range(3)))
    once = await stored_vectors(database)
    asked = len(embedder.batches)

    assert await vectors_of(database, embedder).fill(ANA) == 0
    assert await stored_vectors(database) == once
    assert len(once) == 5
    assert len(embedder.batches) == asked


async def test_only_the_rows_of_the_user_are_sent(database: Database, embedder: CountingEmbedder) -> None:
    await remember_all(database, "of ana")
    await remember_all(database, "of ben", user_id=BEN)

    assert await vectors_of(database, embedder).fill(ANA) == 1
    assert embedder.texts == ["of ana"]


async def test_many_rows_are_done_in_batches_and_no_more_than_asked_for(
    database: Database, embedder: CountingEmbedder
) -> None:
    await remember_all(database, *map(str, range(BATCH + 8)))
    filling = vectors_of(database, embedder)

    assert await filling.fill(ANA, limit=BATCH + 3) == BATCH + 3
    assert [len(batch) for batch in embedder.batches] == [BATCH, 3]
    assert await filling.fill(ANA) == 5


async def test_a_batch_that_fails_ends_the_work_and_the_next_run_goes_on(
    database: Database, embedder: CountingEmbedder
) -> None:
    await remember_all(database, *map(str, range(BATCH + 8)))
    embedder.fails_at = 2

    with pytest.raises(ModelUnavailable):
        await vectors_of(database, embedder).fill(ANA)

    assert len(await stored_vectors(database)) == BATCH
    assert await vectors_of(database, embedder).fill(ANA) == 8


async def test_a_row_that_changes_meanwhile_gets_the_vector_of_what_it_says_now(
    database: Database, embedder: CountingEmbedder
) -> None:
    row = await remember(database, "I live in Oslo", scope_label(ANA))

    async def change_once() -> None:
        embedder.meanwhile = nothing
        await correct(database, row, "I live in Bergen")

    embedder.meanwhile = change_once
    assert await vectors_of(database, embedder).fill(ANA) == 1

    assert embedder.texts == ["I live in Oslo", "I live in Bergen"]
    assert [(content, version) for content, _, version, _ in await stored_vectors(database)] == [
        ("I live in Bergen", 2)
    ]


async def test_a_row_that_is_deleted_meanwhile_leaves_nothing(database: Database, embedder: CountingEmbedder) -> None:
    row = await remember(database, "I live in Oslo", scope_label(ANA))
    embedder.meanwhile = lambda: forget(database, row)

    assert await vectors_of(database, embedder).fill(ANA) == 0
    assert await stored_vectors(database) == []


async def test_rows_that_change_for_ever_do_not_keep_it_at_work(database: Database, embedder: CountingEmbedder) -> None:
    row = await remember(database, "0", scope_label(ANA))
    embedder.meanwhile = lambda: correct(database, row, str(len(embedder.batches)))

    assert await vectors_of(database, embedder).fill(ANA, limit=5) == 0
    assert embedder.texts == ["0", "1", "2", "3", "4"]


async def test_another_model_embeds_all_rows_anew_a_part_at_a_time(
    database: Database, embedder: CountingEmbedder
) -> None:
    await remember_all(database, "one", "two", "three")
    await vectors_of(database, embedder).fill(ANA)
    other = CountingEmbedder("large-embedder")

    assert await vectors_of(database, other).fill(ANA, limit=2) == 2
    assert await vectors_of(database, other).fill(ANA, limit=2) == 1
    assert await EmbeddingRows(database).drop_others("large-embedder") == 3
    assert {model for _, model, *_ in await stored_vectors(database)} == {"large-embedder"}


async def test_another_dimension_under_the_same_name_embeds_all_rows_anew(
    database: Database, embedder: CountingEmbedder
) -> None:
    await remember_all(database, "one", "two")
    filling = vectors_of(database, embedder)
    await filling.fill(ANA)

    embedder.dimension = 6
    await remember_all(database, "three")

    assert await filling.fill(ANA, limit=2) == 2
    assert sorted(await dimensions(database)) == [4, 6, 6]
    assert await vectors_of(database, embedder).fill(ANA) == 0, "a process that has embedded nothing does not know"
    assert await filling.fill(ANA) == 1
    assert await dimensions(database) == [6, 6, 6]


async def test_without_an_embedder_nothing_is_done_and_nothing_said(database: Database) -> None:
    await remember_all(database, "one")
    filling = vectors_of(database, None)

    with capture_logs() as lines:
        await filling.announce()

    assert await filling.fill(ANA) == 0
    assert lines == []


async def test_without_pgvector_one_line_says_so_and_nothing_is_sent(
    database: Database, embedder: CountingEmbedder
) -> None:
    await remember_all(database, "one")
    async with database.connection() as connection:
        await connection.execute("DROP EXTENSION vector CASCADE")
    filling = vectors_of(database, embedder)

    with capture_logs() as lines:
        await filling.announce()

    assert await filling.fill(ANA) == 0
    assert embedder.batches == []
    assert [(line["event"], line["log_level"]) for line in lines] == [("embeddings_unavailable", "warning")]
    assert "pgvector" in lines[0]["reason"]


async def test_with_pgvector_the_start_names_the_model(database: Database, embedder: CountingEmbedder) -> None:
    with capture_logs() as lines:
        await vectors_of(database, embedder).announce()

    assert [(line["event"], line["model"]) for line in lines] == [("embeddings_on", MODEL)]


async def test_no_connection_is_kept_while_the_model_works(database: Database, embedder: CountingEmbedder) -> None:
    """Five is all that the pool has."""
    await remember_all(database, "one")
    waiting, go_on = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        if len(embedder.batches) == 10:
            waiting.set()
        await go_on.wait()

    embedder.meanwhile = wait
    filling = [asyncio.create_task(vectors_of(database, embedder).fill(ANA)) for _ in range(10)]
    async with asyncio.timeout(20):
        await waiting.wait()
        assert await database.server_version()
    go_on.set()
    await asyncio.gather(*filling)


def provider_settings(server: ModelServer) -> Settings:
    environment: dict[str, Any] = {name.lower(): value for name, value in server.environment.items()}
    return Settings(**environment, memory_embeddings=MODEL)


async def test_the_whole_way_over_the_providers_api(database: Database) -> None:
    await remember_all(database, "I live in Oslo", "I like skiing")
    with ModelServer() as server:
        server.then(error(503, "overloaded"), vectors(values=[[1.0], [1.0, 0.0]]), vectors(8))
        filling = vectors_of(database, make_embedder(provider_settings(server)))

        with pytest.raises(ModelUnavailable, match="MEMORY_EMBEDDINGS"):
            await filling.fill(ANA)
        with pytest.raises(BadModelOutput):
            await filling.fill(ANA)
        assert await stored_vectors(database) == []
        assert await filling.fill(ANA) == 2

        server.assert_all_used()
    assert await dimensions(database) == [8, 8]
