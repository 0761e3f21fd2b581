"""The pictures of the page in the documents: `make pictures` writes them anew, any other run makes and drops them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Browser, expect

from tests.support.browser import NARROW, WIDE, Scheme
from tests.support.langgraph_server import REPOSITORY
from tests.support.model_server import structured, text
from tests.support.page_driver import PageDriver, Section, driven_tab
from tests.support.page_server import Visitor, saves

pytestmark = [pytest.mark.anyio, pytest.mark.server]

SCHEMES: Final[tuple[Scheme, ...]] = ("dark", "light")
ASKED: Final = "We are back from Bergen, and I have moved to Oslo. Where could we sail next?"
ANSWER: Final = """Welcome home! Since you live in **Oslo** now and *Aurora* sleeps four, the inner fjord is close:

| Where | Nautical miles | Good for |
| --- | ---: | --- |
| Drøbak | 16 | a first weekend |
| Hvaler | 45 | islands, and no engine |

I have noted the move. You told me you get seasick in swell, so I would begin with Drøbak."""
EARLIER: Final = (
    ("How long is the sail from Stavanger to Bergen?", "About 90 nautical miles, two days with a stop in Haugesund."),
    ("What should I check on the boat before?", "Rig, seacocks, life raft, flares, and the forecast for Sletta."),
)
SUMMARY: Final = [
    {
        "question": "How far is it from Stavanger to Bergen by sea?",
        "answer": "About 90 nautical miles: two days, with a stop in Haugesund.",
        "refs": ["#1"],
    },
    {
        "question": "What is checked on the boat before the trip?",
        "answer": "Rig, seacocks, life raft and flares; the forecast for Sletta decides the day.",
        "refs": ["#2"],
    },
]
NOTES: Final[tuple[Mapping[str, Any], ...]] = (
    {"content": "Gets seasick in swell from astern.", "categories": ["health", "sailing"], "importance": 0.8},
    {"content": "The boat is called Aurora, a Hallberg-Rassy 34 with four berths.", "categories": ["sailing"]},
    {"content": "Eats no meat on weekdays.", "categories": ["food"], "key": "diet"},
    {"content": "Prefers short answers with a table where things are compared.", "categories": ["answers"]},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the pictures go: named by `PICTURES`, from the project's folder."""
    named = os.environ.get("PICTURES")
    folder = REPOSITORY / named if named else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
async def filled(visitor: Visitor) -> Visitor:
    """Somebody with notes, a profile, and a chat that was summarized."""
    model = visitor.model
    model.when("title", text("Summer sailing to Bergen"))
    model.when("summary", structured({"entries": SUMMARY}))
    for note in NOTES:
        await visitor.post("/api/memory/facts", note)
    model.then(*(text(answer) for _, answer in EARLIER), to="chat")
    thread_id = await visitor.chat(*(asked for asked, _ in EARLIER))
    await visitor.when(lambda: visitor.has_summary(thread_id))
    model.then(saves(city="Stavanger", boat={"name": "Aurora", "berths": 4}, work="marine biologist"), to="chat")
    model.then(text("I will keep that in mind."), to="chat")
    model.when("title", text("About me and the boat"))
    await visitor.chat("I live in Stavanger, I am a marine biologist, and my boat Aurora has four berths")
    model.when("title", text("Where to sail next"))
    model.then(saves(city="Oslo"), text(ANSWER), to="chat")
    return visitor


async def test_on_a_wide_and_on_a_small_screen(filled: Visitor, browser: Browser, folder: Path) -> None:
    async with driven_tab(browser, filled.server.url, width=WIDE, reduced_motion=True) as driver:
        await driver.enter(filled.token)
        await driver.ask(ASKED, "Welcome home!")
        await expect(driver.turns.last.get_by_role("table")).to_be_visible()
        await expect(driver.thread("Where to sail next")).to_be_visible()
        address = driver.page.url.partition("/app/")[2]
        await section_taken(driver, "About you", "Oslo", folder / "chat")
        await section_taken(driver, "Notes", "Aurora", folder / "notes")
        summaries = await driver.section("Thread summaries")
        await summaries.get_by_role("button", name="Summer sailing to Bergen", exact=True).click()
        await section_taken(driver, "Thread summaries", "Haugesund", folder / "summaries")
    async with driven_tab(browser, filled.server.url, width=NARROW, reduced_motion=True, touch=True) as driver:
        await driver.enter(filled.token, address)
        await expect(driver.turns.last.get_by_role("table")).to_be_visible()
        await expect(driver.chat.get_by_role("heading", name="Where to sail next")).to_be_visible()
        await taken(driver, folder / "small-chat")
        await driver.show("Memory")
        await section_taken(driver, "Notes", "Aurora", folder / "small-notes")


async def section_taken(driver: PageDriver, section: Section, words: str, file: Path) -> None:
    await expect(await driver.section(section)).to_contain_text(words)
    await taken(driver, file)


async def taken(driver: PageDriver, file: Path) -> None:
    """In light and dark, without a blinking caret, when all that comes by itself has come."""
    await expect(driver.page.locator(".is-news")).to_have_count(0)
    await expect(driver.page.locator(".spinner:visible")).to_have_count(0)
    await driver.page.mouse.move(0, 0)
    for scheme in SCHEMES:
        await driver.page.emulate_media(color_scheme=scheme)
        picture = await driver.page.screenshot(path=f"{file}-{scheme}.png", animations="disabled")
        assert len(picture) > 10_000
