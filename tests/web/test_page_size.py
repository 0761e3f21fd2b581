"""What loading the page costs: the first time, again, and later, when more of it is needed."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Final

import pytest
from playwright.async_api import Browser, Response, expect

from tests.support.browser import Watch
from tests.support.page_driver import PageDriver, driven_tab
from tests.support.page_server import HELLO, PageServer, Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.server]

MAX_BYTES: Final = 150_000
"""Of all that comes up to the first screen, without any compression."""
MAX_BYTES_ON_THE_WAY: Final = 100_000
LATER: Final = ("/talk.js", "/vendor/", "/dialogs.js", "/turns.css", "/markdown.css")
FILES: Final = 20


@pytest.fixture
async def stranger(browser: Browser, shared_server: PageServer) -> AsyncGenerator[PageDriver]:
    """A tab that has not loaded anything."""
    async with driven_tab(browser, shared_server.url) as driver:
        yield driver


async def first_screen(driver: PageDriver, visitor: Visitor) -> None:
    """With the sign-in, up to where somebody without chats may do something: all three parts of it are filled."""
    await driver.enter(visitor.token)
    await expect(driver.memory).to_contain_text("Ana López")
    await expect(driver.threads).to_contain_text("No chats yet")
    await expect(driver.chat.get_by_role("region", name="Welcome")).to_be_visible()


async def test_a_first_load_is_small_and_from_one_place(stranger: PageDriver, visitor: Visitor) -> None:
    await first_screen(stranger, visitor)
    loaded = [one for one in stranger.watch.responses if not await is_stream(one)]

    unpacked = {one.url: len(await one.body()) for one in loaded}
    largest = sorted(unpacked.items(), key=lambda one: -one[1])[:5]
    assert len(unpacked) > FILES
    assert sum(unpacked.values()) < MAX_BYTES, (sum(unpacked.values()), len(unpacked), largest)
    on_the_way = sum([await travelled_bytes(one) for one in loaded])
    assert on_the_way < MAX_BYTES_ON_THE_WAY
    assert all(url.startswith(f"{visitor.server.url}/") for url in stranger.watch.requests)


async def is_stream(response: Response) -> bool:
    return (await response.header_value("content-type") or "").startswith("text/event-stream")


async def travelled_bytes(response: Response) -> int:
    """Compressed, with the headers."""
    sizes = await response.request.sizes()
    return sizes["responseHeadersSize"] + sizes["responseBodySize"]


async def test_what_answers_is_loaded_when_somebody_begins_to_write(driver: PageDriver) -> None:
    await expect(driver.memory).to_contain_text("Ana López")
    assert later_parts(driver) == []
    await driver.composer.focus()
    await expect(driver.page.locator('link[href$="markdown.css"]')).to_be_attached()

    await driver.ask("hi", HELLO)
    assert later_parts(driver) == [part for part in LATER if part != "/dialogs.js"]


def later_parts(driver: PageDriver) -> list[str]:
    """Those that were asked for."""
    return [part for part in LATER if any(part in url for url in driver.watch.requests)]


async def test_a_reload_fetches_no_file_again(stranger: PageDriver, visitor: Visitor) -> None:
    await first_screen(stranger, visitor)
    first = await sent_bytes(files(stranger.watch))
    assert sum(first.values()) > 0
    stranger.watch.responses.clear()

    await stranger.page.reload()
    await expect(stranger.memory).to_contain_text("Ana López")

    again = await sent_bytes(files(stranger.watch))
    assert again
    assert again.keys() <= first.keys()
    assert not any(again.values()), again


def files(watch: Watch) -> list[Response]:
    """Of the page itself, without what it asks the API."""
    return [one for one in watch.responses if one.url.startswith(f"{watch.origin}/app")]


async def sent_bytes(responses: Sequence[Response]) -> Mapping[str, int]:
    """Of each body as it came over the wire, by address: nothing where the server said that the copy is still good."""
    return {one.url: (await one.request.sizes())["responseBodySize"] for one in responses}
