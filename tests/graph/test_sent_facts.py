"""Facts in the prompt: the block once a thread, what changes as lines, and nothing twice (S4)."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from backend.memory.facts.record import Fact, FactChanges, FactDraft, Origin
from tests.support.memory_driver import MemoryDriver, OpenDriver
from tests.support.model_server import ModelRequest, ModelServer
from tests.support.summaries import answer, summary

pytestmark = pytest.mark.anyio

ON_THE_PAGE = Origin(said_by="user")


async def keep(driver: MemoryDriver, *contents: str) -> list[Fact]:
    """As the page does."""
    drafts = [FactDraft(content=content) for content in contents]
    return list(await driver.memory.facts.create(drafts, origin=ON_THE_PAGE))


def block(request: ModelRequest, name: str) -> str:
    """What stands in the last block of a name, in all that was sent; empty for none."""
    sent = "\n".join(str(message["content"]) for message in request.messages)
    return sent.rpartition(f"<{name}>\n")[2].partition(f"\n</{name}>")[0] if f"<{name}>" in sent else ""


def contents(lines: str) -> list[str]:
    return [json.loads(line)["content"] for line in lines.split("\n")]


def users(request: ModelRequest) -> list[str]:
    return [str(message["content"]) for message in request.messages if message["role"] == "user"]


async def test_a_fact_is_known_in_every_thread_with_its_id_and_version(
    model: ModelServer, driver: MemoryDriver
) -> None:
    [fact] = await keep(driver, "Answer in verse")
    await driver.send("hi")
    line: Mapping[str, object] = json.loads(block(model.for_model("chat")[-1], "facts"))
    assert line == {"id": fact.id, "version": 1, "content": "Answer in verse"}
    assert "Answer in verse" in model.for_model("chat")[-1].system_text


async def test_without_facts_there_is_no_block(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.send("hi")
    assert "<facts>" not in model.for_model("chat")[-1].system_text
    assert users(model.for_model("chat")[-1]) == ["hi"]


async def test_in_a_thread_the_block_stays_as_it_was_and_changes_are_told_once(
    model: ModelServer, driver: MemoryDriver
) -> None:
    first, second = await keep(driver, "likes tea", "has a cat")
    await driver.send("question 1")
    before = model.for_model("chat")[-1].system_text
    await keep(driver, "plays chess")
    await driver.memory.facts.change(first.id, FactChanges(content="likes coffee"), version=1, origin=ON_THE_PAGE)
    await driver.memory.facts.delete(second.id, version=1)
    await driver.send("question 2")
    asked = model.for_model("chat")[-1]
    assert asked.system_text == before
    changed = block(asked, "fact_changes").split("\n")
    assert [line.partition(":")[0] for line in changed] == ["changed", "new", "no longer valid"]
    assert "likes coffee" in changed[0]
    assert "plays chess" in changed[1]
    assert second.id in changed[2]
    await driver.send("question 3")
    later = model.for_model("chat")[-1]
    assert later.messages[: len(asked.messages)] == asked.messages, "what was sent is sent the same again"
    assert users(later)[-1] == "question 3"


async def test_a_fact_that_another_thread_keeps_is_known_at_once_in_one_that_goes_on(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await driver.send("question 1")
    await keep(driver, "is allergic to nuts")
    await driver.send("question 2")
    assert "is allergic to nuts" in users(model.for_model("chat")[-1])[-1]
    assert "is allergic to nuts" not in model.for_model("chat")[-1].system_text


async def test_the_thread_state_has_only_what_was_said(driver: MemoryDriver) -> None:
    await driver.send("question 1")
    await keep(driver, "is allergic to nuts")
    await driver.send("question 2")
    said = [message.text for message in await driver.messages() if message.type == "human"]
    assert said == ["question 1", "question 2"]


async def test_once_the_cut_has_moved_the_block_is_read_anew(model: ModelServer, driver: MemoryDriver) -> None:
    await driver.talk(1)
    await keep(driver, "plays chess")
    await driver.talk(8)
    await driver.send("and now?")
    asked = model.for_model("chat")[-1]
    assert contents(block(asked, "facts")) == ["plays chess"]
    assert "<fact_changes>" not in str(asked.messages)


async def test_after_everything_was_erased_nothing_of_it_is_sent(model: ModelServer, driver: MemoryDriver) -> None:
    await keep(driver, "plays chess")
    await driver.send("question 1")
    await keep(driver, "is allergic to nuts")
    await driver.send("question 2")
    await driver.process.services.forgetting.erase_memory(driver.memory.user_id)
    await driver.send("question 3")
    sent = str(model.for_model("chat")[-1].messages)
    assert "chess" not in sent
    assert "nuts" not in sent


async def test_another_user_in_the_same_thread_is_sent_nothing_of_the_first(
    model: ModelServer, driver: MemoryDriver
) -> None:
    await keep(driver, "plays chess")
    await driver.send("question 1")
    ben = driver.elsewhere(user_id="ben", thread_id=driver.thread_id)
    await keep(ben, "plays the flute")
    await ben.send("question 2")
    sent = str(model.for_model("chat")[-1].messages)
    assert "chess" not in sent
    assert "flute" in sent
    await driver.send("question 3")
    assert "flute" not in str(model.for_model("chat")[-1].messages)


async def test_two_branches_of_a_thread_each_keep_what_they_were_sent(model: ModelServer, driver: MemoryDriver) -> None:
    await keep(driver, "plays chess")
    await driver.send("question 1")
    branch = await driver.here()
    await keep(driver, "has a cat")
    await driver.send("question 2")
    told = users(model.for_model("chat")[-1])[-1]
    await driver.send_from(branch, "question 2, other words")
    assert users(model.for_model("chat")[-1])[-1] == told.replace("question 2", "question 2, other words")


async def test_a_state_that_a_client_has_spoiled_is_read_anew(model: ModelServer, driver: MemoryDriver) -> None:
    await keep(driver, "plays chess")
    await driver.send("question 1")
    await driver.graph.aupdate_state(driver.config, {"sent_memory": {"scope": "ana", "facts": 7}})
    await driver.send("question 2")
    assert contents(block(model.for_model("chat")[-1], "facts")) == ["plays chess"]


async def test_without_a_user_there_are_no_facts(model: ModelServer, driver: MemoryDriver) -> None:
    await keep(driver, "plays chess")
    nobody = driver.elsewhere(user_id=None)
    await nobody.send("hi")
    assert "chess" not in str(model.for_model("chat")[-1].messages)


async def test_the_prompt_mostly_repeats_the_one_before_it(model: ModelServer, open_driver: OpenDriver) -> None:
    """Over 50 turns, with facts that change every ten: what a provider's cache of the prefix can serve."""
    model.when("chat", answer)
    model.when("summary", summary)
    driver = await open_driver()
    await keep(driver, *[f"rule {n}: the {n}th of the rules that the user has set" for n in range(5)])
    [changing] = await keep(driver, "the project is at step 0")
    for turn in range(50):
        if turn and turn % 10 == 0:
            changing = await driver.memory.facts.change(
                changing.id,
                FactChanges(content=f"the project is at step {turn}"),
                version=changing.version,
                origin=ON_THE_PAGE,
            )
        await driver.talk(1)
    assert repeated_share([request.messages for request in model.for_model("chat")]) > 0.9


def repeated_share(calls: Sequence[Sequence[Mapping[str, Any]]]) -> float:
    """Of all that the calls sent, in characters, what begins as the call before did; the first call is left out."""
    texts = ["".join(f"{message['role']}: {message['content']}\n" for message in call) for call in calls]
    repeated = sum(_common(before, after) for before, after in pairwise(texts))
    return repeated / sum(map(len, texts[1:]))


def _common(before: str, after: str) -> int:
    pairs = enumerate(zip(before, after, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(before), len(after)))
