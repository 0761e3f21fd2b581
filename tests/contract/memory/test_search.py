"""Search over one user's memory: relevant things or nothing, in any language, for any text."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from backend.ids import ThreadId, UserId
from backend.memory.scope import scope_label
from backend.memory.search import MAX_CHARS, Search, shortened
from backend.storage.database import Database
from backend.storage.embedding_rows import EmbeddingRows, RowVector
from backend.storage.memory_rows import MemoryRows, NewMemory
from backend.storage.recall_rows import RecallRows
from bench.recall.language_sets import TARGETS, missed

pytestmark = pytest.mark.anyio

ANA = UserId("ana@example.org")
AT = datetime(2026, 1, 10, tzinfo=UTC)
FACTS = (
    "My sister Clara lives in Bergen and teaches music.",
    "I am allergic to peanuts.",
    "We go climbing every Tuesday evening.",
    "The landlord's phone number is on the fridge.",
    "I like long walks, and I would rather take the train than fly.",
    "What I want to write is short: a function of the weather.",
)
UNRELATED = (
    "What is the capital of Mongolia?",
    "How fast does light travel from the sun to the moon?",
    "Implement a binary tree in Haskell, please.",
    "thanks!",
    "Can you explain how photosynthesis works in simple terms?",
    "ok, and what about the second one?",
)


async def remember(database: Database, *texts: str, user: UserId = ANA) -> None:
    await MemoryRows(database).save(scope_label(user), added=list(map(fact, texts)), at=AT)


def fact(text: str) -> NewMemory:
    return NewMemory(kind="fact", content=text, content_hash=hashlib.sha256(text.encode()).digest())


def search_of(database: Database, user: UserId = ANA) -> Search:
    return Search(user, RecallRows(database), None, "")


async def found(search: Search, text: str) -> list[str]:
    return [one.content for one in await search.find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("where does my sister live?", FACTS[0]),
        ("Is there anything with peanut that I can eat?", FACTS[1]),
        ("are we climbing on tuesday", FACTS[2]),
        ("I need the phone number of the landlord", FACTS[3]),
        ("Does Claras sister tech musik?", FACTS[0]),
    ],
)
async def test_what_a_text_is_about_comes_first(database: Database, text: str, expected: str):
    await remember(database, *FACTS)
    assert (await found(search_of(database), text))[0] == expected


@pytest.mark.parametrize("text", UNRELATED)
async def test_nothing_relevant_is_an_empty_list(database: Database, text: str):
    await remember(database, *FACTS)
    assert await found(search_of(database), text) == []


async def test_what_was_found_explains_itself(database: Database):
    await remember(database, *FACTS)
    [one] = await search_of(database).find("peanuts")
    assert (one.kind, one.content, one.version, one.created_at) == ("fact", FACTS[1], 1, AT)
    assert one.score == pytest.approx(sum(one.parts.values()))


async def test_two_users_never_find_each_others(database: Database):
    bob = UserId("ana=40example.org")
    await remember(database, "Ana drinks coffee")
    await remember(database, "Bob drinks coffee", user=bob)
    assert await found(search_of(database), "who drinks coffee") == ["Ana drinks coffee"]
    assert await found(search_of(database, bob), "who drinks coffee") == ["Bob drinks coffee"]


async def test_a_speaker_who_is_named_comes_before_one_who_is_not(database: Database):
    lines = [("Dana", "I bought a boat last spring."), ("Eli", "I bought a boat last summer.")]
    added = [
        NewMemory(kind="episode", content=text, content_hash=text.encode(), said_by=name, thread_id=name, turn=0)
        for name, text in lines
    ]
    await MemoryRows(database).save(scope_label(ANA), added=added, at=AT)
    for name, text in lines:
        assert (await found(search_of(database), f"When was {name}'s boat bought?"))[0] == text


async def test_the_turns_that_are_sent_are_not_found_again(database: Database):
    text = "We talked about the boat."
    turn = NewMemory(kind="episode", content=text, content_hash=b"1", thread_id="t", turn=4)
    await MemoryRows(database).save(scope_label(ANA), added=[turn], at=AT)
    search = search_of(database)
    assert await search.find("boat", sent_thread=ThreadId("t"), sent_from_turn=4) == []
    assert len(await search.find("boat", sent_thread=ThreadId("t"), sent_from_turn=5)) == 1
    assert len(await search.find("boat", sent_thread=ThreadId("u"), sent_from_turn=0)) == 1


async def test_with_vectors_the_meaning_is_found_and_the_unrelated_is_not(database: Database):
    await remember(database, *FACTS)
    label, rows = scope_label(ANA), EmbeddingRows(database)
    meanings = {text: [float(place == other) for other in range(len(FACTS))] for place, text in enumerate(FACTS)}
    missing = await rows.missing(label, "m", dimension=None, limit=10)
    await rows.put(label, "m", [RowVector(id=row.id, version=1, vector=meanings[row.content]) for row in missing])

    async def embed(text: str) -> Sequence[float] | None:
        return {"Which nuts?": [0.1, 0.9, 0, 0, 0, 0], "no answer": None}.get(text, [0.1] * len(FACTS))

    search = Search(ANA, RecallRows(database), embed, "m")
    assert await found(search, "Which nuts?") == [FACTS[1]]
    assert await found(search, "no answer") == []


@pytest.mark.parametrize("text", ["", " \n", "\x00", "\ud83d", "%", "_", "!" * 10_000, "word " * 2_000, "東" * 10_000])
async def test_any_text_will_do(database: Database, text: str):
    await remember(database, *FACTS)
    await search_of(database).find(text)


async def test_a_question_behind_or_before_a_long_paste_is_still_read(database: Database):
    await remember(database, *FACTS)
    paste = "zzz " * 5_000
    assert FACTS[1] in await found(search_of(database), f"{paste} Which peanuts am I allergic to?")
    assert FACTS[1] in await found(search_of(database), f"Which peanuts am I allergic to? {paste}")


def test_a_short_text_is_not_shortened():
    assert shortened("a" * MAX_CHARS) == "a" * MAX_CHARS
    assert len(shortened("a" * (MAX_CHARS + 1))) == MAX_CHARS + 1


@pytest.mark.parametrize(("language", "least"), TARGETS.items())
async def test_other_languages_are_found_by_their_words(database: Database, language: str, least: float):
    questions = await missed(database, language)
    assert 100 - 5 * len(questions) >= least, questions
