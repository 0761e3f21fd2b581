"""The page for everybody: on a small screen, without a mouse, with a screen reader, in the dark, and without motion."""

from collections.abc import AsyncGenerator
from typing import Any, Final

import pytest
from playwright.async_api import Browser, Locator, Route, ViewportSize, expect

from tests.support.browser import HEIGHTS, NARROW, WIDE, Scheme
from tests.support.model_server import text
from tests.support.page_driver import ADDRESSES, PageDriver, Section, View, driven_tab
from tests.support.page_server import HELLO, TITLE, Visitor, saves
from tests.web.axe import AXE, scan

pytestmark = [pytest.mark.anyio, pytest.mark.server]

LONG_WORD: Final = "Donaudampfschifffahrtsgesellschaft" * 4
RICH_ANSWER: Final = f"""Noted, **all of it**. See [the map](https://maps.example) and `{LONG_WORD}`.

| Town | Inhabitants | Named after | First written of | Known for its |
| --- | --- | --- | --- | --- |
| Bergen | 291 000 | a meadow between mountains | 1070 | quay of wooden houses |

```python
print("{LONG_WORD}")
```

> {LONG_WORD}
"""
VIEWS: Final[tuple[View, ...]] = ("Chats", "Chat", "Memory")
SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")


@pytest.fixture
async def filled(browser: Browser, visitor: Visitor) -> AsyncGenerator[PageDriver]:
    """A wide tab of somebody about whom every section has something to show, at a chat with a tool and a receipt."""
    await visitor.note("Tea is green.", categories=["drinks"], key="tea", importance=0.9)
    await visitor.note(f"The boat is called {LONG_WORD}.")
    await visitor.summarized()
    async with driven_tab(browser, visitor.server.url, past_policy=True, reduced_motion=True) as driver:
        await driver.page.add_init_script(path=AXE)
        await driver.enter(visitor.token)
        visitor.model.then(saves(city="Oslo", tastes={"tea": ["green", LONG_WORD]}), text(RICH_ANSWER), to="chat")
        await driver.ask(f"I live in Oslo. {LONG_WORD}", "Noted")
        await driver.turn(0).locator("details.receipt summary").click()
        yield driver


async def test_nothing_scrolls_sideways_on_a_small_screen(filled: PageDriver) -> None:
    """Tables and code have a scroll of their own."""
    await resize(filled, NARROW)
    for view in VIEWS:
        await filled.show(view)
        await assert_fits(filled, view)
    for section in ADDRESSES:
        await opened(filled, section)
        await assert_fits(filled, section)
    await filled.section("Notes")
    await filled.memory.get_by_role("button", name="Add note").click()
    await assert_fits(filled, "a new note")


async def opened(driver: PageDriver, section: Section) -> Locator:
    """The panel of a section with what it has to show."""
    panel = await driver.section(section)
    if section == "Your data":
        await panel.get_by_label("A message you might send").fill("Which tea is green?")
        await panel.get_by_role("button", name="Look it up").click()
    await expect(panel.get_by_role("listitem").first).to_be_visible()
    return panel


async def assert_fits(driver: PageDriver, place: str) -> None:
    assert not await driver.scrolls_sideways(), place
    assert await driver.too_wide() == [], place


async def test_the_header_of_a_small_screen_holds_the_model_and_the_way_out(browser: Browser, visitor: Visitor) -> None:
    async with driven_tab(browser, visitor.server.url, width=NARROW) as driver:
        await driver.page.route("**/api/health", as_offline)
        await driver.open()
        await driver.sign_in(visitor.token)
        header = driver.page.get_by_role("banner")
        await expect(header.get_by_role("button", name="Offline model")).to_be_in_viewport(ratio=1)
        await expect(header.get_by_role("button", name="Sign out")).to_be_in_viewport(ratio=1)
        assert await driver.too_wide() == []


async def test_the_header_names_the_model(driver: PageDriver) -> None:
    await expect(driver.page.get_by_role("banner").locator(".badge")).to_have_text("Model: chat")


async def as_offline(route: Route) -> None:
    """The longest that the header has to say."""
    response = await route.fetch()
    health = await response.json()
    health["model"] |= {"offline": True, "notice": "What answers is not a language model."}
    await route.fulfill(response=response, json=health)


async def test_everything_is_done_without_a_mouse(browser: Browser, visitor: Visitor) -> None:
    async with driven_tab(browser, visitor.server.url) as driver:
        await signed_in_by_keyboard(driver, visitor)
        await sent_by_keyboard(driver)
        await driver.tab_to(driver.memory.get_by_role("tab", name="About you"))
        await note_added_by_keyboard(driver)
        await note_deleted_by_keyboard(driver)


async def test_everything_is_done_without_a_mouse_on_a_small_screen(browser: Browser, visitor: Visitor) -> None:
    async with driven_tab(browser, visitor.server.url, width=NARROW) as driver:
        await signed_in_by_keyboard(driver, visitor)
        await sent_by_keyboard(driver)
        await driver.tab_to(driver.page.get_by_role("button", name="Memory", exact=True))
        await driver.page.keyboard.press("Enter")
        await expect(driver.memory.get_by_role("heading", name="Memory")).to_be_focused()
        await driver.tab_to(driver.memory.get_by_role("tab", name="About you"))
        await note_added_by_keyboard(driver)
        await note_deleted_by_keyboard(driver)


async def signed_in_by_keyboard(driver: PageDriver, visitor: Visitor) -> None:
    await driver.open()
    await expect(driver.token).to_be_focused()
    await driver.page.keyboard.type(visitor.token)
    await driver.page.keyboard.press("Enter")
    await expect(driver.composer).to_be_visible()


async def sent_by_keyboard(driver: PageDriver) -> None:
    await driver.tab_to(driver.composer)
    await driver.page.keyboard.type("hi")
    await driver.page.keyboard.press("Enter")
    await expect(driver.turn(0)).to_contain_text(HELLO)
    await expect(driver.composer).to_be_focused()


async def note_added_by_keyboard(driver: PageDriver) -> None:
    """From the first tab of memory on."""
    await driver.page.keyboard.press("ArrowRight")
    await expect(driver.memory.get_by_role("tab", name="Notes")).to_be_focused()
    notes = driver.memory.get_by_role("tabpanel", name="Notes")
    add = notes.get_by_role("button", name="Add note")
    await driver.tab_to(add)
    await driver.page.keyboard.press("Enter")
    await expect(notes.get_by_label("Note", exact=True)).to_be_focused()
    await driver.page.keyboard.type("Tea is green.")
    await driver.tab_to(notes.get_by_role("button", name="Save"))
    await driver.page.keyboard.press("Enter")
    await expect(notes.get_by_role("listitem")).to_contain_text("Tea is green.")
    await expect(add).to_be_focused()


async def note_deleted_by_keyboard(driver: PageDriver) -> None:
    notes = driver.memory.get_by_role("tabpanel", name="Notes")
    delete = notes.get_by_role("button", name="Delete note")
    await driver.tab_to(delete)
    await driver.page.keyboard.press("Enter")
    await expect(driver.dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await driver.page.keyboard.press("Escape")
    await expect(delete).to_be_focused()

    await driver.page.keyboard.press("Enter")
    await driver.tab_to(driver.dialog.get_by_role("button", name="Delete", exact=True))
    await driver.page.keyboard.press("Enter")
    await expect(delete).to_have_count(0)
    await expect(notes).to_be_focused()
    assert await driver.focus_is_visible(), await driver.focused()


async def test_the_focus_after_a_deletion_is_seen_on_the_next_row(driver: PageDriver, visitor: Visitor) -> None:
    await visitor.note("Tea is green.")
    await visitor.note("The boat is red.")
    notes = await driver.section("Notes")
    await expect(notes.get_by_role("listitem")).to_have_count(2)
    await notes.get_by_role("button", name="Delete note").first.focus()
    await driver.page.keyboard.press("Enter")
    await driver.tab_to(driver.dialog.get_by_role("button", name="Delete", exact=True))
    await driver.page.keyboard.press("Enter")

    await expect(notes.get_by_role("listitem")).to_have_count(1)
    await expect(notes.get_by_role("listitem")).to_be_focused()
    assert await driver.focus_is_visible(), await driver.focused()


class TestAxe:
    """Nothing serious or critical, in light and dark, wide and narrow."""

    async def test_the_sign_in(self, browser: Browser, visitor: Visitor) -> None:
        async with driven_tab(browser, visitor.server.url, past_policy=True, reduced_motion=True) as driver:
            await driver.page.add_init_script(path=AXE)
            driver.watch.expect("status of 401")
            await driver.open()
            await driver.sign_in("nobody's")
            await expect(driver.page.get_by_role("alert")).to_contain_text("not accepted")
            await assert_accessible(driver, "sign-in")

    async def test_chats_and_memory(self, filled: PageDriver) -> None:
        await assert_accessible(filled, "a chat with a tool and a receipt")
        await filled.thread(TITLE).first.hover()
        await filled.threads.get_by_role("button", name=f"Delete chat {TITLE}").first.click()
        await expect(filled.dialog).to_be_visible()
        await assert_accessible(filled, "a dialog", within="dialog")
        await filled.page.keyboard.press("Escape")
        await filled.new_chat()
        await assert_accessible(filled, "a new chat", within="#chat")
        for section in ADDRESSES:
            panel = await opened(filled, section)
            for folded in await panel.locator('[aria-expanded="false"]').all():
                await folded.click()
            await assert_accessible(filled, section, within="#memory")
        await resize(filled, NARROW)
        await filled.show("Chats")
        assert await scan(filled.page) == [], "chats"


async def assert_accessible(driver: PageDriver, place: str, *, within: str = "html") -> None:
    """In the dark only the colours are others."""
    for width in (WIDE, NARROW):
        await resize(driver, width)
        for scheme in SCHEMES:
            await driver.page.emulate_media(color_scheme=scheme)
            found = await scan(driver.page, within=within, only_colours=scheme == "dark")
            assert found == [], f"{place}, {width} px, {scheme}"
    await driver.page.emulate_media(color_scheme="light")
    await resize(driver, WIDE)


async def resize(driver: PageDriver, width: int) -> None:
    await driver.page.set_viewport_size(ViewportSize(width=width, height=HEIGHTS[width]))


LONG_MOVES: Final = """
addEventListener("DOMContentLoaded", () => {
  window.moves = [];
  const look = () => {
    for (const animation of document.getAnimations()) {
      const { duration, iterations } = animation.effect.getComputedTiming();
      if (duration * iterations > 1) window.moves.push(animation.animationName ?? "transition");
    }
  };
  for (const kind of ["animationstart", "transitionrun"]) addEventListener(kind, look, true);
});
"""
FADE: Final = "fade"
"""Of the spinner, which does not move."""


@pytest.mark.parametrize(("reduced", "moves"), [(False, True), (True, False)], ids=["as usual", "reduced"])
async def test_nothing_moves_for_those_who_ask_for_it(
    browser: Browser, visitor: Visitor, *, reduced: bool, moves: bool
) -> None:
    async with driven_tab(browser, visitor.server.url, reduced_motion=reduced) as driver:
        await driver.page.add_init_script(LONG_MOVES)
        await driver.enter(visitor.token)
        notes = await driver.section("Notes")
        await visitor.note("Tea is green.")
        await expect(notes.get_by_role("listitem")).to_be_visible()
        await driver.ask("hi", HELLO)
        await driver.turn(0).get_by_role("button", name="Copy answer").hover()
        seen: list[Any] = await driver.page.evaluate("window.moves")
        assert bool([move for move in seen if move != FADE]) is moves, seen
