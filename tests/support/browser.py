"""A real headless Chromium, and a watch over what goes wrong in its tabs.

async with running_browser() as browser, open_tab(browser, "http://127.0.0.1:2024") as tab:
    await tab.page.goto("/app/")
    ...                                     # leaving the block fails the test when the watch has seen a fault
"""

import os
import re
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

import pytest
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    Response,
    ViewportSize,
    WebError,
    async_playwright,
    expect,
)

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW_TO_GET_ONE: Final = (
    "the page's tests drive a real Chromium and none is here. Debian, Ubuntu: apt install chromium; macOS: "
    "brew install --cask chromium; or put the path of a Chrome or Chromium into the variable CHROMIUM"
)
ARGUMENTS: Final = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)
WAIT_MS: Final = 20_000
WIDE: Final = 1440
NARROW: Final = 360
HEIGHTS: Final = {WIDE: 900, NARROW: 740}

Scheme = Literal["light", "dark"]

expect.set_options(timeout=WAIT_MS)


def find_chromium() -> str | None:
    """The path of a browser, or None."""
    named = os.environ.get("CHROMIUM")
    candidates = [named] if named else NAMES
    return next((path for name in candidates if (path := shutil.which(name))), None)


def required_chromium() -> str:
    """As `find_chromium`; without one the test is skipped, and in CI, where nobody reads what was skipped, it fails."""
    path = find_chromium()
    if path:
        return path
    if os.environ.get("CI"):
        pytest.fail(HOW_TO_GET_ONE)
    pytest.skip(HOW_TO_GET_ONE)


@asynccontextmanager
async def running_browser() -> AsyncGenerator[Browser]:
    path = required_chromium()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        await browser.close()


@dataclass
class Watch:
    """What a page must not do. `expect` names faults that a test causes on purpose."""

    origin: str
    faults: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])
    """The addresses of all requests, in order."""
    responses: list[Response] = field(default_factory=list[Response])
    _expected: list[re.Pattern[str]] = field(default_factory=list[re.Pattern[str]])

    def expect(self, pattern: str) -> None:
        """Faults in which the pattern is found are meant, those that were seen already included."""
        self._expected.append(re.compile(pattern))

    def attach(self, context: BrowserContext) -> None:
        context.on("console", self._note_message)
        context.on("weberror", self._note_error)
        context.on("dialog", self._refuse_dialog)
        context.on("request", self._note_request)
        context.on("response", self._note_response)

    def assert_nothing_wrong(self) -> None:
        """No error in the console, where violations of the policy are told too, and nothing from elsewhere."""
        left = [fault for fault in self.faults if not any(one.search(fault) for one in self._expected)]
        assert not left, "\n".join(left)

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"console {message.type}: {message.text} ({message.location['url']})")

    def _note_error(self, error: WebError) -> None:
        self.faults.append(f"uncaught: {error.error}")

    def _note_response(self, response: Response) -> None:
        self.responses.append(response)

    async def _refuse_dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog of the browser: {dialog.type} {dialog.message}")
        await dialog.dismiss()

    def _note_request(self, request: Request) -> None:
        self.requests.append(request.url)
        own = (f"{self.origin}/", f"blob:{self.origin}/", "data:")
        if not request.url.startswith(own):
            self.faults.append(f"request to somewhere else: {request.url}")


@dataclass(frozen=True)
class Tab:
    """One tab in a profile of its own: no cookie, no storage, no cache of another test."""

    page: Page
    watch: Watch


@asynccontextmanager
async def open_tab(
    browser: Browser,
    origin: str,
    *,
    width: int = WIDE,
    scheme: Scheme = "light",
    reduced_motion: bool = False,
    touch: bool = False,
    past_policy: bool = False,
    permissions: Sequence[str] = ("clipboard-read", "clipboard-write"),
) -> AsyncGenerator[Tab]:
    """An empty tab for pages of `origin`; `past_policy` lets a test put its own scripts in."""
    context = await browser.new_context(
        base_url=origin,
        viewport=ViewportSize(width=width, height=HEIGHTS.get(width, 900)),
        color_scheme=scheme,
        reduced_motion="reduce" if reduced_motion else "no-preference",
        has_touch=touch,
        is_mobile=touch,
        bypass_csp=past_policy,
        locale="en-GB",
        timezone_id="Europe/Oslo",
        permissions=list(permissions),
    )
    context.set_default_timeout(WAIT_MS)
    watch = Watch(origin)
    watch.attach(context)
    try:
        yield Tab(await context.new_page(), watch)
        watch.assert_nothing_wrong()
    finally:
        await context.close()
