"""The list of chats: new, rename, delete, and what goes with a deleted chat."""

from typing import Final

import pytest
from playwright.async_api import Browser, expect

from tests.support.browser import NARROW
from tests.support.page_driver import PageDriver, driven_tab
from tests.support.page_server import HELLO, Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.server]

LONG_NAME: Final = "What to see between Bergen and Oslo"
PART_OF_THE_ROW: Final = 0.9
NOTICE: Final = {
    "focus": "dispatchEvent(new Event('focus'))",
    "visible": "document.dispatchEvent(new Event('visibilitychange'))",
}


async def test_the_newest_activity_comes_first_and_the_open_chat_is_marked(
    driver: PageDriver, visitor: Visitor
) -> None:
    older, newer = await visitor.thread("Older"), await visitor.thread("Newer")
    await visitor.chat("hi", thread_id=newer)
    await driver.page.reload()
    rows = driver.threads.get_by_role("listitem")
    await expect(rows).to_have_count(2)
    await expect(rows.nth(0)).to_contain_text("Newer")

    await driver.thread("Older").get_by_role("link").click()
    await expect(driver.thread("Older").get_by_role("link")).to_have_attribute("aria-current", "page")
    await driver.ask("hi", HELLO)
    await expect(rows.nth(0)).to_contain_text("Older")
    assert driver.page.url.endswith(older)


async def test_a_new_chat_is_empty_and_keeps_the_old_one(driver: PageDriver, visitor: Visitor) -> None:
    await driver.ask("first chat", HELLO)
    await driver.new_chat()
    await expect(driver.turns).to_have_count(0)
    await expect(driver.composer).to_be_focused()
    await driver.ask("second chat", HELLO)
    await expect(driver.threads.get_by_role("listitem")).to_have_count(2)

    await driver.threads.get_by_role("listitem").nth(1).get_by_role("link").click()
    await expect(driver.turn(0)).to_contain_text("first chat")
    assert len(await visitor.thread_ids()) == 2


async def test_a_new_name_is_kept_by_the_server(driver: PageDriver, visitor: Visitor) -> None:
    thread_id = await visitor.thread("Before")
    await driver.page.reload()
    await press(driver, "Rename chat Before")
    await expect(driver.dialog.get_by_label("Name")).to_have_value("Before")
    await driver.dialog.get_by_label("Name").fill("  After  ")
    await driver.page.keyboard.press("Enter")

    await expect(driver.thread("After")).to_be_visible()
    await expect(driver.thread("Before")).to_have_count(0)
    assert await visitor.title_of(thread_id) == "After"


async def test_a_name_has_the_whole_row_until_the_buttons_are_wanted(driver: PageDriver, visitor: Visitor) -> None:
    await visitor.thread(LONG_NAME)
    await driver.page.reload()
    row = driver.thread(LONG_NAME)
    await expect(row).to_be_visible()
    part = await row.evaluate("e => e.querySelector('.thread-name').clientWidth / e.clientWidth")
    assert part > PART_OF_THE_ROW
    buttons = row.locator(".thread-actions")
    await expect(buttons).to_have_css("opacity", "0")
    await expect(buttons).to_have_css("pointer-events", "none")
    await row.hover()
    await expect(buttons).to_have_css("opacity", "1")
    await expect(buttons).to_have_css("pointer-events", "auto")
    await row.get_by_role("button", name="Rename").click()
    await expect(driver.dialog.get_by_label("Name")).to_have_value(LONG_NAME)


@pytest.mark.parametrize("notice", NOTICE.values(), ids=NOTICE)
async def test_a_chat_that_began_elsewhere_is_listed_when_somebody_looks_again(
    driver: PageDriver, visitor: Visitor, notice: str
) -> None:
    """Also where no line tells of changes."""
    driver.watch.expect("ERR_FAILED")
    await driver.page.route("**/api/memory/events", lambda route: route.abort())
    await driver.page.reload()
    await expect(driver.threads).to_contain_text("No chats yet")
    await visitor.thread("Begun elsewhere")
    await driver.page.evaluate(notice)
    await expect(driver.thread("Begun elsewhere")).to_be_visible()


class TestWithoutAConnection:
    """Before any dialog was shown, so that not even the question has come."""

    @pytest.mark.parametrize("button", ["Rename chat Oslo", "Delete chat Oslo"])
    async def test_the_question_can_be_asked_for_again(self, driver: PageDriver, visitor: Visitor, button: str) -> None:
        driver.watch.expect("ERR_INTERNET_DISCONNECTED")
        await visitor.thread("Oslo")
        await driver.page.reload()
        await expect(driver.thread("Oslo")).to_be_visible()
        await driver.page.context.set_offline(True)
        await press(driver, button)

        problem = driver.page.get_by_role("alert").filter(has_text="The server does not answer.").last
        await expect(problem).to_be_visible()
        await driver.page.context.set_offline(False)
        await driver.page.locator(".toast").get_by_role("button", name="Try again").click()
        await expect(driver.dialog).to_be_visible()

    async def test_a_name_that_was_typed_is_not_lost(self, driver: PageDriver, visitor: Visitor) -> None:
        driver.watch.expect("ERR_INTERNET_DISCONNECTED")
        thread_id = await visitor.thread("Oslo")
        await driver.page.reload()
        await press(driver, "Rename chat Oslo")
        await driver.dialog.get_by_label("Name").fill("Bergen")
        await driver.page.context.set_offline(True)
        await driver.page.keyboard.press("Enter")

        again = driver.page.locator(".toast").get_by_role("button", name="Try again")
        await expect(again).to_be_visible()
        await driver.page.context.set_offline(False)
        await again.click()
        await expect(driver.dialog.get_by_label("Name")).to_have_value("Bergen")
        await driver.page.keyboard.press("Enter")
        await expect(driver.thread("Bergen")).to_be_visible()
        assert await visitor.title_of(thread_id) == "Bergen"


class TestDeleting:
    async def test_it_is_asked_first(self, driver: PageDriver, visitor: Visitor) -> None:
        thread_id = await visitor.thread("Oslo")
        await driver.page.reload()
        await press(driver, "Delete chat Oslo")
        await expect(driver.dialog.get_by_role("button", name="Cancel")).to_be_focused()
        await driver.page.keyboard.press("Escape")
        await expect(driver.dialog).to_have_count(0)
        assert await visitor.thread_ids() == [thread_id]

    async def test_what_was_remembered_stays_unless_it_is_chosen_otherwise(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        await talked(driver, visitor)
        await delete(driver, "Keep what was remembered")

        assert await visitor.thread_ids() == []
        assert len(await visitor.episodes()) == 1
        await expect(driver.turns).to_have_count(0)
        assert driver.page.url.endswith("#/")

    async def test_past_conversations_go_too_when_that_is_chosen(self, driver: PageDriver, visitor: Visitor) -> None:
        await talked(driver, visitor)
        await delete(driver, "Erase notes and past conversations")

        assert await visitor.thread_ids() == []
        assert await visitor.episodes() == []

    async def test_a_chat_that_is_gone_is_told_and_a_new_one_offered(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        driver.watch.expect("status of 404")
        await driver.open("#/t/00000000-0000-0000-0000-000000000000")
        await driver.page.reload()
        problem = driver.chat.get_by_role("alert").filter(has_text="not there any more")
        await problem.get_by_role("button", name="Start a new chat").click()
        await driver.ask("hi", HELLO)
        assert len(await visitor.thread_ids()) == 1

    async def test_an_address_that_can_lead_nowhere_offers_a_new_chat(self, driver: PageDriver) -> None:
        driver.watch.expect("status of 400")
        await driver.open("#/t/no-chat-has-this-id")
        await driver.page.reload()
        problem = driver.chat.get_by_role("alert").filter(has_text="leads to no chat")
        await expect(problem.get_by_role("button")).to_have_text(["Start a new chat"])
        await problem.get_by_role("button").click()
        await expect(driver.composer).to_be_focused()
        await expect(driver.page).to_have_url(f"{driver.watch.origin}/app/#/")

    async def test_a_small_screen_stays_at_the_list(self, browser: Browser, visitor: Visitor) -> None:
        async with driven_tab(browser, visitor.server.url, width=NARROW) as driver:
            await driver.enter(visitor.token)
            await talked(driver, visitor)
            await driver.show("Chats")
            await delete(driver, "Keep what was remembered")
            fresh = driver.threads.get_by_role("button", name="New chat")
            await expect(fresh).to_be_focused()
            await expect(driver.chat).to_be_hidden()
            assert driver.page.url.endswith("#/")


async def press(driver: PageDriver, name: str) -> None:
    """A button of the only chat: for a mouse it is there once that is over the row."""
    await driver.threads.get_by_role("listitem").hover()
    await driver.threads.get_by_role("button", name=name).click()


async def talked(driver: PageDriver, visitor: Visitor) -> None:
    """A chat on the page that a past conversation is kept of."""
    await driver.ask("Remember the sea", HELLO)
    await visitor.when(visitor.episodes)


async def delete(driver: PageDriver, choice: str) -> None:
    await press(driver, "Delete chat")
    await driver.dialog.get_by_label(choice).check()
    await driver.dialog.get_by_role("button", name="Delete chat").click()
    await expect(driver.threads.get_by_role("listitem")).to_have_count(0)
