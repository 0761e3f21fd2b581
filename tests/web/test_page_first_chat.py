"""The page as somebody meets it who has just typed `make dev`: no sign-in, no model, nothing remembered."""

from collections.abc import AsyncGenerator, Generator

import pytest
from playwright.async_api import Browser, expect

from tests.support.browser import required_chromium
from tests.support.langgraph_server import RunningServer, running_server
from tests.support.page_driver import PageDriver, driven_tab
from tests.support.postgres import TestServer
from tests.support.product import PRODUCT

pytestmark = [pytest.mark.anyio, pytest.mark.server]


@pytest.fixture(scope="module")
def server(postgres_server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    required_chromium()
    database_url = postgres_server.create_database()
    variables = {"DATABASE_URL": database_url}
    with running_server(tmp_path_factory.mktemp("first_chat"), files=PRODUCT, env=variables) as server:
        yield server
    postgres_server.drop_database(database_url)


@pytest.fixture
async def driver(browser: Browser, server: RunningServer) -> AsyncGenerator[PageDriver]:
    async with driven_tab(browser, server.url) as driver:
        yield driver


async def test_a_first_chat_from_the_address_to_what_is_remembered(driver: PageDriver) -> None:
    """All in one: the second half has meaning only after the first."""
    await driver.page.goto("/")
    await expect(driver.page).to_have_url(f"{driver.watch.origin}/app")
    about = await driver.section("About you")
    await expect(about).to_contain_text("it'll show up here")

    await driver.ask("Hello, my name is Ana and I live in Oslo", "Ana")

    await expect(driver.chat).to_contain_text("not a language model")
    await expect(about).to_contain_text("Oslo")
    await expect(driver.threads.get_by_role("link")).to_have_count(1)

    await driver.page.reload()
    await expect(driver.chat).to_contain_text("Hello, my name is Ana and I live in Oslo")

    await driver.new_chat()
    await driver.ask("Where do I live?", "Oslo")


async def test_it_says_that_no_model_answers_and_how_to_set_one(driver: PageDriver) -> None:
    await driver.open()
    await driver.page.get_by_role("banner").get_by_role("button", name="Offline model").click()
    await expect(driver.dialog).to_contain_text("not a language model")
    await expect(driver.dialog).to_contain_text("OPENAI_API_KEY")
    await driver.page.keyboard.press("Escape")
    await expect(driver.dialog).to_have_count(0)


async def test_nobody_is_asked_to_sign_in_or_offered_to_sign_out(driver: PageDriver) -> None:
    await driver.open()
    await expect(driver.composer).to_be_visible()
    await expect(driver.page.get_by_role("button", name="Sign out")).to_be_hidden()
