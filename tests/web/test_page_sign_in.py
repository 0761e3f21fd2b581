"""Signing in with a pasted token, and what becomes of it."""

from collections.abc import AsyncGenerator
from typing import Final

import pytest
from playwright.async_api import Browser, Route, expect

from tests.support.page_driver import PageDriver, driven_tab
from tests.support.page_server import HELLO, Visitor, token_of
from tests.web.turns import HeldRoute

pytestmark = [pytest.mark.anyio, pytest.mark.server]

REFUSED: Final = "status of 401"


@pytest.fixture
async def stranger(browser: Browser, visitor: Visitor) -> AsyncGenerator[PageDriver]:
    """A tab in which nobody has signed in yet."""
    async with driven_tab(browser, visitor.server.url) as driver:
        await driver.open()
        yield driver


async def test_nothing_but_the_sign_in_is_shown_to_a_stranger(stranger: PageDriver) -> None:
    await expect(stranger.token).to_be_focused()
    await expect(stranger.page).to_have_title("Afterthought")
    for region in (stranger.chat, stranger.threads, stranger.memory):
        await expect(region).to_be_hidden()


async def test_a_sign_in_that_does_not_come_is_told_and_asked_for_again(browser: Browser, visitor: Visitor) -> None:
    async with driven_tab(browser, visitor.server.url) as driver:
        driver.watch.expect("ERR_FAILED")
        await driver.page.route("**/sign_in.js", lambda route: route.abort())
        await driver.open()
        await expect(driver.page.get_by_role("alert")).to_contain_text("The server does not answer.")
        await driver.page.unroute("**/sign_in.js")
        await driver.page.get_by_role("button", name="Try again").click()
        await driver.sign_in(visitor.token)
        await expect(driver.composer).to_be_visible()


async def test_a_page_whose_sign_in_ends_while_it_loads_is_opened_once(stranger: PageDriver, visitor: Visitor) -> None:
    stranger.watch.expect(REFUSED)
    await visitor.thread("Oslo")
    memory = HeldRoute()
    await stranger.page.route("**/memory/memory.js", memory.hold)
    await stranger.page.route("**/threads/search", with_an_expired_token)
    await stranger.sign_in(visitor.token)
    await expect(stranger.page.get_by_text("Your sign-in has ended")).to_be_visible()
    await memory.asked.wait()
    await stranger.page.unroute("**/threads/search")
    starts = health_requests(stranger)

    await stranger.sign_in(visitor.token)
    await expect(stranger.composer).to_be_visible()
    memory.released.set()
    await expect(stranger.memory).to_contain_text("Ana López")
    await expect(stranger.thread("Oslo")).to_be_visible()
    assert health_requests(stranger) == starts


def health_requests(driver: PageDriver) -> int:
    """The page asks for it each time it starts."""
    return sum(address.endswith("/api/health") for address in driver.watch.requests)


async def test_a_token_that_is_not_known_is_told_and_the_right_one_opens_the_page(
    stranger: PageDriver, visitor: Visitor
) -> None:
    stranger.watch.expect(REFUSED)
    await stranger.sign_in("nobody's")
    await expect(stranger.page.get_by_role("alert")).to_contain_text("not accepted")
    await expect(stranger.token).to_be_focused()

    await stranger.sign_in(f"Bearer {visitor.token}")
    await expect(stranger.composer).to_be_visible()
    await expect(await stranger.section("About you")).to_contain_text("Ana López")


async def test_a_token_is_kept_for_the_tab_only(stranger: PageDriver, visitor: Visitor) -> None:
    await stranger.sign_in(visitor.token)
    await expect(stranger.composer).to_be_visible()
    await stranger.page.reload()
    await expect(stranger.composer).to_be_visible()

    other_tab = await stranger.page.context.new_page()
    await other_tab.goto("/app/")
    await expect(other_tab.get_by_label("Access token")).to_be_visible()
    assert await stranger.page.evaluate("localStorage.length + document.cookie.length") == 0


async def test_no_token_is_in_an_address(stranger: PageDriver, visitor: Visitor) -> None:
    await stranger.sign_in(visitor.token)
    await stranger.ask("hi", HELLO)
    assert [address for address in stranger.watch.requests if visitor.token in address] == []
    assert visitor.token not in stranger.page.url


async def test_signing_out_forgets_everything_of_the_tab(stranger: PageDriver, visitor: Visitor) -> None:
    """What the page was just asking for as the token went is refused."""
    stranger.watch.expect(REFUSED)
    await stranger.sign_in(visitor.token)
    await stranger.composer.fill("half a thought")
    await stranger.page.get_by_role("button", name="Sign out").click()
    await expect(stranger.token).to_be_visible()
    assert await stranger.page.evaluate("sessionStorage.length") == 0

    await stranger.sign_in(visitor.token)
    await expect(stranger.composer).to_have_value("")


async def test_a_token_that_is_taken_back_leads_to_the_sign_in_and_what_was_typed_stays(
    stranger: PageDriver, visitor: Visitor
) -> None:
    """As a token that expires: the server's answers are made to be those to a wrong token."""
    stranger.watch.expect(REFUSED)
    await stranger.sign_in(visitor.token)
    await stranger.ask("hi", HELLO)
    await stranger.page.route("**/threads/**", with_an_expired_token)
    await stranger.send("a long question that nobody wants to type again")

    await expect(stranger.page.get_by_text("Your sign-in has ended")).to_be_visible()
    await expect(stranger.chat).to_be_hidden()

    await stranger.page.unroute("**/threads/**")
    await stranger.sign_in(visitor.token)
    await expect(stranger.chat).to_contain_text(HELLO)
    await expect(stranger.composer).to_have_value("a long question that nobody wants to type again")


async def with_an_expired_token(route: Route) -> None:
    await route.continue_(headers={**route.request.headers, "authorization": "Bearer expired"})


async def test_another_visitor_in_the_same_tab_sees_nothing_of_the_first(
    stranger: PageDriver, visitor: Visitor
) -> None:
    stranger.watch.expect(REFUSED)
    await visitor.note("The first visitor sails.")
    await stranger.sign_in(visitor.token)
    await stranger.ask("a secret of the first", HELLO)
    await stranger.page.get_by_role("button", name="Sign out").click()

    await stranger.sign_in(token_of(199))
    await expect(stranger.composer).to_be_visible()
    await expect(await stranger.section("Notes")).to_contain_text("No notes yet")
    await expect(stranger.page.get_by_text("a secret of the first")).to_have_count(0)
    await expect(stranger.threads.get_by_role("listitem")).to_have_count(0)
