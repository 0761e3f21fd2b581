"""Text that would be a program if anything took it for markup: it is shown as it was written, and nothing runs."""

from typing import Final

import pytest
from playwright.async_api import Locator, expect

from tests.support.model_server import call, structured, text, tool_calls
from tests.support.page_driver import ADDRESSES, PageDriver
from tests.support.page_server import Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.server]

ATTACKS: Final = {
    "image": '<img src=x onerror="window.ran=1">',
    "script": "<script>window.ran=1</script>",
    "drawing": '<svg onload="window.ran=1"><a xlink:href="javascript:window.ran=1">x</a></svg>',
    "frame": '<iframe srcdoc="<script>parent.ran=1</script>"></iframe>',
    "style": "<style>body{display:none}</style>",
    "breaking out": '"><input autofocus onfocus="window.ran=1">',
    "template": "{{constructor.constructor('window.ran=1')()}}${window.ran=1}",
}
ALL: Final = " ".join(ATTACKS.values())
LINKS: Final = (
    "[click](javascript:window.ran=1) [data](data:text/html,<script>window.ran=1</script>) "
    "[coded](&#106;avascript:window.ran=1) ![image](https://elsewhere.example/tracker.png) "
    "<javascript:window.ran=1> [ref]\n\n[ref]: javascript:window.ran=1 'title'\n\n"
    "```html\n<img src=x onerror=window.ran=1>\n```\n"
)
FORBIDDEN: Final = (
    "img:not([src^='/app/']), script:not([src^='/app/']), iframe, object, embed, base, [onerror], [onload]"
)


async def assert_nothing_ran(driver: PageDriver) -> None:
    """No flag, no element that was smuggled in, no address that runs; requests and dialogs are watched all the time."""
    assert await driver.page.evaluate("window.ran") is None
    assert await driver.page.locator(f"body :is({FORBIDDEN})").count() == 0
    addresses: list[str] = await driver.page.evaluate("Array.from(document.links, link => link.protocol)")
    assert set(addresses) <= {"http:", "https:", "mailto:"}
    driver.watch.assert_nothing_wrong()


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
async def test_a_message_and_an_answer_are_shown_as_written(attack: str, driver: PageDriver, visitor: Visitor) -> None:
    visitor.model.when("chat", text(f"You wrote: {attack}"))
    await driver.send(attack)
    await expect(driver.turn(0).locator(".bubble")).to_have_text(attack)
    await expect(driver.turn(0).locator(".answer")).to_contain_text("You wrote:")
    await expect(driver.stop).to_be_hidden()
    assert attack in (await driver.turn(0).locator(".steps").inner_text()).replace("\n", "")
    await assert_nothing_ran(driver)


async def test_links_of_an_answer_lead_to_pages_only(driver: PageDriver, visitor: Visitor) -> None:
    visitor.model.when("chat", text(LINKS))
    await driver.ask("links, please", "click")
    for word in await driver.turn(0).locator(".steps a").all():
        await expect(word).to_have_attribute("rel", "noopener noreferrer")
    await expect(driver.turn(0).locator(".steps a")).to_have_count(1)
    await assert_nothing_ran(driver)


async def test_a_title(driver: PageDriver, visitor: Visitor) -> None:
    visitor.model.when("title", text(ATTACKS["image"]))
    await visitor.thread(ALL)
    await driver.ask("hi", "Hello")
    await driver.page.reload()
    await expect(driver.threads.get_by_role("listitem").filter(has_text="<script>")).to_have_count(1)
    await driver.threads.get_by_role("listitem").filter(has_text="<script>").get_by_role("link").click()
    await driver.threads.get_by_role("listitem").filter(has_text="<img src=x onerror").first.hover()
    await driver.threads.get_by_role("button", name="Delete chat <img src=x onerror").first.click()
    await expect(driver.dialog).to_contain_text("<img")
    await driver.page.keyboard.press("Escape")
    await assert_nothing_ran(driver)


async def test_what_a_tool_returns(driver: PageDriver, visitor: Visitor) -> None:
    hostile = {"action": "search", "query": ALL}
    failing = {"patches": [{"op": "remove", "path": "/nothing"}]}
    calls = tool_calls(call("manage_memory", hostile), call("save_memory", failing), call(f"x{ATTACKS['image']}", {}))
    visitor.model.then(calls, text("Done."), to="chat")
    await visitor.note(ALL)
    await driver.ask(ALL, "Done.")
    for details in await driver.turn(0).locator(".tool-card summary").all():
        await details.click()
    await expect(driver.turn(0).locator(".tool-card").first).to_contain_text("<script>")
    await assert_nothing_ran(driver)


async def test_every_section_of_memory(driver: PageDriver, visitor: Visitor) -> None:
    """Profile key and value, note with key and category, summary, past conversation, and what a search finds."""
    visitor.model.when("summary", structured({"entries": [{"question": ALL, "answer": ALL, "refs": ["#1"]}]}))
    visitor.model.when("title", text(ATTACKS["script"]))
    category = ATTACKS["image"][:60]
    await visitor.note(ALL, key=ATTACKS["image"], categories=[category])
    await visitor.saved(constructor=ALL, nested={ATTACKS["image"]: [ALL]})
    thread_id = await visitor.chat(ALL, ALL)
    await visitor.when(lambda: visitor.has_summary(thread_id))

    for name in ADDRESSES:
        panel = await driver.section(name)
        if name == "Your data":
            await panel.get_by_label("A message you might send").fill(ALL)
            await panel.get_by_role("button", name="Look it up").click()
            await expect(panel).to_contain_text("score")
            continue
        await expect(panel).to_contain_text("<img src=x")
        if name == "Thread summaries":
            await panel.locator("button[aria-expanded]").first.click()
        if name == "Past conversations":
            await all_shown(panel)
        for deletion in (await panel.get_by_role("button", name="Delete").all())[:1]:
            await deletion.click()
            await expect(driver.dialog).to_be_visible()
            await driver.page.keyboard.press("Escape")
            await expect(driver.dialog).to_have_count(0)
    await assert_nothing_ran(driver)


async def all_shown(panel: Locator) -> None:
    """Whole conversations, of which answers are read as Markdown."""
    folds = panel.locator("li").get_by_role("button", name="Show more")
    count = await folds.count()
    assert count
    for left in reversed(range(count)):
        await folds.first.click()
        await expect(folds).to_have_count(left)


async def test_an_address(driver: PageDriver) -> None:
    driver.watch.expect("status of 4")
    for address in (f"#/t/{ALL}", f"#/memory/{ALL}", "#/t/..%2F..%2Fapi%2Fmemory", "#javascript:window.ran=1"):
        await driver.page.evaluate("address => { location.hash = address }", address)
        await driver.page.wait_for_function("document.readyState === 'complete'")
    await expect(driver.composer).to_be_attached()
    await assert_nothing_ran(driver)
