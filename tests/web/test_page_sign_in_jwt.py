"""Signing in with a token of an identity provider, where the server asks for one."""

import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

import jwt
import pytest
from playwright.async_api import Browser, expect

from tests.support.browser import required_chromium
from tests.support.langgraph_server import running_server
from tests.support.model_server import ModelServer
from tests.support.page_driver import driven_tab
from tests.support.page_server import HELLO, PageServer
from tests.support.product import PRODUCT
from tests.support.service_tokens import SERVICE_SECRET

pytestmark = [pytest.mark.anyio, pytest.mark.server]

SECRET: Final = "what the identity provider signs with, of the tests"


def signed(*, lives_seconds: int) -> str:
    claims = {"sub": "ana", "name": "Ana López", "exp": int(time.time()) + lives_seconds}
    return jwt.encode(claims, SECRET, algorithm="HS256")


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Generator[PageServer]:
    required_chromium()
    with ModelServer() as model:
        env = {
            **model.environment,
            "DATABASE_URL": database_url,
            "AUTH_MODE": "jwt",
            "AUTH_JWT_SECRET": SECRET,
            "SERVICE_SECRET": SERVICE_SECRET,
        }
        with running_server(tmp_path, files=PRODUCT, env=env) as running:
            server = PageServer(running, model)
            server.reset_script()
            yield server


async def test_a_signed_token_opens_the_page_and_one_that_has_expired_does_not(
    browser: Browser, server: PageServer
) -> None:
    async with driven_tab(browser, server.url) as driver:
        await driver.open()
        driver.watch.expect("status of 401")
        await driver.sign_in(signed(lives_seconds=-60))
        await expect(driver.page.get_by_role("alert")).to_contain_text("not accepted")

        await driver.sign_in(signed(lives_seconds=600))
        await expect(await driver.section("About you")).to_contain_text("Ana López")
        await driver.ask("hi", HELLO)
