"""No text can make a search raise, whatever is kept and whatever is asked for."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.ids import ThreadId
from backend.memory.episodes import FinishedWords
from backend.memory.facts.record import ON_THE_PAGE, FactDraft
from backend.storage.memory_rows import KINDS, Kind
from tests.fuzz.budget import TIME, examples
from tests.fuzz.hostile import huge_texts, texts
from tests.fuzz.memory_tools import MemoryTools
from tests.support.memory_homes import Process
from tests.support.passes import NOW

pytestmark = [pytest.mark.anyio, TIME, pytest.mark.filterwarnings("ignore:Generating overly large repr")]

FACTS = (
    "My sister Clara lives in Bergen",
    "東京に住んでいます",
    "انا احب الشاي",
    "Любит чай",
    "3/4 & (a|b) !c <-> d:*",
)
OPERATORS = (
    "&", "|", "!", "<->", "<2>", ":*", ":A", "(", ")", "'", "''", "\\", "*", "%", "_", "?", "$1", "%s", "%(text)s",
    "--", ";", "/*", "and", "or", "not", "OR", "-", '"', "@@", "~", "^", "{", "}", "[", "]",
)  # fmt: skip
WORDS = (
    "tea",
    "sister",
    "Bergen",
    "the",
    "of",
    "a",
    "x",
    "東京",
    "чай",
    "الشاي",
    "😀",
    "2026-13-45",
    "31 February",
    "yesterday",
)
pieces = st.one_of(st.sampled_from(OPERATORS), st.sampled_from(WORDS), texts)
queries: st.SearchStrategy[str] = st.one_of(
    st.lists(pieces, max_size=12).map(" ".join),
    st.lists(pieces, max_size=12).map("".join),
    st.text(st.characters(), max_size=60),
    st.text(st.characters(categories=["Lo", "Mn", "Mc", "Cf", "So", "Sk"]), max_size=60),
    huge_texts.map(lambda text: text[:10_000]),
    st.tuples(pieces, st.integers(100, 3_000)).map(lambda repeated: f"{repeated[0]} " * repeated[1]),
    st.integers(1, 9_999).map(lambda year: f"{year:04}-{year % 13:02}-{year % 33:02}"),
    st.lists(st.integers(0, 10**9).map(str), max_size=900).map(" ".join),
)
kinds: st.SearchStrategy[Sequence[Kind]] = st.sampled_from([KINDS, ("fact",), ("episode",), ()])


async def remember(tools: MemoryTools) -> None:
    for fact in FACTS:
        await tools.memory.facts.create([FactDraft(content=fact)], origin=ON_THE_PAGE)
    words = FinishedWords(
        thread_id=ThreadId("t"),
        turn=0,
        message_ids=["h0", "a0"],
        user_text="Where does Clara live?",
        assistant_text="In Bergen, where it rains.",
        finished_at=NOW,
    )
    assert await tools.memory.episodes.record(words)


@pytest.fixture
async def tools(process: Process) -> MemoryTools:
    tools = MemoryTools(process)
    await remember(tools)
    return tools


@examples(200, share=5)
@given(text=queries, among=kinds, limit=st.integers(1, 20), sent=st.sampled_from([None, ThreadId("t"), ThreadId("'")]))
async def test_any_text_finds_something_or_nothing(
    text: str, among: Sequence[Kind], limit: int, sent: ThreadId | None, tools: MemoryTools
) -> None:
    found = await tools.memory.search.find(text, limit=limit, kinds=among, sent_thread=sent)
    assert len(found) <= limit
    assert {one.kind for one in found} <= set(among)
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert all(math.isfinite(score) and score > 0 for score in scores)


@examples(80, share=10)
@given(text=queries)
async def test_the_tool_finds_by_any_text_too(text: str, tools: MemoryTools) -> None:
    result = await tools.call("manage_memory", {"action": "search", "query": text})
    assert result.status == ("success" if is_text(text) else "error")


def is_text(text: str) -> bool:
    """Whether a model could have sent it as the words to look for."""
    return bool(text.strip()) and not any("\ud800" <= character <= "\udfff" for character in text)


@examples(60, share=10)
@given(text=queries)
async def test_what_is_kept_in_any_words_hinders_no_search(text: str, process: Process) -> None:
    tools = MemoryTools(process)
    said = FinishedWords(
        thread_id=ThreadId("other"),
        turn=0,
        message_ids=["h1", "a1"],
        user_text=f"about the zeppelin: {text}",
        assistant_text="yes",
        finished_at=NOW,
    )
    assert await tools.memory.episodes.record(said)
    assert [one.kind for one in await tools.memory.search.find("zeppelin")] == ["episode"]
    assert len(await tools.memory.search.find(text)) <= 1
