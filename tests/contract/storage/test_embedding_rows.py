import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from backend.errors import AfterthoughtError
from backend.ids import MemoryId
from backend.storage.database import Database
from backend.storage.embedding_rows import EmbeddingRows, RowVector
from tests.support.memory_table import correct, forget, remember, stored_vectors

pytestmark = pytest.mark.anyio

ANA, BEN = "ana", "ben"
MODEL, OTHER = "small-embedder", "large-embedder"
X, Y = (1.0, 0.0), (0.0, 1.0)


def vector(memory_id: MemoryId, numbers: Sequence[float] = X, *, version: int = 1) -> RowVector:
    return RowVector(id=memory_id, version=version, vector=numbers)


@pytest.fixture
def rows(database: Database) -> EmbeddingRows:
    return EmbeddingRows(database)


async def missing(
    rows: EmbeddingRows, scope: str = ANA, *, model: str = MODEL, dimension: int | None = None, limit: int = 100
) -> list[str]:
    return [row.content for row in await rows.missing(scope, model, dimension=dimension, limit=limit)]


async def run(database: Database, statement: Any) -> None:
    async with database.connection() as connection:
        await connection.execute(statement)


async def test_rows_without_a_vector_are_missing_the_newest_first_and_so_many(
    database: Database, rows: EmbeddingRows
) -> None:
    for minutes, content in enumerate(["one", "two", "three"]):
        await remember(database, content, ANA, minutes=minutes)
    await remember(database, "of ben", BEN)

    assert await missing(rows) == ["three", "two", "one"]
    assert await missing(rows, limit=2) == ["three", "two"]
    assert await missing(rows, BEN) == ["of ben"]


async def test_a_row_with_its_vector_is_not_missing_for_this_model(database: Database, rows: EmbeddingRows) -> None:
    one = await remember(database, "one", ANA)

    assert await rows.put(ANA, MODEL, [vector(one, (0.5, -0.25))]) == 1

    assert await missing(rows) == []
    assert await missing(rows, dimension=2) == []
    assert await missing(rows, dimension=3) == ["one"]
    assert await missing(rows, model=OTHER) == ["one"]
    assert await stored_vectors(database) == [("one", MODEL, 1, "[0.5,-0.25]")]


async def test_a_row_that_changed_is_missing_again_before_older_ones(database: Database, rows: EmbeddingRows) -> None:
    one = await remember(database, "one", ANA)
    await remember(database, "two", ANA, minutes=1)
    await rows.put(ANA, MODEL, [vector(one)])

    await correct(database, one, "one, corrected")

    assert await missing(rows) == ["one, corrected", "two"]
    assert await rows.put(ANA, MODEL, [vector(one, Y, version=2)]) == 1
    assert await missing(rows) == ["two"]
    assert [(version, numbers) for _, _, version, numbers in await stored_vectors(database)] == [(2, "[0,1]")]


async def test_a_row_that_is_merged_into_another_is_not_missing(database: Database, rows: EmbeddingRows) -> None:
    await remember(database, "one", ANA)
    await run(database, "UPDATE memories SET status = 'merged'")

    assert await missing(rows) == []


async def test_a_vector_of_what_a_row_no_longer_says_is_not_stored(database: Database, rows: EmbeddingRows) -> None:
    one = await remember(database, "one", ANA)
    await correct(database, one, "corrected")

    assert await rows.put(ANA, MODEL, [vector(one)]) == 0
    assert await stored_vectors(database) == []


async def test_a_row_that_is_gone_is_passed_over_and_the_others_are_stored(
    database: Database, rows: EmbeddingRows
) -> None:
    gone, stays = await remember(database, "one", ANA), await remember(database, "two", ANA)
    await forget(database, gone)

    assert await rows.put(ANA, MODEL, [vector(gone), vector(stays)]) == 1
    assert [content for content, *_ in await stored_vectors(database)] == ["two"]


async def test_a_row_that_is_being_deleted_is_not_waited_for(database: Database, rows: EmbeddingRows) -> None:
    going, stays = await remember(database, "one", ANA), await remember(database, "two", ANA)
    async with database.connection() as connection, connection.transaction():
        await connection.execute("DELETE FROM memories WHERE id = %s", (going,))
        async with asyncio.timeout(5):
            assert await rows.put(ANA, MODEL, [vector(going), vector(stays)]) == 1

    assert [content for content, *_ in await stored_vectors(database)] == ["two"]


async def test_a_row_that_is_being_used_gets_its_vector(database: Database, rows: EmbeddingRows) -> None:
    one = await remember(database, "one", ANA)
    async with database.connection() as connection, connection.transaction():
        await connection.execute("UPDATE memories SET access_count = access_count + 1")
        async with asyncio.timeout(5):
            assert await rows.put(ANA, MODEL, [vector(one)]) == 1


async def test_nobody_stores_a_vector_in_anothers_scope(database: Database, rows: EmbeddingRows) -> None:
    of_ben = await remember(database, "of ben", BEN)

    assert await rows.put(ANA, MODEL, [vector(of_ben)]) == 0
    assert await missing(rows, BEN) == ["of ben"]


async def test_a_vector_goes_with_its_row(database: Database, rows: EmbeddingRows) -> None:
    one = await remember(database, "one", ANA)
    await rows.put(ANA, MODEL, [vector(one), vector(await remember(database, "two", ANA))])

    await forget(database, one)

    assert [content for content, *_ in await stored_vectors(database)] == ["two"]


async def test_storing_twice_and_at_once_changes_nothing(database: Database, rows: EmbeddingRows) -> None:
    ids = [await remember(database, str(number), ANA) for number in range(20)]
    batch = [vector(memory_id) for memory_id in ids]

    counts = await asyncio.gather(*(rows.put(ANA, MODEL, order) for order in (batch, batch[::-1]) * 4))

    assert counts == [20] * 8
    assert len(await stored_vectors(database)) == 20
    assert await missing(rows) == []


async def test_a_vector_of_another_dimension_takes_the_place_of_the_old_one(
    database: Database, rows: EmbeddingRows
) -> None:
    one = await remember(database, "one", ANA)
    await rows.put(ANA, MODEL, [vector(one)])

    await rows.put(ANA, MODEL, [vector(one, (0.0, 0.0, 1.0))])

    assert await missing(rows, dimension=3) == []
    assert [numbers for *_, numbers in await stored_vectors(database)] == ["[0,0,1]"]


async def test_a_vector_that_the_database_cannot_hold_is_refused_and_nothing_is_stored(
    database: Database, rows: EmbeddingRows
) -> None:
    one, two = await remember(database, "one", ANA), await remember(database, "two", ANA)

    with pytest.raises(AfterthoughtError, match="database"):
        await rows.put(ANA, MODEL, [vector(one), vector(two, [0.1] * 16_001)])

    assert await stored_vectors(database) == []


async def test_vectors_of_other_models_are_dropped_of_all_scopes(database: Database, rows: EmbeddingRows) -> None:
    one, of_ben = await remember(database, "one", ANA), await remember(database, "of ben", BEN)
    for model in (MODEL, OTHER):
        await rows.put(ANA, model, [vector(one)])
        await rows.put(BEN, model, [vector(of_ben)])

    assert await rows.drop_others(MODEL) == 2
    assert [(content, model) for content, model, *_ in await stored_vectors(database)] == [
        ("of ben", MODEL),
        ("one", MODEL),
    ]
    assert await rows.drop_others(MODEL) == 0


async def test_more_vectors_are_dropped_than_one_statement_takes(database: Database, rows: EmbeddingRows) -> None:
    one = await remember(database, "one", ANA)
    for number in range(5):
        await rows.put(ANA, f"model {number}", [vector(one)])

    assert await rows.drop_others("model 0", step=2) == 4
    assert [model for _, model, *_ in await stored_vectors(database)] == ["model 0"]


async def test_without_pgvector_nothing_is_missing_and_nothing_is_stored(
    database: Database, rows: EmbeddingRows
) -> None:
    one = await remember(database, "one", ANA)
    await run(database, "DROP EXTENSION vector CASCADE")

    assert not await rows.available()
    assert await missing(rows) == []
    assert await rows.put(ANA, MODEL, [vector(one)]) == 0
    assert await rows.drop_others(MODEL) == 0


async def test_nothing_to_store_is_no_question(database: Database, rows: EmbeddingRows) -> None:
    assert await rows.put(ANA, MODEL, []) == 0
