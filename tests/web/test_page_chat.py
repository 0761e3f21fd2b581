"""Turns on the page: streaming, stopping, answering again, editing, tools, and what goes wrong."""

import asyncio
from typing import Final

import pytest
from playwright.async_api import Locator, Route, expect

from tests.support.conditions import eventually
from tests.support.model_server import Gate, Reply, call, error, text, tool_calls
from tests.support.page_driver import PageDriver
from tests.support.page_server import HELLO, TITLE, Visitor, saves

pytestmark = [pytest.mark.anyio, pytest.mark.server]

LONG = "One two three four five six seven eight nine ten. This is the end of it."
CHUNKS = 6
"""Of four characters each, behind one that is empty."""
MARKUP_SEEN: Final = """
window.markupSeen = false;
new MutationObserver(() => {
  if (document.getElementById("chat")?.textContent.includes("**")) window.markupSeen = true;
}).observe(document, { childList: true, subtree: true, characterData: true });
"""


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


class HeldRoute:
    """A file that comes when it is let go."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.released = asyncio.Event()

    async def hold(self, route: Route) -> None:
        self.asked.set()
        await self.released.wait()
        await route.continue_()


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
        answers = HeldRoute()
        await driver.page.route("**/chat/answering.js", answers.hold)
        await driver.send("hi")
        await answers.asked.wait()
        await expect(driver.chat.get_by_text("Loading the chat")).to_be_visible()
        await driver.composer.press_sequentially("and more")
        await driver.composer.press("Enter")
        await expect(driver.chat.get_by_role("alert")).to_contain_text("Stop it or wait")
        answers.released.set()
        await expect(driver.turn(0)).to_contain_text(HELLO)
        await expect(driver.composer).to_have_value("and more")
        await expect(driver.turns).to_have_count(1)

    async def test_a_message_that_is_stopped_while_it_waits_is_given_back(self, driver: PageDriver) -> None:
        answers = HeldRoute()
        await driver.page.route("**/chat/answering.js", answers.hold)
        await driver.send("hi")
        await answers.asked.wait()
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
        answers = HeldRoute()
        await driver.page.route("**/chat/answering.js", answers.hold)
        await driver.send("half a thought")
        await answers.asked.wait()
        await driver.thread("Oslo").get_by_role("link").click()
        await expect(driver.composer).to_have_value("")
        answers.released.set()
        await expect(driver.chat.get_by_role("region", name="Welcome")).to_be_visible()
        await driver.new_chat()
        await expect(driver.composer).to_have_value("half a thought")
        await expect(driver.turns).to_have_count(0)
        assert len(await visitor.thread_ids()) == 1

    async def test_a_draft_outlives_a_reload_and_another_chat(self, driver: PageDriver) -> None:
        await driver.ask("hi", HELLO)
        await driver.composer.fill("half a thought")
        await driver.new_chat()
        await expect(driver.composer).to_have_value("")

        await driver.page.go_back()
        await expect(driver.composer).to_have_value("half a thought")
        await driver.page.reload()
        await expect(driver.composer).to_have_value("half a thought")


class TestCopying:
    async def test_an_answer_is_copied_as_it_was_written(self, driver: PageDriver, visitor: Visitor) -> None:
        visitor.model.when("chat", text("It is **bold** and `code`."))
        await driver.ask("hi", "It is bold and code.")
        await driver.turn(0).get_by_role("button", name="Copy answer").click()

        async def is_copied() -> bool:
            return await driver.page.evaluate("navigator.clipboard.readText()") == "It is **bold** and `code`."

        await eventually(is_copied)


def held_answer(visitor: Visitor) -> Gate:
    """The next answer stops in the middle until the gate is released."""
    visitor.model.when("chat", text(LONG))
    return visitor.model.hold("chat", after_chunks=CHUNKS)


async def edit(turn: Locator, content: str) -> None:
    await turn.hover()
    await turn.get_by_role("button", name="Edit message").click()
    await turn.get_by_role("textbox", name="Edited message").fill(content)
    await turn.get_by_role("button", name="Send").click()


def replaces(key: str, value: str) -> Reply:
    return tool_calls(call("save_memory", {"patches": [{"op": "replace", "path": f"/{key}", "value": value}]}))


def changes(turn: Locator) -> Locator:
    return turn.get_by_role("list", name="Changes, before and after").get_by_role("listitem")
