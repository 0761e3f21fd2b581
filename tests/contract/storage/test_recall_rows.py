"""The recall statement on PostgreSQL: what it finds, in which order, and by which index."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from backend.ids import MemoryId, ThreadId
from backend.storage.database import Database
from backend.storage.embedding_rows import EmbeddingRows, RowVector
from backend.storage.memory_rows import Change, MemoryRow, MemoryRows, NewMemory
from backend.storage.migrate import WITHOUT, prepare
from backend.storage.recall_rows import PARTS, QUERIES, RecallQuery, RecallRows
from tests.support.postgres import TestServer, make_database

pytestmark = pytest.mark.anyio

AT = datetime(2026, 1, 10, tzinfo=UTC)
CASE_30 = ["Lives in 東京", "Favourite band: The Who", "Writes C++", "Dog: Al", "100% _cotton_"]


def fact(content: str, **fields: Any) -> NewMemory:
    return replace(
        NewMemory(kind="fact", content=content, content_hash=hashlib.sha256(content.encode()).digest()), **fields
    )


def said(content: str, turn: int, **fields: Any) -> NewMemory:
    thread = fields.pop("thread_id", "thread")
    return fact(content, kind="episode", thread_id=thread, turn=turn, message_ids=[f"{thread}-{turn}"], **fields)


async def save(database: Database, *memories: NewMemory, scope: str = "ana", at: datetime = AT) -> Sequence[MemoryRow]:
    return await MemoryRows(database).save(scope, added=memories, at=at)


async def find(database: Database, text: str, *, scope: str = "ana", **fields: Any) -> list[str]:
    asked: dict[str, Any] = {"text": text, "limit": 8, **fields}
    query = RecallQuery(**asked)
    return [found.row.content for found in await RecallRows(database).search(scope, query)]


@pytest.fixture
async def plain_database(postgres_server: TestServer) -> AsyncIterator[Database]:
    """A database without any extension."""
    url = postgres_server.create_database(template="template0")
    database = make_database(url)
    async with await database.connect() as connection:
        await prepare(connection, extensions=())
    yield database
    await (await database.pool()).close()
    postgres_server.drop_database(url)


@pytest.fixture(params=["all extensions", "none"])
def any_database(request: pytest.FixtureRequest) -> Database:
    return request.getfixturevalue("database" if request.param == "all extensions" else "plain_database")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("where is 東京?", "Lives in 東京"),
        ("东京/東京", "Lives in 東京"),
        ("the who", "Favourite band: The Who"),
        ("C++ & | ! ( :*", "Writes C++"),
        ("Al", "Dog: Al"),
        ("%", "100% _cotton_"),
        ("_", "100% _cotton_"),
        ("Ｃｏｔｔｏｎ", "100% _cotton_"),
    ],
)
async def test_hard_texts_find_what_they_name(any_database: Database, text: str, expected: str):
    await save(any_database, *map(fact, CASE_30))
    assert await find(any_database, text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\x00",
        "\ud800",
        "coffee -tea",
        "what's my name?",
        "'",
        "\\",
        "a\\b'c \\' ''",
        "&|!():*<->",
        "x" * 10_000,
        "ab " * 3_300,
        "%%s %(text)s",
        "http://a.b/c\\d?e='f'",
        "東" * 10_000,
        "\u0301",
        "'s",
        "\\\\host\\share\\file's",
    ],
)
async def test_no_text_is_refused(any_database: Database, text: str):
    await save(any_database, *map(fact, CASE_30))
    await find(any_database, text)


@pytest.mark.parametrize("scope", ["u1", "u10", "u_1", "uX1", "%"])
async def test_a_scope_sees_its_own_only(database: Database, scope: str):
    for other in ("u1", "u10", "u_1", "uX1", "%"):
        await save(database, fact(f"drinks coffee, says {other}", thread_id="t", turn=0), scope=other)
        await save(database, said("and tea", 1, thread_id="t"), scope=other)
    for text in ("coffee", "the says", "cofee", "%", "tea"):
        found = await RecallRows(database).search(scope, RecallQuery(text=text, limit=50))
        assert {one.row.scope for one in found} <= {scope}
    assert f"drinks coffee, says {scope}" in await find(database, "coffee", scope=scope)


async def test_a_score_is_the_sum_of_its_parts(database: Database):
    await save(database, said("Ana bought a red bicycle.", 0, said_by="Bob"), said("Where is it?", 1, said_by="Ana"))
    query = RecallQuery(text="bicycle of Bob", limit=8, names=["bob"], dates=[(date(2026, 1, 10), date(2026, 1, 10))])
    found = await RecallRows(database).search("ana", query)
    assert len(found) == 2
    for one in found:
        assert set(one.parts) == set(PARTS)
        assert one.score == pytest.approx(sum(one.parts.values()))
    assert found[0].parts["name"] > 0 == found[1].parts["name"]
    assert found[0].parts["date"] > 0 > found[1].parts["question"]


async def test_turns_that_are_sent_anyway_are_left_out_but_facts_are_not(database: Database):
    await save(database, *(said(f"coffee number {turn}", turn) for turn in range(4)), said("coffee", 9, thread_id="b"))
    await save(database, fact("likes coffee", thread_id="thread", turn=3))
    found = await find(database, "coffee", sent_thread=ThreadId("thread"), sent_from_turn=2)
    assert set(found) == {"coffee number 0", "coffee number 1", "coffee", "likes coffee"}


async def test_a_turn_is_found_by_the_words_around_it(database: Database):
    turns = ["Which museum did you like?", "The one by the river.", "Nice.", "Yes.", "Well.", "So.", "Fine."]
    await save(database, *(said(text, turn) for turn, text in enumerate(turns)), said("By the sea.", 1, thread_id="b"))
    found = await find(database, "museum")
    assert "The one by the river." in found
    assert "So." not in found
    assert "By the sea." not in found


async def test_a_changed_fact_is_found_by_what_it_says_now(database: Database):
    [row] = await save(database, fact("likes coffee"))
    change = Change(id=row.id, version=row.version, to=fact("prefers tea"))
    await MemoryRows(database).save("ana", changed=[change], at=AT)
    assert await find(database, "coffee") == []
    assert await find(database, "tea") == ["prefers tea"]


async def test_a_fact_is_found_by_its_key_and_categories(database: Database):
    await save(database, fact("Oslo", key="home_city", categories=["Places to go"]), fact("Bergen", key="office"))
    assert await find(database, "which city") == ["Oslo"]
    assert await find(database, "a place") == ["Oslo"]


async def test_a_typo_is_repaired_by_the_words_of_the_scope(database: Database):
    await save(database, fact("Plays the accordion"), fact("Likes cake"))
    await save(database, fact("Owns an accordeon factory"), scope="bob")
    assert await find(database, "acordion") == ["Plays the accordion"]


async def test_a_word_that_is_known_is_not_repaired(database: Database):
    await save(database, fact("Has a horse"), fact("Has a house"))
    assert await find(database, "house") == ["Has a house"]


async def test_importance_breaks_a_tie_and_recency_the_next(database: Database):
    await save(database, fact("coffee a"), at=datetime(2024, 1, 1, tzinfo=UTC))
    await save(database, fact("coffee b"), at=datetime.now(UTC))
    await save(database, fact("coffee c", importance=1.0), at=datetime(2024, 1, 1, tzinfo=UTC))
    assert await find(database, "coffee") == ["coffee c", "coffee b", "coffee a"]


async def test_very_old_and_future_rows_are_found_too(database: Database):
    for year in (1, 1850, 9998):
        await save(database, fact(f"coffee in {year}"), at=datetime(year, 1, 1, tzinfo=UTC))
    assert len(await find(database, "coffee")) == 3


async def test_the_floor_leaves_out_what_shares_little_with_the_text(database: Database):
    await save(database, fact("I like long walks"), fact("My sister plays chess"))
    text = "How long would a rocket need to reach Jupiter's moon Europa?"
    assert await find(database, text) == ["I like long walks"]
    assert await find(database, text, least_share=0.5) == []


async def test_a_vector_finds_what_no_word_does(database: Database):
    near, _ = await save(database, fact("owns a terrier"), fact("likes cake"))
    await put(database, near.id, 1, [1.0, 0.0])
    assert await find(database, "dog", vector=[0.9, 0.1], model="m", least_similarity=0.5) == ["owns a terrier"]


@pytest.mark.parametrize(
    ("model", "version", "vector"), [("other", 1, [1.0, 0.0]), ("m", 0, [1.0, 0.0]), ("m", 1, [1.0, 0.0, 0.0])]
)
async def test_a_vector_of_another_model_version_or_dimension_does_not_count(
    database: Database, model: str, version: int, vector: Sequence[float]
):
    [row] = await save(database, fact("owns a terrier"))
    async with database.connection() as connection:
        await connection.execute(
            "INSERT INTO memory_embeddings (memory_id, model, scope, version, embedding)"
            " VALUES (%s, %s, %s, %s, %s::real[]::halfvec)",
            (row.id, model, row.scope, version, vector),
        )
    assert await find(database, "dog", vector=[1.0, 0.0], model="m") == []


async def test_without_extensions_vectors_and_typos_find_nothing_and_stop_nothing(plain_database: Database):
    await save(plain_database, fact("Plays the accordion"))
    assert await find(plain_database, "acordion", vector=[1.0, 0.0], model="m") == []
    assert await find(plain_database, "accordions", vector=[1.0, 0.0], model="m") == ["Plays the accordion"]


async def test_each_missing_extension_is_one_warning_at_the_start(postgres_server: TestServer):
    url = postgres_server.create_database(template="template0")
    with capture_logs() as lines:
        async with await make_database(url).connect() as connection:
            await prepare(connection, extensions=["btree_gin"])
    missing = [line for line in lines if line["event"] == "extension_missing"]
    assert [(line["log_level"], line["name"]) for line in missing] == [("warning", "pg_trgm"), ("warning", "vector")]
    assert all(line["effect"] == WITHOUT[line["name"]] for line in missing)
    postgres_server.drop_database(url)


async def test_extensions_that_come_and_go_are_followed(plain_database: Database):
    [row] = await save(plain_database, fact("Plays the accordion"))
    async with await plain_database.connect() as connection:
        await prepare(connection)
    await put(plain_database, row.id, 1, [1.0, 0.0])
    assert await find(plain_database, "acordion") == ["Plays the accordion"]
    assert await find(plain_database, "music", vector=[1.0, 0.0], model="m") == ["Plays the accordion"]
    for _ in range(2):
        async with await plain_database.connect() as connection:
            await connection.execute("DROP EXTENSION IF EXISTS vector, pg_trgm, btree_gin CASCADE")
            await prepare(connection, extensions=())
        assert await find(plain_database, "accordion", vector=[1.0, 0.0], model="m") == ["Plays the accordion"]
    async with await plain_database.connect() as connection:
        await prepare(connection)
    assert await find(plain_database, "acordion") == ["Plays the accordion"]


@pytest.mark.parametrize("generic", [True, False])
async def test_words_are_found_by_the_index_among_some_thousand_rows(any_database: Database, generic: bool):
    async with any_database.connection() as connection, connection.transaction():
        await connection.execute(
            "INSERT INTO memories (scope, kind, content, content_hash, created_at, updated_at) "
            "SELECT 'u' || n % 20, 'fact', 'likes ' || md5(n::text) || ' and tea', sha256(n::text::bytea), "
            "now(), now() FROM generate_series(1, 6000) AS n"
        )
    async with any_database.connection() as connection:
        await connection.execute("ANALYZE memories")
        async with connection.transaction():
            await connection.execute(QUERIES["plan_once"] if generic else b"SET LOCAL jit = off")
            plan = await (
                await connection.execute(b"EXPLAIN (FORMAT JSON) " + QUERIES["recall"], values("tea"))
            ).fetchall()
    words = [node["Index Name"] for node in nodes(plan[0]["QUERY PLAN"][0]["Plan"]) if "words @@" in str(node)]
    assert "memories_scope_words" in words or "memories_words" in words


async def test_what_is_known_already_is_left_out_and_makes_room_for_the_next(database: Database) -> None:
    best, _ = await save(database, fact("Has an old accordion to sell in the attic"), fact("Plays the accordion"))
    assert await find(database, "accordion", limit=1) == [best.content]
    assert await find(database, "accordion", limit=1, besides=[best.id]) == ["Plays the accordion"]
    assert await find(database, "accordion", limit=1, besides=[MemoryId("no id")]) == [best.content]


async def test_a_long_text_of_common_words_does_not_multiply_the_rows_that_are_worked_on(database: Database) -> None:
    """Spread over nine turns, thirty words of 250 rows would be 67,500 rows."""
    words = " ".join(f"common{chr(97 + n)}{chr(97 + n)}" for n in range(26))
    await save(database, *[said(f"{words} rare{n}", n) for n in range(250)], scope="u7")
    async with database.connection() as connection, connection.transaction():
        await connection.execute(QUERIES["plan_once"])
        plan = await (
            await connection.execute(
                b"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + QUERIES["recall"], values(f"{words} rare7")
            )
        ).fetchall()
    assert max(rows_of(plan[0]["QUERY PLAN"][0]["Plan"])) < 10_000
    assert (await find(database, f"{words} rare7", scope="u7", limit=1)) == [f"{words} rare7"]


def rows_of(plan: dict[str, Any]) -> list[float]:
    """How many rows each step of a plan gave."""
    below = [rows for child in cast("list[dict[str, Any]]", plan.get("Plans", [])) for rows in rows_of(child)]
    return [plan["Actual Rows"] * plan["Actual Loops"], *below]


def values(text: str) -> dict[str, Any]:
    unused: dict[str, Any] = {
        "kinds": ["fact", "episode"],
        "names": [],
        "first_days": [],
        "last_days": [],
        "vector": None,
        "model": "",
        "sent_thread": None,
    }
    return {
        **unused,
        "scope": "u7",
        "text": text,
        "limit": 8,
        "sent_from_turn": 0,
        "besides": [],
        "least_share": 0.0,
        "least_similarity": 0.0,
    }


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that use an index, without their children, so that a condition is looked for where it is."""
    own = {key: value for key, value in plan.items() if key != "Plans"}
    below = [node for child in cast("list[dict[str, Any]]", plan.get("Plans", [])) for node in nodes(child)]
    return [own, *below] if "Index Name" in own else below


async def put(database: Database, memory_id: MemoryId, version: int, vector: Sequence[float]) -> None:
    rows = EmbeddingRows(database)
    assert await rows.put("ana", "m", [RowVector(id=memory_id, version=version, vector=vector)]) == 1
