"""Whether the page stays quick with a long chat and many notes. What loading it costs is in test_page_size.py."""

import asyncio
import time
from collections.abc import Awaitable, Iterator
from typing import Any, Final, cast

import pytest
from playwright.async_api import CDPSession, Locator, Page, expect

from tests.support.model_server import Gate, text
from tests.support.page_driver import PageDriver
from tests.support.page_server import Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.server]

TURNS: Final = 500
NOTES: Final = 500
SHOWN_SECONDS: Final = 5.0
LIVE_SECONDS: Final = 2.0
FRAME_MS: Final = 16.0
"""What a screen leaves for a frame. The page's own part has to fit: script, style and layout, in time of the processor,
which what else runs on the machine does not lengthen."""
DRAWN_MS: Final = 60.0
"""With drawing, which software does here."""
PAGES_PART: Final = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration")

ANSWER: Final = """Here is what I found about **number {number}**:

1. It comes after {before}.
2. It has a [page](https://numbers.example/{number}).

```python
print({number})
```
"""
SCROLL: Final = """async (scroller, {step, most}) => {
  let frames = 0;
  for (let rest = 0; rest < 5 && frames < most; frames += 1) {
    const before = scroller.scrollTop;
    scroller.scrollTop += step;
    await new Promise(requestAnimationFrame);
    rest = scroller.scrollTop === before ? rest + 1 : 0;
  }
  return frames;
}"""
TYPE: Final = """async (field) => {
  const letters = [..."the quick brown fox jumps over the lazy dog"];
  for (const letter of letters) {
    field.value += letter;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await new Promise(requestAnimationFrame);
  }
  return letters.length;
}"""
GROWTH: Final = """async (turns, most) => {
  const length = () => turns.lastElementChild.textContent.length;
  let grown = 0;
  for (let frame = 0, before = length(); frame < most; frame += 1, before = length()) {
    await new Promise(requestAnimationFrame);
    if (length() > before) grown += 1;
  }
  return grown;
}"""
FRAMES: Final = 120
FRAMES_OF_THE_ANSWER: Final = 20
FIRST_CHUNKS: Final = 6

NOTICE_ROWS: Final = """() => new MutationObserver((changes) => {
  const isRow = (node) => node.nodeName === "LI";
  if (changes.some((change) => [...change.addedNodes].some(isRow))) window.rowCame = Date.now();
}).observe(document.getElementById("memory"), { childList: true, subtree: true })"""


class Processor:
    """Seconds that the tab's main thread has worked."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    @classmethod
    async def of(cls, page: Page) -> "Processor":
        session = await page.context.new_cdp_session(page)
        await session.send("Performance.enable", {"timeDomain": "threadTicks"})
        return cls(session)

    async def assert_smooth(self, frames_made: Awaitable[int]) -> None:
        """While these frames are made, each takes no longer than it may, on average."""
        before = await self._seconds()
        frames = await frames_made
        after = await self._seconds()
        spent = {name: round(1000 * (after[name] - before[name]) / frames, 2) for name in after}
        assert sum(spent[name] for name in PAGES_PART) < FRAME_MS, (frames, spent)
        assert spent["TaskDuration"] < DRAWN_MS, (frames, spent)

    async def _seconds(self) -> dict[str, float]:
        read = cast("dict[str, Any]", await self._session.send("Performance.getMetrics"))
        return {one["name"]: one["value"] for one in read["metrics"] if one["name"] in (*PAGES_PART, "TaskDuration")}


def scrolled(scroller: Locator, step: int, most: int = 1_000) -> Awaitable[int]:
    """Scroll by so many pixels a frame, up to the end; how many frames it took."""
    return scroller.evaluate(SCROLL, {"step": step, "most": most})


class TestLongChat:
    @pytest.fixture
    async def long(self, driver: PageDriver, visitor: Visitor) -> PageDriver:
        """1,000 messages, open."""
        await visitor.filled_thread(list(messages()), "A long chat")
        await driver.page.reload()
        link = driver.thread("A long chat").get_by_role("link")
        await link.wait_for()
        start = asyncio.get_running_loop().time()
        await link.click()
        await expect(driver.turns.last).to_contain_text(f"number {TURNS - 1}")
        assert asyncio.get_running_loop().time() - start < SHOWN_SECONDS
        return driver

    async def test_it_is_scrolled_to_its_beginning(self, long: PageDriver) -> None:
        processor = await Processor.of(long.page)
        await processor.assert_smooth(scrolled(conversation(long), -1_500))
        await expect(long.turns.first).to_contain_text("What is number 0?")
        await expect(long.turns).to_have_count(TURNS)
        await processor.assert_smooth(scrolled(conversation(long), 1_500))
        await processor.assert_smooth(long.composer.evaluate(TYPE))

    async def test_an_answer_streams_into_it(self, long: PageDriver, visitor: Visitor) -> None:
        visitor.model.when("chat", text("And so it goes on. " * 200 + "That is all."))
        gate = visitor.model.hold("chat", after_chunks=FIRST_CHUNKS)
        await long.send("Go on")
        await expect(long.turns.last).to_contain_text("And so it")
        processor = await Processor.of(long.page)
        await processor.assert_smooth(frames_of_the_answer(long, gate))
        await expect(long.turns.last).to_contain_text("That is all.")
        await expect(long.stop).to_be_hidden()


async def frames_of_the_answer(driver: PageDriver, gate: Gate) -> int:
    """In how many frames the answer grew, once it was let go on; frames in which nothing came are not counted."""
    counting = asyncio.ensure_future(driver.chat.locator("ol.turns").evaluate(GROWTH, FRAMES))
    gate.release()
    frames = await counting
    assert frames > FRAMES_OF_THE_ANSWER
    return frames


def conversation(driver: PageDriver) -> Locator:
    return driver.chat.get_by_role("region", name="Conversation")


def messages() -> Iterator[dict[str, str]]:
    for number in range(TURNS):
        yield {"type": "human", "id": f"h{number}", "content": f"What is number {number}?"}
        yield {"type": "ai", "id": f"a{number}", "content": ANSWER.format(number=number, before=number - 1)}


async def test_many_notes_are_shown_scrolled_searched_and_kept_up_to_date(driver: PageDriver, visitor: Visitor) -> None:
    await visitor.note_all(f"Note number {number} says something about boats." for number in range(NOTES))
    start = asyncio.get_running_loop().time()
    notes = await driver.section("Notes")
    rows = notes.locator("ul > li")
    await expect(rows).to_have_count(NOTES)
    assert asyncio.get_running_loop().time() - start < SHOWN_SECONDS

    processor = await Processor.of(driver.page)
    await processor.assert_smooth(scrolled(notes, 600))
    await notes.get_by_label("Search notes").fill("number 77")
    await expect(rows.first).to_contain_text("number 77 ")
    await notes.get_by_label("Search notes").fill("")
    await expect(rows).to_have_count(NOTES)

    await driver.page.evaluate(NOTICE_ROWS)
    written = time.time()
    await visitor.note("One more, written elsewhere.")
    await expect(rows).to_have_count(NOTES + 1)
    assert await driver.page.evaluate("window.rowCame") / 1000 - written < LIVE_SECONDS
    await processor.assert_smooth(scrolled(notes, -600))
