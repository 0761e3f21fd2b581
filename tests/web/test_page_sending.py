"""What becomes of a message that cannot go out at once: it waits, it is given back, or it stays as a draft."""

from typing import Final

import pytest
from playwright.async_api import expect

from tests.support.page_driver import PageDriver
from tests.support.page_server import HELLO, Visitor
from tests.web.turns import HeldRoute, edit

pytestmark = [pytest.mark.anyio, pytest.mark.server]

MARKUP_SEEN: Final = """
window.markupSeen = false;
new MutationObserver(() => {
  if (document.getElementById("chat")?.textContent.includes("**")) window.markupSeen = true;
}).observe(document, { childList: true, subtree: true, characterData: true });
"""


async def sent_and_held(driver: PageDriver, words: str) -> HeldRoute:
    """A message that waits for what answers, until that is let go."""
    answers = HeldRoute()
    await driver.page.route("**/chat/answering.js", answers.hold)
    await driver.send(words)
    await answers.asked.wait()
    return answers


class TestOpening:
    async def test_nobody_sees_markup_before_what_reads_it_has_come(self, driver: PageDriver, visitor: Visitor) -> None:
        messages = [
            {"type": "human", "id": "h", "content": "hi"},
            {"type": "ai", "id": "a", "content": "**Bold** it is"},
        ]
        thread_id = await visitor.filled_thread(messages, "Bold")
        reader = HeldRoute()
        await driver.page.route("**/vendor/marked.js", reader.hold)
        await driver.page.add_init_script(MARKUP_SEEN)
        await driver.open(f"#/t/{thread_id}")
        await driver.page.reload()
        await reader.asked.wait()
        await expect(driver.chat).to_contain_text("Loading the chat")

        reader.released.set()
        await expect(driver.turn(0).locator("strong")).to_have_text("Bold")
        assert await driver.page.evaluate("window.markupSeen") is False

    async def test_a_chat_that_cannot_be_loaded_is_loaded_on_demand(self, driver: PageDriver, visitor: Visitor) -> None:
        driver.watch.expect("ERR_INTERNET_DISCONNECTED")
        await visitor.chat("hi", thread_id=await visitor.thread("Oslo"))
        await driver.page.reload()
        await expect(driver.thread("Oslo")).to_be_visible()
        await driver.page.context.set_offline(True)
        await driver.thread("Oslo").get_by_role("link").click()

        problem = driver.chat.get_by_role("alert").filter(has_text="The server does not answer.")
        await expect(problem).to_be_visible()
        await driver.page.context.set_offline(False)
        await problem.get_by_role("button", name="Try again").click()
        await expect(driver.turn(0)).to_contain_text(HELLO)

    async def test_a_message_to_a_chat_that_was_not_loaded_goes_into_that_chat(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        driver.watch.expect("ERR_INTERNET_DISCONNECTED")
        thread_id = await visitor.chat("hi", thread_id=await visitor.thread("Oslo"))
        await driver.page.reload()
        await expect(driver.thread("Oslo")).to_be_visible()
        await driver.page.context.set_offline(True)
        await driver.thread("Oslo").get_by_role("link").click()
        await expect(driver.chat.get_by_role("alert").filter(has_text="The server does not answer.")).to_be_visible()

        await driver.page.context.set_offline(False)
        await driver.send("and then?")
        await expect(driver.turn(1)).to_contain_text(HELLO)
        await expect(driver.turn(0)).to_contain_text("hi")
        await expect(driver.chat.get_by_role("alert").filter(has_text="The server")).to_have_count(0)
        assert await visitor.thread_ids() == [thread_id]

    async def test_a_message_sent_while_the_chat_is_read_comes_behind_it(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        thread_id = await visitor.chat("hi")
        state = HeldRoute()
        await driver.page.route("**/state", state.hold)
        await driver.open(f"#/t/{thread_id}")
        await state.asked.wait()
        await driver.send("and then?")
        await expect(driver.stop).to_be_visible()
        await expect(driver.turns).to_have_count(0)

        state.released.set()
        await expect(driver.turn(1)).to_contain_text("and then?")
        await expect(driver.turn(1)).to_contain_text(HELLO)
        await expect(driver.turns).to_have_count(2)
        await expect(driver.composer).to_have_value("")


class TestEdits:
    async def test_an_edit_that_was_not_taken_is_tried_again_in_its_place(self, driver: PageDriver) -> None:
        driver.watch.expect("ERR_INTERNET_DISCONNECTED")
        await driver.ask("red", HELLO)
        await driver.composer.fill("and then?")
        await driver.page.context.set_offline(True)
        await edit(driver.turn(0), "blue")
        problem = driver.chat.get_by_role("alert").filter(has_text="The server does not answer.")
        await expect(problem).to_be_visible()
        await expect(driver.composer).to_have_value("and then?")

        await driver.page.context.set_offline(False)
        await problem.get_by_role("button", name="Try again").click()
        await expect(driver.turn(0)).to_contain_text("blue")
        await expect(driver.turn(0)).to_contain_text(HELLO)
        await expect(driver.turns).to_have_count(1)
        await expect(driver.composer).to_have_value("and then?")

    async def test_an_edit_that_was_not_taken_is_not_lost_when_something_else_is_sent(self, driver: PageDriver) -> None:
        driver.watch.expect("ERR_INTERNET_DISCONNECTED")
        await driver.ask("red", HELLO)
        await driver.page.context.set_offline(True)
        await edit(driver.turn(0), "blue")
        await expect(driver.chat.get_by_role("alert").filter(has_text="The server does not answer.")).to_be_visible()
        await driver.page.context.set_offline(False)

        await driver.ask("green", HELLO)
        await expect(driver.turns).to_have_count(2)
        await expect(driver.composer).to_have_value("blue")

    async def test_an_edit_of_a_chat_that_was_left_meanwhile_is_a_draft_of_that_chat(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        other = await visitor.chat("elsewhere", thread_id=await visitor.thread("Oslo"))
        await driver.ask("red", HELLO)
        asked = len(visitor.model.for_model("chat"))
        history = HeldRoute()
        await driver.page.route("**/history", history.hold)
        await edit(driver.turn(0), "blue")
        await history.asked.wait()
        await driver.thread("Oslo").get_by_role("link").click()
        await expect(driver.turn(0)).to_contain_text("elsewhere")
        history.released.set()
        await expect(driver.composer).to_have_value("")

        await driver.page.go_back()
        await expect(driver.turn(0)).to_contain_text("red")
        await expect(driver.composer).to_have_value("blue")
        assert len(visitor.model.for_model("chat")) == asked
        assert len(await visitor.messages(other)) == len(("elsewhere", HELLO))


class TestWaiting:
    async def test_nothing_typed_is_lost_when_the_server_does_not_answer(self, driver: PageDriver) -> None:
        driver.watch.expect("ERR_INTERNET_DISCONNECTED")
        await driver.page.context.set_offline(True)
        await driver.send("a long question")

        problem = driver.chat.get_by_role("alert")
        await expect(problem).to_contain_text("The server does not answer.")
        await expect(driver.composer).to_have_value("a long question")

        await driver.page.context.set_offline(False)
        await problem.get_by_role("button", name="Try again").click()
        await expect(driver.turn(0)).to_contain_text(HELLO)
        await expect(driver.composer).to_have_value("")
        await expect(driver.turns).to_have_count(1)

    async def test_a_message_waits_for_what_answers(self, driver: PageDriver) -> None:
        answers = await sent_and_held(driver, "hi")
        await expect(driver.chat.get_by_text("Loading the chat")).to_be_visible()
        await driver.composer.press_sequentially("and more")
        await driver.composer.press("Enter")
        await expect(driver.chat.get_by_role("alert")).to_contain_text("Stop it or wait")
        answers.released.set()
        await expect(driver.turn(0)).to_contain_text(HELLO)
        await expect(driver.composer).to_have_value("and more")
        await expect(driver.turns).to_have_count(1)

    async def test_a_message_that_is_stopped_while_it_waits_is_given_back(self, driver: PageDriver) -> None:
        answers = await sent_and_held(driver, "hi")
        await driver.stop.click()
        problem = driver.chat.get_by_role("alert")
        await expect(problem).to_contain_text("before it was sent")
        await expect(driver.composer).to_have_value("hi")
        answers.released.set()
        await problem.get_by_role("button", name="Try again").click()
        await expect(driver.turn(0)).to_contain_text(HELLO)
        await expect(driver.turns).to_have_count(1)

    async def test_who_leaves_before_what_answers_has_come_finds_a_draft(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        await visitor.thread("Oslo")
        await driver.page.reload()
        answers = await sent_and_held(driver, "half a thought")
        await driver.composer.press_sequentially("and the other half")
        await driver.thread("Oslo").get_by_role("link").click()
        await expect(driver.composer).to_have_value("")
        answers.released.set()
        await expect(driver.chat.get_by_role("region", name="Welcome")).to_be_visible()
        await driver.new_chat()
        await expect(driver.composer).to_have_value("half a thought\nand the other half")
        await expect(driver.turns).to_have_count(0)
        assert len(await visitor.thread_ids()) == 1

    async def test_who_leaves_and_comes_back_has_not_sent_it_either(self, driver: PageDriver, visitor: Visitor) -> None:
        await visitor.thread("Oslo")
        await driver.page.reload()
        answers = await sent_and_held(driver, "half a thought")
        await driver.thread("Oslo").get_by_role("link").click()
        await expect(driver.chat.get_by_text("Loading the chat")).to_be_visible()
        await driver.new_chat()
        await expect(driver.stop).to_be_hidden()
        answers.released.set()
        await expect(driver.page.locator('link[href$="markdown.css"]')).to_be_attached()
        await expect(driver.composer).to_have_value("half a thought")
        await driver.composer.press("Enter")
        await expect(driver.turn(0)).to_contain_text(HELLO)
        await expect(driver.turns).to_have_count(1)
        assert len(visitor.model.for_model("chat")) == 1

    async def test_a_draft_outlives_a_reload_and_another_chat(self, driver: PageDriver) -> None:
        await driver.ask("hi", HELLO)
        await driver.composer.fill("half a thought")
        await driver.new_chat()
        await expect(driver.composer).to_have_value("")

        await driver.page.go_back()
        await expect(driver.composer).to_have_value("half a thought")
        await driver.page.reload()
        await expect(driver.composer).to_have_value("half a thought")
