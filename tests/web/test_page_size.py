"""What a reload of the page costs. What a first load costs is in test_page_weight.py."""

from collections.abc import AsyncGenerator, Mapping, Sequence

import pytest
from playwright.async_api import Browser, Response, expect

from tests.support.browser import Watch
from tests.support.page_driver import PageDriver, driven_tab
from tests.support.page_server import PageServer, Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.server]


@pytest.fixture
async def stranger(browser: Browser, shared_server: PageServer) -> AsyncGenerator[PageDriver]:
    """A tab that has not loaded anything."""
    async with driven_tab(browser, shared_server.url) as driver:
        yield driver


async def test_a_reload_fetches_no_file_again(stranger: PageDriver, visitor: Visitor) -> None:
    await stranger.enter(visitor.token)
    await expect(stranger.memory).to_contain_text("Ana López")
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
