"""Turns on the page: streaming, stopping, answering again, editing, tools, and what goes wrong."""

import pytest
from playwright.async_api import Locator, expect

from tests.support.conditions import eventually
from tests.support.model_server import Reply, call, error, text, tool_calls
from tests.support.page_driver import PageDriver
from tests.support.page_server import HELLO, TITLE, Visitor, saves
from tests.web.turns import LONG, edit, held_answer

pytestmark = [pytest.mark.anyio, pytest.mark.server]


class TestStreaming:
    async def test_the_answer_grows_before_it_is_complete(self, driver: PageDriver, visitor: Visitor) -> None:
        gate = held_answer(visitor)
        await driver.send("Count")

        await expect(driver.turn(0)).to_contain_text("One two three")
        await expect(driver.turn(0)).not_to_contain_text("the end of it")
        await expect(driver.turn(0)).to_have_attribute("aria-busy", "true")
        await expect(driver.stop).to_be_visible()

        gate.release()
        await expect(driver.turn(0)).to_contain_text(LONG)
        await expect(driver.stop).to_be_hidden()

    async def test_the_first_answer_names_the_chat_and_the_address_leads_back_to_it(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        await driver.ask("hi", HELLO)
        await expect(driver.thread(TITLE)).to_be_visible()
        await expect(driver.chat.get_by_role("heading", name=TITLE)).to_be_visible()
        await expect(driver.page).to_have_title(f"{TITLE} · Afterthought")
        [thread_id] = await visitor.thread_ids()
        assert driver.page.url.endswith(f"#/t/{thread_id}")

        await driver.page.reload()
        await expect(driver.turn(0)).to_contain_text(HELLO)

    async def test_what_is_typed_meanwhile_stays(self, driver: PageDriver, visitor: Visitor) -> None:
        gate = held_answer(visitor)
        await driver.send("Count")
        await expect(driver.turn(0)).to_contain_text("One two")
        await driver.composer.fill("and then")
        gate.release()
        await expect(driver.stop).to_be_hidden()
        await expect(driver.composer).to_have_value("and then")

    async def test_an_answer_that_goes_on_elsewhere_is_followed_after_a_reload(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        gate = held_answer(visitor)
        await driver.send("Count")
        await expect(driver.turn(0)).to_contain_text("One two")

        await driver.page.reload()
        await expect(driver.turn(0)).to_have_attribute("aria-busy", "true")
        gate.release()

        await expect(driver.turn(0)).to_contain_text(LONG)
        await expect(driver.stop).to_be_hidden()
        assert len(visitor.model.for_model("chat")) == 1


class TestStopping:
    async def test_what_had_come_stays_and_the_next_message_is_answered(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        gate = held_answer(visitor)
        await driver.send("Count")
        await expect(driver.turn(0)).to_contain_text("One two three")
        await driver.stop.click()

        await expect(driver.turn(0)).to_contain_text("You stopped this answer.")
        await expect(driver.turn(0)).to_contain_text("One two three")
        await expect(driver.composer).to_be_focused()
        gate.release()
        visitor.model.when("chat", text(HELLO))

        await driver.ask("Never mind", HELLO)
        await driver.page.reload()
        await expect(driver.turn(0)).to_contain_text("One two three")
        await expect(driver.turn(0)).not_to_contain_text("the end of it")


class TestAnsweringAgain:
    async def test_another_answer_takes_the_place_of_the_last(self, driver: PageDriver, visitor: Visitor) -> None:
        await driver.ask("Say something", HELLO)
        visitor.model.when("chat", text("Something else."))

        await driver.turn(0).get_by_role("button", name="Answer again").click()

        await expect(driver.turn(0)).to_contain_text("Something else.")
        await expect(driver.turns).to_have_count(1)
        await expect(driver.chat).not_to_contain_text(HELLO)
        await driver.page.reload()
        await expect(driver.turn(0)).to_contain_text("Something else.")
        await expect(driver.turns).to_have_count(1)

    async def test_an_edited_message_begins_another_branch(self, driver: PageDriver, visitor: Visitor) -> None:
        visitor.model.when("chat", lambda asked: text(f"You said {asked.last_human_text}."))
        await driver.ask("red", "You said red.")
        await driver.ask("green", "You said green.")

        await edit(driver.turn(0), "blue")

        await expect(driver.turn(0)).to_contain_text("You said blue.")
        await expect(driver.turns).to_have_count(1)
        await expect(driver.stop).to_be_hidden()
        await driver.ask("white", "You said white.")
        sent = [one["content"] for one in visitor.model.for_model("chat")[-1].messages if one["role"] == "user"]
        assert [content.split("\n")[0] for content in sent] == ["blue", "white"]

    async def test_an_edit_that_is_given_up_changes_nothing(self, driver: PageDriver) -> None:
        await driver.ask("red", HELLO)
        await driver.turn(0).hover()
        await driver.turn(0).get_by_role("button", name="Edit message").click()
        await driver.turn(0).get_by_role("textbox", name="Edited message").fill("blue")
        await driver.page.keyboard.press("Escape")

        await expect(driver.turn(0)).to_contain_text("red")
        await expect(driver.turn(0).get_by_role("button", name="Edit message")).to_be_focused()


class TestTools:
    async def test_a_save_shows_what_was_before_and_what_is_now(self, driver: PageDriver, visitor: Visitor) -> None:
        visitor.model.then(saves(city="Oslo"), text("Noted."), to="chat")
        await driver.ask("I live in Oslo", "Noted.")
        visitor.model.then(replaces("city", "Bergen"), text("Changed."), to="chat")
        await driver.ask("I have moved to Bergen", "Changed.")

        first, second = driver.turn(0), driver.turn(1)
        await expect(changes(first)).to_have_count(1)
        await expect(changes(first).get_by_role("insertion")).to_contain_text("Oslo")
        await expect(changes(second).get_by_role("deletion")).to_contain_text("Oslo")
        await expect(changes(second).get_by_role("insertion")).to_contain_text("Bergen")

    async def test_a_tool_that_fails_says_why(self, driver: PageDriver, visitor: Visitor) -> None:
        visitor.model.then(replaces("city", "Bergen"), text("I could not."), to="chat")
        await driver.ask("I have moved to Bergen", "I could not.")
        card = driver.turn(0).get_by_role("region", name="failed")
        await expect(card).to_contain_text("city")

    async def test_a_tool_shows_its_arguments_and_its_result(self, driver: PageDriver, visitor: Visitor) -> None:
        search = tool_calls(call("manage_memory", {"action": "search", "query": "boats"}))
        visitor.model.then(search, text("Nothing about boats."), to="chat")
        await driver.ask("What do you know about boats?", "Nothing about boats.")
        card = driver.turn(0).get_by_role("region", name="Tool: Works with your notes, done")
        await expect(card.get_by_role("group", name="Arguments")).to_be_hidden()
        await card.get_by_text("Arguments and result").click()
        await expect(card.get_by_role("group", name="Arguments")).to_contain_text("boats")
        await expect(card.get_by_role("group", name="Result")).to_be_visible()


class TestFailures:
    async def test_a_model_that_fails_is_told_in_a_sentence_and_the_message_can_be_answered_again(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        visitor.model.when("chat", error(500, "boom"))
        await driver.send("hi")
        failure = driver.turn(0).locator(".error-line")
        await expect(failure).to_contain_text(".")
        await expect(failure).not_to_contain_text("Traceback")
        await expect(driver.turn(0)).to_contain_text("hi")

        visitor.model.when("chat", text(HELLO))
        await failure.get_by_role("button", name="Answer again").click()
        await expect(driver.turn(0)).to_contain_text(HELLO)
        await expect(driver.turns).to_have_count(1)


class TestCopying:
    async def test_an_answer_is_copied_as_it_was_written(self, driver: PageDriver, visitor: Visitor) -> None:
        visitor.model.when("chat", text("It is **bold** and `code`."))
        await driver.ask("hi", "It is bold and code.")
        await driver.turn(0).get_by_role("button", name="Copy answer").click()

        async def is_copied() -> bool:
            return await driver.page.evaluate("navigator.clipboard.readText()") == "It is **bold** and `code`."

        await eventually(is_copied)


def replaces(key: str, value: str) -> Reply:
    return tool_calls(call("save_memory", {"patches": [{"op": "replace", "path": f"/{key}", "value": value}]}))


def changes(turn: Locator) -> Locator:
    return turn.get_by_role("list", name="Changes, before and after").get_by_role("listitem")
