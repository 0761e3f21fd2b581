"""What is remembered, on the page: seen, written, corrected, deleted, taken along and erased."""

import json
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Locator, expect

from tests.support.model_server import text
from tests.support.page_driver import PageDriver
from tests.support.page_server import HELLO, TITLE, Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.server]

LONG_ANSWER: Final = """Two places are **close**:

| Where | Miles |
| --- | ---: |
| Drøbak | 16 |
| Hvaler | 45 |

That is the end."""


def row(panel: Locator, words: str) -> Locator:
    """The one of the items that holds these words."""
    return panel.get_by_role("listitem").filter(has_text=words)


async def confirmed(driver: PageDriver, label: str = "Delete") -> None:
    await driver.dialog.get_by_role("button", name=label, exact=True).click()
    await expect(driver.dialog).to_have_count(0)


class TestAboutYou:
    async def test_rows_say_where_they_come_from_and_those_of_the_account_cannot_be_deleted(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        await visitor.saved(zodiac="cancer", city="Oslo", tastes={"tea": ["green", "oolong"]})
        about = await driver.section("About you")
        await expect(about.locator("ul > li")).to_have_count(5)

        assert await about.get_by_role("heading", level=3).all_text_contents() == [
            *("name", "email", "city", "tastes", "zodiac")
        ]
        await expect(row(about, "Ana López")).to_contain_text("From account")
        await expect(row(about, "Ana López").get_by_role("button", name="Delete")).to_have_count(0)
        await expect(row(about, "Oslo")).to_contain_text("Summarized by AI")
        await expect(about.get_by_role("region", name="Value of tastes")).to_contain_text("oolong")

    async def test_a_deleted_row_is_gone_from_the_page_and_the_next_prompt(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        await visitor.saved(city="Oslo", pet="Al the cat")
        about = await driver.section("About you")
        await about.get_by_role("button", name="Delete memory: city").click()
        await expect(driver.dialog).to_contain_text("Delete this memory?")
        await driver.page.keyboard.press("Escape")
        await expect(about).to_contain_text("Oslo")

        await about.get_by_role("button", name="Delete memory: city").click()
        await confirmed(driver)

        await expect(about).not_to_contain_text("Oslo")
        await expect(about).to_contain_text("Al the cat")
        assert "city" not in await visitor.profile()
        await driver.ask("hi", HELLO)
        assert "Oslo" not in visitor.model.for_model("chat")[-1].system_text


class TestNotes:
    async def test_a_note_that_is_added_is_used_in_another_chat_whose_receipt_leads_to_it(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        notes = await driver.section("Notes")
        await notes.get_by_role("button", name="Add note").click()
        form = notes.get_by_role("form")
        await form.get_by_label("Note", exact=True).fill("The sailing boat lies in Bergen.")
        await form.get_by_label("Categories").fill("boats, travel")
        await form.get_by_role("button", name="Save").click()
        await expect(row(notes, "The sailing boat")).to_contain_text("travel")
        await expect(notes).to_contain_text("1 of 600 notes")

        await driver.ask("Where is my sailing boat?", HELLO)
        [asked] = visitor.model.for_model("chat")
        assert "The sailing boat lies in Bergen." in asked.system_text + asked.last_note

        receipt = driver.turn(0).locator("details.receipt")
        await expect(receipt).to_contain_text("1 note")
        await (await driver.section("About you")).wait_for()
        await receipt.locator("summary").click()
        await receipt.get_by_role("button", name="Notes", exact=True).click()
        await expect(row(notes, "The sailing boat")).to_be_visible()

    async def test_a_past_conversation_that_was_recalled_is_linked_from_the_receipt(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        await visitor.chat("My sailing boat Aurora lies in Bergen")
        await visitor.when(visitor.episodes)
        await driver.ask("Where is my sailing boat Aurora?", HELLO)

        receipt = driver.turn(0).locator("details.receipt")
        await expect(receipt).to_contain_text("1 recalled memory")
        await receipt.locator("summary").click()
        await receipt.get_by_role("button", name="Past conversation 1").click()

        episodes = driver.memory.get_by_role("tabpanel", name="Past conversations")
        await expect(row(episodes, "Aurora lies in Bergen")).to_be_focused()

    async def test_an_edit_is_saved(self, driver: PageDriver, visitor: Visitor) -> None:
        await visitor.note("Tea is green.", categories=["drinks"])
        notes = await driver.section("Notes")
        await row(notes, "Tea is green.").get_by_role("button", name="Edit note").click()
        await notes.get_by_label("Note", exact=True).fill("Tea is black.")
        await notes.get_by_role("button", name="Save").click()

        await expect(row(notes, "Tea is black.")).to_contain_text("drinks")
        assert await visitor.notes() == ["Tea is black."]

    async def test_a_conflict_is_explained_and_nothing_typed_is_lost(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        note = await visitor.note("Tea is green.")
        notes = await driver.section("Notes")
        await row(notes, "Tea is green.").get_by_role("button", name="Edit note").click()
        await notes.get_by_label("Note", exact=True).fill("Tea is black.")
        await visitor.change_note(note, "Tea is white.")

        conflict = notes.get_by_role("alert").filter(has_text="Stored now")
        await expect(conflict).to_contain_text("Tea is white.")
        await expect(conflict).to_contain_text("Tea is black.")
        await expect(notes.get_by_label("Note", exact=True)).to_have_value("Tea is black.")
        await conflict.get_by_role("button", name="Use mine").click()

        await expect(row(notes, "Tea is black.")).to_be_visible()
        assert await visitor.notes() == ["Tea is black."]

    async def test_a_note_that_is_there_already_is_told(self, driver: PageDriver, visitor: Visitor) -> None:
        await visitor.note("Tea is green.")
        driver.watch.expect("status of 409")
        notes = await driver.section("Notes")
        await notes.get_by_role("button", name="Add note").click()
        await notes.get_by_label("Note", exact=True).fill("tea is  green.")
        await notes.get_by_role("button", name="Save").click()

        await expect(notes.get_by_role("alert").filter(has_text="says this already")).to_be_visible()
        await expect(notes.get_by_label("Note", exact=True)).to_have_value("tea is  green.")
        await expect(notes.get_by_label("Note", exact=True)).to_be_focused()

    async def test_search_and_categories_narrow_the_list(self, driver: PageDriver, visitor: Visitor) -> None:
        await visitor.note("Tea is green.", categories=["drinks"])
        await visitor.note("The boat is in Bergen.", categories=["travel"])
        notes = await driver.section("Notes")
        await expect(notes.locator("ul > li")).to_have_count(2)

        await notes.get_by_label("Search notes").fill("boat")
        await expect(notes.locator("ul > li")).to_have_count(1)
        await expect(row(notes, "Bergen")).to_be_visible()
        await notes.get_by_label("Search notes").fill("")
        await expect(notes.locator("ul > li")).to_have_count(2)
        await notes.get_by_label("Category").select_option(label="drinks (1)")
        await expect(notes.locator("ul > li")).to_have_count(1)
        await expect(row(notes, "Tea")).to_be_visible()

    async def test_a_deleted_note_is_gone(self, driver: PageDriver, visitor: Visitor) -> None:
        await visitor.note("Tea is green.")
        await visitor.note("Tea is black.")
        notes = await driver.section("Notes")
        await row(notes, "green").get_by_role("button", name="Delete note").click()
        await confirmed(driver)

        await expect(row(notes, "green")).to_have_count(0)
        await expect(row(notes, "black")).to_have_count(1)
        assert await visitor.notes() == ["Tea is black."]


class TestThreadSummaries:
    async def test_they_are_folded_until_asked_for(self, driver: PageDriver, visitor: Visitor) -> None:
        thread_id = await visitor.summarized()
        summaries = await driver.section("Thread summaries")
        toggle = summaries.get_by_role("button", name=TITLE, exact=True)
        await expect(toggle).to_have_attribute("aria-expanded", "false")
        await expect(summaries).to_contain_text(thread_id)
        await expect(summaries.get_by_text("That.")).to_be_hidden()

        await toggle.click()
        await expect(summaries.get_by_text("That.")).to_be_visible()
        await expect(summaries).to_contain_text("Summary · 1")

    async def test_deleted_ones_are_written_again_by_the_next_turn(self, driver: PageDriver, visitor: Visitor) -> None:
        thread_id = await visitor.summarized()
        await delete_summaries(driver, "Let it be written again")
        assert not await visitor.has_summary(thread_id)

        await visitor.chat("And in Trondheim?", thread_id=thread_id)
        await visitor.when(lambda: visitor.has_summary(thread_id))
        summaries = driver.memory.get_by_role("tabpanel", name="Thread summaries")
        await expect(summaries.get_by_role("button", name=TITLE, exact=True)).to_be_visible()

    async def test_they_stay_away_when_that_is_chosen(self, driver: PageDriver, visitor: Visitor) -> None:
        thread_id = await visitor.summarized()
        await delete_summaries(driver, "Do not summarize")
        before = len(visitor.model.for_model("summary"))

        episodes = len(await visitor.episodes())
        await visitor.chat("And in Trondheim?", thread_id=thread_id)

        async def background_work_is_done() -> bool:
            return len(await visitor.episodes()) > episodes

        await visitor.when(background_work_is_done)
        assert len(visitor.model.for_model("summary")) == before
        assert not await visitor.has_summary(thread_id)


async def delete_summaries(driver: PageDriver, choice: str) -> None:
    summaries = await driver.section("Thread summaries")
    await summaries.get_by_role("button", name=f"Delete summaries of {TITLE}").click()
    await driver.dialog.get_by_label(choice).check()
    await confirmed(driver)
    await expect(summaries).to_contain_text("Once a conversation runs long enough")


class TestPastConversations:
    async def test_a_deleted_one_is_gone_and_its_chat_stays(self, driver: PageDriver, visitor: Visitor) -> None:
        thread_id = await visitor.chat("Remember the sea")
        await visitor.when(visitor.episodes)
        episodes = await driver.section("Past conversations")
        await expect(row(episodes, "Remember the sea")).to_contain_text(HELLO)
        await row(episodes, "Remember the sea").get_by_role("button", name="Delete past conversation").click()
        await confirmed(driver)

        await expect(episodes).to_contain_text("lands here")
        assert await visitor.episodes() == []
        assert await visitor.thread_ids() == [thread_id]

    async def test_a_long_one_shows_its_beginning_in_plain_words_and_all_of_it_on_demand(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        visitor.model.then(text(LONG_ANSWER), to="chat")
        await visitor.chat("Where could we sail?")
        await visitor.when(visitor.episodes)
        kept = row(await driver.section("Past conversations"), "Where could we sail?")
        await expect(kept).to_contain_text("Assistant: Two places are close:")
        await expect(kept).not_to_contain_text("**")
        await expect(kept).not_to_contain_text("That is the end.")

        await kept.get_by_role("button", name="Show more").click()
        await expect(kept.get_by_role("table")).to_contain_text("Hvaler")
        await expect(kept).to_contain_text("That is the end.")
        await expect(kept).not_to_contain_text("**")
        await kept.get_by_role("button", name="Show less").click()
        await expect(kept.get_by_role("table")).to_be_hidden()


class TestYourData:
    async def test_the_export_is_everything_as_a_file(
        self, driver: PageDriver, visitor: Visitor, tmp_path: Path
    ) -> None:
        await visitor.saved(city="Oslo")
        await visitor.when(visitor.episodes)
        await visitor.note("Tea is green.")
        data = await driver.section("Your data")
        async with driver.page.expect_download() as downloading:
            await data.get_by_role("button", name="Download as JSON").click()
        download = await downloading.value
        await download.save_as(tmp_path / "export.json")

        exported = json.loads((tmp_path / "export.json").read_text())
        assert download.suggested_filename.endswith(".json")
        assert exported["user_id"] == visitor.user_id
        assert exported["profile"] == {"city": "Oslo"}
        assert [fact["content"] for fact in exported["facts"]] == ["Tea is green."]
        assert exported == await visitor.get("/api/memory/export")

    async def test_everything_is_erased_only_after_the_word_is_typed(
        self, driver: PageDriver, visitor: Visitor
    ) -> None:
        thread_id = await visitor.saved(city="Oslo")
        await visitor.note("Tea is green.")
        data = await driver.section("Your data")
        await data.get_by_role("button", name="Erase everything").click()
        agree = driver.dialog.get_by_role("button", name="Erase everything")
        await expect(agree).to_be_disabled()
        await driver.dialog.get_by_role("textbox").fill("eras")
        await expect(agree).to_be_disabled()
        await driver.dialog.get_by_role("textbox").fill("erase")
        await agree.click()

        await expect(data).to_contain_text("1 note")
        assert await visitor.notes() == []
        assert "city" not in await visitor.profile()
        assert await visitor.thread_ids() == [thread_id]
        await expect(await driver.section("Notes")).to_contain_text("No notes yet")

    async def test_what_would_be_recalled_is_shown_with_its_score(self, driver: PageDriver, visitor: Visitor) -> None:
        await visitor.note("The sailing boat lies in Bergen.")
        data = await driver.section("Your data")
        await data.get_by_label("A message you might send").fill("Where is my boat?")
        await data.get_by_role("button", name="Look it up").click()
        found = data.get_by_role("list", name="What would be recalled")
        await expect(found).to_contain_text("score")
        await found.get_by_role("button", name="Show it").first.click()
        notes = driver.memory.get_by_role("tabpanel", name="Notes")
        await expect(row(notes, "The sailing boat")).to_be_focused()
