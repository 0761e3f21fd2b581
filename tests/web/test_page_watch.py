"""The watch itself: a page that does what no page of ours may do is noticed."""

import re
from collections.abc import AsyncGenerator, Generator

import pytest
from playwright.async_api import Browser

from tests.support.browser import Tab, open_tab, running_browser
from tests.support.conditions import until
from tests.support.loopback_http import Connection, HttpRequest, LoopbackServer

pytestmark = pytest.mark.anyio

POLICY = "default-src 'none'; script-src 'unsafe-inline'; connect-src *"


async def answer(request: HttpRequest, connection: Connection) -> None:
    """A page without anything in it; every other path is missing."""
    body = b"<!doctype html><title>bare</title>" if request.path == "/" else b""
    headers = {
        "content-type": "text/html",
        "content-length": str(len(body)),
        "content-security-policy": POLICY,
    }
    await connection.send_head(200 if body else 404, headers)
    await connection.send(body)


@pytest.fixture(scope="module")
async def browser() -> AsyncGenerator[Browser]:
    async with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def origin() -> Generator[str]:
    with LoopbackServer(answer) as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture
async def tab(browser: Browser, origin: str) -> AsyncGenerator[Tab]:
    async with open_tab(browser, origin) as tab:
        tab.watch.expect("favicon")
        await tab.page.goto("/")
        yield tab


WRONG = {
    "an error in the console": ("console.error('it broke')", "console error: it broke"),
    "an uncaught error": ("setTimeout(() => { throw new Error('lost') })", "uncaught: .*lost"),
    "a rejection nobody handles": ("Promise.reject(new Error('lost')) && null", "uncaught: .*lost"),
    "a violation of the policy": ("document.body.append(new Image()); document.images[0].src = '/a.png'", "Security"),
    "a dialog": ("alert('hello')", "dialog of the browser: alert hello"),
    "a missing file": ("fetch('/missing') && null", "404"),
}


@pytest.mark.parametrize(("script", "fault"), WRONG.values(), ids=WRONG)
async def test_a_fault_is_noticed(script: str, fault: str, tab: Tab) -> None:
    await tab.page.evaluate(script)
    await until(lambda: any(re.search(fault, seen) for seen in tab.watch.faults))

    with pytest.raises(AssertionError, match=fault):
        tab.watch.assert_nothing_wrong()
    tab.watch.expect(fault)


async def test_a_request_to_somewhere_else_is_noticed(tab: Tab) -> None:
    tab.watch.expect("ERR_")
    await tab.page.evaluate("fetch('http://127.0.0.2:9/').catch(() => null)")
    await until(lambda: "http://127.0.0.2:9/" in tab.watch.requests)

    with pytest.raises(AssertionError, match=r"somewhere else: http://127\.0\.0\.2:9/"):
        tab.watch.assert_nothing_wrong()
    tab.watch.expect("somewhere else")


async def test_what_is_fine_is_not_noticed(tab: Tab) -> None:
    await tab.page.evaluate("fetch('/').then(() => console.log('fine'))")
    tab.watch.assert_nothing_wrong()
