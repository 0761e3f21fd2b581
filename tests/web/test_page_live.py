"""Memory that changes elsewhere appears on the open page by itself."""

import re
from typing import Final

import pytest
from playwright.async_api import expect

from tests.support.model_server import text
from tests.support.page_driver import PageDriver
from tests.support.page_server import Visitor, saves

pytestmark = [pytest.mark.anyio, pytest.mark.server]

SOON_MS: Final = 2_000
FADES: Final = """() => {
  const about = new Set(["offset", "computedOffset", "easing", "composite"]);
  const moves = (frames) => [...new Set(frames.flatMap(Object.keys))].filter((name) => !about.has(name));
  return document.getAnimations()
    .filter((one) => one.animationName === "memory-news")
    .map(({ effect }) => ({ place: effect.pseudoElement, moves: moves(effect.getKeyframes()) }));
}"""


async def test_a_note_that_is_written_elsewhere_appears_within_two_seconds(
    driver: PageDriver, visitor: Visitor
) -> None:
    notes = await driver.section("Notes")
    await expect(notes).to_contain_text("No notes yet")
    await visitor.note("Tea is green.")
    await expect(notes).to_contain_text("Tea is green.", timeout=SOON_MS)
    await expect(notes).not_to_contain_text("No notes yet")


async def test_only_the_row_that_came_is_marked_by_a_layer_that_fades(driver: PageDriver, visitor: Visitor) -> None:
    """A background that fades would be drawn anew with each frame, by the thread that also answers the keyboard."""
    await visitor.note_all(["Tea is green.", "Water is blue."])
    notes = await driver.section("Notes")
    await expect(notes.get_by_role("listitem")).to_have_count(2)
    await visitor.note("Coal is black.")
    await expect(notes.locator(".is-news")).to_have_text([re.compile("Coal is black")])

    assert await driver.page.evaluate(FADES) == [{"place": "::after", "moves": ["opacity"]}]


async def test_a_row_that_the_model_saves_appears_within_two_seconds_of_the_save(
    driver: PageDriver, visitor: Visitor
) -> None:
    about = await driver.section("About you")
    await expect(about).to_contain_text("Ana López")
    visitor.model.then(saves(city="Oslo"), text("Noted."), to="chat")
    gate = visitor.model.hold(lambda asked: asked.model == "chat" and asked.messages[-1].get("role") == "tool")
    await driver.send("I live in Oslo")
    await visitor.model.wait_until(lambda: gate.waiting)

    await expect(about).to_contain_text("Oslo", timeout=SOON_MS)
    gate.release()


async def test_what_a_background_run_writes_appears_within_two_seconds(driver: PageDriver, visitor: Visitor) -> None:
    summaries = await driver.section("Thread summaries")
    await expect(summaries).to_contain_text("Once a conversation")
    await visitor.summarized()
    await expect(summaries).to_contain_text("A fine title", timeout=SOON_MS)


async def test_what_is_typed_and_focused_stays_while_rows_come(driver: PageDriver, visitor: Visitor) -> None:
    await visitor.note("Tea is green.")
    notes = await driver.section("Notes")
    await notes.get_by_role("button", name="Edit note: Tea is green.").click()
    await notes.get_by_label("Note", exact=True).fill("Tea is bl")
    await visitor.note("Another note.")

    await expect(notes).to_contain_text("Another note.", timeout=SOON_MS)
    await expect(notes.get_by_label("Note", exact=True)).to_have_value("Tea is bl")
    await expect(notes.get_by_label("Note", exact=True)).to_be_focused()


async def test_after_a_broken_line_the_page_catches_up(driver: PageDriver, visitor: Visitor) -> None:
    driver.watch.expect("ERR_INTERNET_DISCONNECTED|ERR_NETWORK")
    notes = await driver.section("Notes")
    await expect(notes).to_contain_text("No notes yet")
    await driver.page.context.set_offline(True)
    await visitor.note("Written in the dark.")
    await driver.page.context.set_offline(False)
    await expect(notes).to_contain_text("Written in the dark.")


async def test_changes_are_told_to_a_screen_reader(driver: PageDriver, visitor: Visitor) -> None:
    notes = await driver.section("Notes")
    await expect(notes).to_contain_text("No notes yet")
    await visitor.note("Tea is green.")
    await expect(driver.page.locator("[aria-live=polite]")).to_contain_text("1 note added")
