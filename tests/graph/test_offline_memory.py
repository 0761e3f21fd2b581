"""The offline model remembers through the whole graph: facts, and what was said in other threads."""

from collections.abc import AsyncIterator

import pytest

from backend import agent, background_agent
from backend.llm.offline import OFFLINE_NOTICE
from backend.memory.facts.record import ON_THE_PAGE, FactChanges, FactDraft
from tests.support.memory_driver import GraphServer, MemoryDriver
from tests.support.memory_homes import Home

pytestmark = pytest.mark.anyio

QUESTION = "What is the build server called?"
KNOWN = "From what I have kept: the build server is called Marvin"


@pytest.fixture
async def ana(home: Home) -> AsyncIterator[MemoryDriver]:
    """A thread without any model configured."""
    server = GraphServer()
    async with home.process(server) as process:
        server.graph = agent.build(process.services.chat).compile(checkpointer=process.saver, store=process.store)
        background = background_agent.build(process.services.background).compile(store=process.store)
        yield MemoryDriver(server.graph, server=server, background=background, process=process)


async def ask(driver: MemoryDriver, text: str) -> str:
    answer = await driver.send(text)
    await driver.remember()
    return answer.removesuffix(OFFLINE_NOTICE).strip()


async def contents(driver: MemoryDriver) -> list[str]:
    return [fact.content for fact in await driver.memory.facts.all()]


@pytest.mark.parametrize(
    "forgetting",
    [
        "Forget what I said about the build server",
        "Forget the fact about Marvin.",
        "Forget that the build server is called Marvin",
    ],
)
async def test_a_fact_is_known_in_another_thread_until_it_is_to_be_forgotten(
    ana: MemoryDriver, forgetting: str
) -> None:
    await ask(ana, "Remember that we ship on Fridays")
    told = await ask(ana, "Remember that the build server is called Marvin.")
    assert told == "I will remember this: the build server is called Marvin."
    other = ana.elsewhere()
    assert await ask(other, QUESTION) == KNOWN
    assert await ask(other, forgetting) == "I have forgotten this: the build server is called Marvin."
    assert await contents(ana) == ["we ship on Fridays"]
    for thread in (other, ana.elsewhere()):
        assert "Marvin" not in await ask(thread, QUESTION)


async def test_a_fact_made_in_a_thread_can_be_forgotten_in_it(ana: MemoryDriver) -> None:
    await ask(ana, "Remember that we ship on Fridays")
    assert await ask(ana, "When do we ship?") == "From what I have kept: we ship on Fridays"
    assert await ask(ana, "Forget that we ship on Fridays") == "I have forgotten this: we ship on Fridays."
    assert await contents(ana) == []


async def test_a_change_on_the_page_is_known_in_a_thread_that_has_begun(ana: MemoryDriver) -> None:
    [fact] = await ana.memory.facts.create([FactDraft(content="The boat is red")], origin=ON_THE_PAGE)
    assert await ask(ana, "What colour is the boat?") == "From what I have kept: The boat is red"
    await ana.memory.facts.change(fact.id, FactChanges(content="The boat is green"), version=1, origin=ON_THE_PAGE)
    assert await ask(ana, "What colour is the boat?") == "From what I have kept: The boat is green"
    await ana.memory.facts.delete(fact.id)
    assert "green" not in await ask(ana, "What colour is the boat?")


async def test_what_was_said_in_another_thread_is_quoted_with_its_day(ana: MemoryDriver) -> None:
    await ask(ana, "Our cat Figaro hides under the piano.")
    [episode] = (await ana.memory.episodes.page(limit=10)).episodes
    answer = await ask(ana.elsewhere(), "Where does Figaro hide, under the piano?")
    assert answer == f"On {episode.created_at.date()} you wrote: Our cat Figaro hides under the piano."


async def test_what_is_known_already_is_said_to_be(ana: MemoryDriver) -> None:
    await ask(ana, "Remember that we ship on Fridays")
    assert await ask(ana.elsewhere(), "Remember that we ship on Fridays") == "I remember that already."


async def test_attributes_still_go_to_the_profile(ana: MemoryDriver) -> None:
    await ask(ana, "My name is Ana. Remember that my dog's name is Rex. Remember that we ship on Fridays.")
    assert (await ana.memory.profile.view()).memory == {"name": "Ana", "dog_name": "Rex"}
    assert await contents(ana) == ["we ship on Fridays"]
