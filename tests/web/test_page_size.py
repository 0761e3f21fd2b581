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
# The first load is that of a new chat for somebody new. The first page of the list of chats and a profile come on top.
# The address of a chat needs besides what shows messages, which otherwise comes while somebody writes.
MAX_BYTES_WITH_CHATS: Final = 160_000
MAX_BYTES_WITH_CHATS_ON_THE_WAY: Final = 100_000
MAX_BYTES_OF_A_CHAT: Final = 300_000
MAX_BYTES_OF_A_CHAT_ON_THE_WAY: Final = 150_000
CHATS: Final = 30
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
    await assert_loaded(stranger.watch, unpacked=MAX_BYTES, on_the_way=MAX_BYTES_ON_THE_WAY)
    assert all(url.startswith(f"{visitor.server.url}/") for url in stranger.watch.requests)


async def test_many_chats_and_a_profile_do_not_make_it_large(stranger: PageDriver, visitor: Visitor) -> None:
    await visitor.saved(city="Oslo", tastes={"tea": ["green", "oolong"]})
    for number in range(CHATS):
        await visitor.thread(f"Chat number {number}")
    await stranger.enter(visitor.token)
    await expect(stranger.memory).to_contain_text("oolong")
    await expect(stranger.threads.get_by_role("listitem")).to_have_count(CHATS)
    await assert_loaded(stranger.watch, unpacked=MAX_BYTES_WITH_CHATS, on_the_way=MAX_BYTES_WITH_CHATS_ON_THE_WAY)


async def test_the_address_of_a_chat_loads_what_shows_messages_too(stranger: PageDriver, visitor: Visitor) -> None:
    thread_id = await visitor.chat("hi")
    await stranger.enter(visitor.token, f"#/t/{thread_id}")
    await expect(stranger.turn(0)).to_contain_text(HELLO)
    await expect(stranger.memory).to_contain_text("Ana López")
    await assert_loaded(stranger.watch, unpacked=MAX_BYTES_OF_A_CHAT, on_the_way=MAX_BYTES_OF_A_CHAT_ON_THE_WAY)


async def assert_loaded(watch: Watch, *, unpacked: int, on_the_way: int) -> None:
    """All that has come is smaller than so many bytes."""
    loaded = [one for one in watch.responses if not await is_stream(one)]
    sizes = {one.url: len(await one.body()) for one in loaded}
    assert len(sizes) > FILES
    assert sum(sizes.values()) < unpacked, (sum(sizes.values()), largest(sizes))
    travelled = {one.url: await travelled_bytes(one) for one in loaded}
    assert sum(travelled.values()) < on_the_way, (sum(travelled.values()), largest(travelled))


def largest(sizes: Mapping[str, int]) -> list[tuple[str, int]]:
    """For a failing test."""
    return sorted(sizes.items(), key=lambda one: -one[1])[:5]


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
