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
        await expect(self.memory.get_by_role("tab", include_hidden=True)).to_have_count(len(ADDRESSES))

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
