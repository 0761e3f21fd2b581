"""Chats without a mouse: opened, renamed, deleted, and an answer stopped."""

import pytest
from playwright.async_api import Locator, expect

from tests.support.page_driver import PageDriver
from tests.support.page_server import HELLO, Visitor
from tests.web.turns import held_answer

pytestmark = [pytest.mark.anyio, pytest.mark.server]


async def enter_at(driver: PageDriver, wanted: Locator) -> None:
    await driver.tab_to(wanted)
    await driver.page.keyboard.press("Enter")


async def test_a_chat_is_opened_renamed_and_deleted(driver: PageDriver, visitor: Visitor) -> None:
    thread_id = await visitor.chat("hi", thread_id=await visitor.thread("Oslo"))
    await driver.page.reload()
    await expect(driver.thread("Oslo")).to_be_visible()
    await enter_at(driver, driver.thread("Oslo").get_by_role("link"))
    await expect(driver.turn(0)).to_contain_text(HELLO)

    await driver.thread("Oslo").get_by_role("link").focus()
    await enter_at(driver, driver.threads.get_by_role("button", name="Rename chat Oslo"))
    await expect(driver.dialog.get_by_label("Name")).to_be_focused()
    await driver.page.keyboard.type("Bergen")
    await driver.page.keyboard.press("Enter")
    await expect(driver.threads.get_by_role("button", name="Rename chat Bergen")).to_be_focused()
    assert await visitor.title_of(thread_id) == "Bergen"

    await enter_at(driver, driver.threads.get_by_role("button", name="Delete chat Bergen"))
    await enter_at(driver, driver.dialog.get_by_role("button", name="Delete chat"))
    await expect(driver.threads.get_by_role("listitem")).to_have_count(0)
    await expect(driver.threads.get_by_role("button", name="New chat")).to_be_focused()
    assert await visitor.thread_ids() == []


async def test_an_answer_is_stopped(driver: PageDriver, visitor: Visitor) -> None:
    gate = held_answer(visitor)
    await driver.send("Count")
    await expect(driver.turn(0)).to_contain_text("One two three")
    await enter_at(driver, driver.stop)
    await expect(driver.turn(0)).to_contain_text("You stopped this answer.")
    await expect(driver.composer).to_be_focused()
    gate.release()
