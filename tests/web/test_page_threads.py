"""The list of chats: new, rename, delete, and what goes with a deleted chat."""

import pytest
from playwright.async_api import expect

from tests.support.page_driver import PageDriver
from tests.support.page_server import HELLO, Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.server]


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
    await driver.threads.get_by_role("button", name="Rename chat Before").click()
    await expect(driver.dialog.get_by_label("Name")).to_have_value("Before")
    await driver.dialog.get_by_label("Name").fill("  After  ")
    await driver.page.keyboard.press("Enter")

    await expect(driver.thread("After")).to_be_visible()
    await expect(driver.thread("Before")).to_have_count(0)
    assert await visitor.title_of(thread_id) == "After"


class TestDeleting:
    async def test_it_is_asked_first(self, driver: PageDriver, visitor: Visitor) -> None:
        thread_id = await visitor.thread("Oslo")
        await driver.page.reload()
        await driver.threads.get_by_role("button", name="Delete chat Oslo").click()
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
        await problem.get_by_role("button", name="New chat").click()
        await driver.ask("hi", HELLO)
        assert len(await visitor.thread_ids()) == 1


async def talked(driver: PageDriver, visitor: Visitor) -> None:
    """A chat on the page that a past conversation is kept of."""
    await driver.ask("Remember the sea", HELLO)
    await visitor.when(visitor.episodes)


async def delete(driver: PageDriver, choice: str) -> None:
    await driver.threads.get_by_role("button", name="Delete chat").click()
    await driver.dialog.get_by_label(choice).check()
    await driver.dialog.get_by_role("button", name="Delete chat").click()
    await expect(driver.threads.get_by_role("listitem")).to_have_count(0)
