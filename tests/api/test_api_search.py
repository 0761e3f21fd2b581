"""GET /api/memory/search: what recall finds, and why (DESIGN 9)."""

import pytest

from backend.ids import ThreadId
from backend.memory.episodes import FinishedWords
from backend.memory.facts.record import ON_THE_PAGE, FactDraft
from tests.support.http_api import Api, running_api
from tests.support.memory_homes import HomeInPostgres
from tests.support.passes import NOW

pytestmark = pytest.mark.anyio

SEARCH = "/api/memory/search"
THREAD = ThreadId("11111111-1111-4111-8111-111111111111")
NAMES = {"Lives in 東京", "Favourite band: The Who", "Writes C++", "Dog: Al", "100% _cotton_"}
AWKWARD = [
    "",
    " ",
    "the",
    "?",
    "C++ & | ! ( :*",
    "coffee -tea",
    "%",
    "_",
    "x",
    "\0",
    "a\0b",
    "'",
    "\\",
    "東",
    "x y " * 2_500,
]


async def keep(api: Api, *contents: str, user_id: str = "ana") -> None:
    for content in contents:
        await api.process.memory_of(user_id).facts.create([FactDraft(content=content)], origin=ON_THE_PAGE)


async def record(api: Api, user_text: str, assistant_text: str = "noted") -> None:
    words = FinishedWords(
        thread_id=THREAD,
        turn=0,
        message_ids=["h0", "a0"],
        user_text=user_text,
        assistant_text=assistant_text,
        finished_at=NOW,
    )
    assert await api.process.memory_of("ana").episodes.record(words)


async def test_facts_and_episodes_are_found_with_the_parts_of_their_scores(api: Api) -> None:
    await keep(api, "Rides a red bicycle to work", "Has a dog called Al")
    await record(api, "My bicycle has a flat tyre")
    async with api.client("ana") as ana:
        body = (await ana.get(SEARCH, params={"q": "bicycle"})).json()

    assert list(body) == ["results"]
    assert {one["kind"]: one["content"] for one in body["results"]} == {
        "fact": "Rides a red bicycle to work",
        "episode": "User: My bicycle has a flat tyre\nAssistant: noted",
    }
    for one in body["results"]:
        assert set(one) == {"id", "kind", "content", "score", "parts"}
        assert one["parts"]
        assert sum(one["parts"].values()) == pytest.approx(one["score"], abs=1e-3)
    scores = [one["score"] for one in body["results"]]
    assert scores == sorted(scores, reverse=True)


async def test_the_ids_are_those_of_the_lists(api: Api) -> None:
    await keep(api, "Rides a red bicycle to work")
    await record(api, "My bicycle has a flat tyre")
    async with api.client("ana") as ana:
        found = {one["id"] for one in (await ana.get(SEARCH, params={"q": "bicycle"})).json()["results"]}
        [fact] = (await ana.get("/api/memory/facts")).json()["facts"]
        [episode] = (await ana.get("/api/memory/episodes")).json()["episodes"]

    assert found == {fact["id"], episode["id"]}


async def test_it_finds_no_more_than_recall_shows(api: Api) -> None:
    await keep(api, *(f"Bicycle number {number}" for number in range(10)))
    async with api.client("ana") as ana:
        assert len((await ana.get(SEARCH, params={"q": "bicycle"})).json()["results"]) == 8


async def test_nothing_relevant_is_nothing(api: Api) -> None:
    await keep(api, "Has a dog called Al")
    async with api.client("ana") as ana:
        assert (await ana.get(SEARCH, params={"q": "volcano"})).json() == {"results": []}


@pytest.mark.parametrize(("q", "content"), [("東京", "Lives in 東京"), ("C++", "Writes C++"), ("Al", "Dog: Al")])
async def test_a_word_of_any_kind_finds_its_fact_first(q: str, content: str, api: Api) -> None:
    await keep(api, *sorted(NAMES))
    async with api.client("ana") as ana:
        results = (await ana.get(SEARCH, params={"q": q})).json()["results"]

    assert results[0]["content"] == content


@pytest.mark.parametrize("q", AWKWARD)
async def test_no_text_raises(q: str, api: Api) -> None:
    """CASES 30."""
    await keep(api, *sorted(NAMES))
    async with api.client("ana") as ana:
        for path in (SEARCH, "/api/memory/facts"):
            response = await ana.get(path, params={"q": q})
            assert response.status_code == 200, response.text


@pytest.mark.parametrize("q", ["%ff", "%ED%A0%80", "%", "+", "&q=tea"])
async def test_no_spelling_of_a_text_raises(q: str, api: Api) -> None:
    async with api.client("ana") as ana:
        assert (await ana.get(f"{SEARCH}?q={q}")).json() == {"results": []}


async def test_without_a_text_there_is_nothing_to_look_for(api: Api) -> None:
    async with api.client("ana") as ana:
        response = await ana.get(SEARCH)

    assert (response.status_code, response.json()["error"]["kind"]) == (400, "invalid")
    assert response.json()["error"]["message"].startswith("q: ")


async def test_nothing_of_anybody_else_is_found(api: Api) -> None:
    for user_id in ("u1", "u_1", "uX1", "%"):
        await keep(api, f"The bicycle of {user_id}", user_id=user_id)
    for user_id in ("u1", "u_1", "uX1", "%"):
        async with api.client(user_id) as caller:
            for path, key in ((SEARCH, "results"), ("/api/memory/facts", "facts")):
                found = (await caller.get(path, params={"q": "bicycle"})).json()[key]
                assert [one["content"] for one in found] == [f"The bicycle of {user_id}"]


async def test_without_authentication_everybody_is_the_default_user(database_url: str) -> None:
    home = HomeInPostgres(database_url)
    async with running_api(home, auth_mode="none", auth_default_user="ana") as api, api.client() as somebody:
        await keep(api, "Rides a red bicycle to work")
        assert len((await somebody.get(SEARCH, params={"q": "bicycle"})).json()["results"]) == 1
    async with running_api(home, auth_mode="none", auth_default_user="") as api, api.client() as nobody:
        assert (await nobody.get(SEARCH, params={"q": "bicycle"})).json()["error"]["kind"] == "not_found"
