"""A browser for each module, a server for all, and for each test a visitor whom nobody else knows."""

from collections.abc import AsyncGenerator, Generator, Iterator
from itertools import count

import pytest
from playwright.async_api import Browser

from tests.support.browser import required_chromium, running_browser
from tests.support.page_driver import PageDriver, driven_tab
from tests.support.page_server import PageServer, Visitor, page_server, token_of
from tests.support.postgres import TestServer


@pytest.fixture(scope="module")
async def browser() -> AsyncGenerator[Browser]:
    """As long as a module: an asynchronous fixture of the session would keep one event loop for all tests."""
    async with running_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def shared_server(postgres_server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[PageServer]:
    required_chromium()
    with page_server(tmp_path_factory.mktemp("page"), postgres_server) as server:
        yield server


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    return count()


@pytest.fixture
def visitor(shared_server: PageServer, numbers: Iterator[int]) -> Generator[Visitor]:
    shared_server.reset_script()
    number = next(numbers)
    yield Visitor(shared_server, token_of(number), f"visitor-{number:03}")
    shared_server.model.assert_nothing_unexpected()


@pytest.fixture
async def driver(browser: Browser, visitor: Visitor) -> AsyncGenerator[PageDriver]:
    """A wide tab in which the visitor has signed in, at a new chat."""
    async with driven_tab(browser, visitor.server.url) as driver:
        await driver.enter(visitor.token)
        yield driver
