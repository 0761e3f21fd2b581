"""What a person does on the page, by the roles and names that a screen reader tells them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from playwright.async_api import Browser, Locator, Page, expect

from tests.support.browser import Tab, Watch, open_tab

Section = Literal["About you", "Notes", "Thread summaries", "Past conversations", "Your data"]
View = Literal["Chats", "Chat", "Memory"]
ADDRESSES: Final[dict[Section, str]] = {
    "About you": "about",
    "Notes": "notes",
    "Thread summaries": "summaries",
    "Past conversations": "episodes",
    "Your data": "data",
}

MOST_TABS: Final = 60
FOCUS_IS_VISIBLE: Final = """() => {
  const focused = document.activeElement;
  if (focused === document.body) return true;
  if (!focused.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
  const outline = (one) => getComputedStyle(one).outlineStyle;
  for (let one = focused; one; one = one.parentElement) if (outline(one) !== "none") return true;
  return false;
}"""
TOO_WIDE: Final = """() => {
  const mayScroll = (one) => one.closest("pre, .table-scroll, textarea, input, .visually-hidden, svg");
  const isCut = (one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible";
  const hasEllipsis = (one) => getComputedStyle(one).textOverflow === "ellipsis" && !one.matches(".badge");
  const isSeen = (one) => one.checkVisibility({ visibilityProperty: true });
  return [...document.body.querySelectorAll("*")]
    .filter((one) => isSeen(one) && !mayScroll(one) && isCut(one) && !hasEllipsis(one))
    .map((one) => `${one.tagName}.${one.className} ${one.scrollWidth} > ${one.clientWidth}`);
}"""


@dataclass(frozen=True)
class PageDriver:
    """One tab that shows the page."""

    tab: Tab

    @property
    def page(self) -> Page:
        return self.tab.page

    @property
    def watch(self) -> Watch:
        return self.tab.watch

    @property
    def threads(self) -> Locator:
        return self.page.get_by_role("navigation", name="Chats")

    @property
    def chat(self) -> Locator:
        return self.page.get_by_role("main", name="Chat")

    @property
    def memory(self) -> Locator:
        return self.page.get_by_role("complementary", name="Memory")

    @property
    def composer(self) -> Locator:
        return self.chat.get_by_role("textbox", name="Message", exact=True)

    @property
    def stop(self) -> Locator:
        return self.chat.get_by_role("button", name="Stop answering")

    @property
    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")

    async def open(self, address: str = "") -> None:
        """Load the page at an address such as `#/memory/notes`."""
        await self.page.goto(f"/app/{address}")

    @property
    def token(self) -> Locator:
        return self.page.get_by_label("Access token")

    async def sign_in(self, token: str) -> None:
        await self.token.fill(token)
        await self.page.get_by_role("button", name="Sign in").click()

    async def enter(self, token: str, address: str = "") -> None:
        """Load the page as somebody who signs in, up to where they can begin."""
        await self.open(address)
        await self.sign_in(token)
        await expect(self.composer).to_be_attached()
        await expect(self.page.locator("#memory [role=tab]")).to_have_count(len(ADDRESSES))

    @property
    def turns(self) -> Locator:
        """What was said and answered, turn by turn."""
        return self.chat.locator("li.turn")

    def turn(self, number: int) -> Locator:
        """Counted from 0; -1 is the last."""
        return self.turns.nth(number)

    async def new_chat(self) -> None:
        await self.threads.get_by_role("button", name="New chat").click()

    def thread(self, title: str) -> Locator:
        return self.threads.get_by_role("listitem").filter(has_text=title)

    async def send(self, text: str) -> None:
        await self.composer.fill(text)
        await self.composer.press("Enter")

    async def ask(self, text: str, answer: str) -> None:
        """Send, and wait for the complete answer, which holds these words."""
        before = await self.turns.count()
        await self.send(text)
        await expect(self.turn(before)).to_contain_text(answer)
        await expect(self.stop).to_be_hidden()

    async def show(self, view: View) -> None:
        """On a narrow screen."""
        await self.page.get_by_role("button", name=view, exact=True).click()

    async def section(self, name: Section) -> Locator:
        """The panel of a section of memory, brought to the front."""
        await self.memory.get_by_role("tab", name=name).click()
        return self.memory.get_by_role("tabpanel", name=name)

    async def scrolls_sideways(self) -> bool:
        return await self.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")

    async def too_wide(self) -> list[str]:
        """What is in sight and holds more than its width, but for tables, code, and what ends in an ellipsis."""
        return await self.page.evaluate(TOO_WIDE)

    async def tab_to(self, wanted: Locator) -> None:
        """Press the tabulator until this has the focus; all that gets it on the way shows that it has."""
        for _ in range(MOST_TABS):
            await self.page.keyboard.press("Tab")
            assert await self.focus_is_visible(), f"nobody sees the focus on {await self.focused()}"
            if await wanted.evaluate("e => e === document.activeElement"):
                return
        raise AssertionError(f"{wanted} is not reached; the focus is on {await self.focused()}")

    async def focus_is_visible(self) -> bool:
        """Whether what has the focus, or what is around it, has an outline; the whole page needs none."""
        return await self.page.evaluate(FOCUS_IS_VISIBLE)

    async def focused(self) -> str:
        """What has the focus, in words for a failing test."""
        return await self.page.evaluate(
            "(e => `${e.tagName} ${e.getAttribute('aria-label') ?? e.textContent.trim().slice(0, 40)}`)"
            "(document.activeElement)"
        )


@asynccontextmanager
async def driven_tab(browser: Browser, origin: str, **how: Any) -> AsyncGenerator[PageDriver]:
    async with open_tab(browser, origin, **how) as tab:
        yield PageDriver(tab)
