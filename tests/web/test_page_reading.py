"""Reading what is remembered, on the page: what folds, is copied, comes page by page, and where links lead."""

from typing import Final

import pytest
from playwright.async_api import Route, expect

from tests.support.conditions import eventually
from tests.support.page_driver import PageDriver
from tests.support.page_server import HELLO, Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.server]

AS_READ: Final = (
    "iso => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso))"
)


async def test_a_structured_value_folds_and_is_copied_as_it_is_written(driver: PageDriver, visitor: Visitor) -> None:
    await visitor.saved(tastes={"tea": ["green"]})
    about = await driver.section("About you")
    value = about.get_by_role("region", name="Value of tastes")
    await expect(value).to_be_visible()
    await about.get_by_role("button", name="Copy the value of tastes").click()

    async def is_copied() -> bool:
        return await driver.page.evaluate("navigator.clipboard.readText()") == await value.inner_text()

    await eventually(is_copied)
    fold = about.locator("details.memory-json summary")
    await fold.click()
    await expect(value).to_be_hidden()
    await fold.click()
    await expect(value).to_contain_text('"green"')


async def test_past_conversations_come_page_by_page(driver: PageDriver, visitor: Visitor) -> None:
    await driver.page.route("**/api/memory/episodes?*", with_two_a_page)
    await visitor.chat("The first", "The second", "The third")
    await visitor.when(lambda: has_episodes(visitor, 3))
    episodes = await driver.section("Past conversations")
    rows = episodes.locator("ul > li")
    await expect(rows).to_have_count(2)
    await expect(rows.nth(0)).to_contain_text("The third")

    await episodes.locator("> div > button", has_text="Show more").click()
    await expect(rows).to_have_count(3)
    await expect(rows.nth(2)).to_contain_text("The first")
    await expect(rows.nth(2)).to_be_focused()
    await expect(episodes.locator("> div > button", has_text="Show more")).to_be_hidden()


async def with_two_a_page(route: Route) -> None:
    await route.continue_(url=route.request.url.replace("limit=50", "limit=2"))


async def has_episodes(visitor: Visitor, count: int) -> bool:
    return len(await visitor.episodes()) == count


async def test_summaries_of_a_chat_without_a_title_have_its_id_and_the_time_of_each_pass(
    driver: PageDriver, visitor: Visitor
) -> None:
    """Every thread with a summary has a title, unless the server could not look it up."""
    thread_id = await visitor.summarized()
    await driver.page.route("**/api/memory/threads", without_titles)
    summaries = await driver.section("Thread summaries")
    await summaries.get_by_role("button", name=thread_id, exact=True).click()
    [thread] = (await visitor.get("/api/memory/threads"))["threads"]
    time = summaries.get_by_role("heading", name="Summary · 1").locator("time")
    await expect(time).to_have_attribute("datetime", thread["summaries"][0]["created_at"])
    await expect(time).to_have_text(await driver.page.evaluate(AS_READ, thread["summaries"][0]["created_at"]))


async def without_titles(route: Route) -> None:
    response = await route.fetch()
    threads = (await response.json())["threads"]
    await route.fulfill(response=response, json={"threads": [{**thread, "title": None} for thread in threads]})


async def test_a_receipt_leads_to_the_summaries_it_tells_of(driver: PageDriver, visitor: Visitor) -> None:
    thread_id = await visitor.summarized()
    await driver.open(f"#/t/{thread_id}")
    await driver.ask("And in Trondheim?", HELLO)
    receipt = driver.turn(-1).locator("details.receipt")
    await expect(receipt).to_contain_text("1 summary")
    await receipt.locator("summary").click()
    await receipt.get_by_role("button", name="Thread summaries", exact=True).click()

    await expect(driver.memory.get_by_role("tab", name="Thread summaries")).to_have_attribute("aria-selected", "true")
    summaries = driver.memory.get_by_role("tabpanel", name="Thread summaries")
    await expect(summaries).to_contain_text(thread_id)
