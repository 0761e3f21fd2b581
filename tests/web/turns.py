"""What the tests of turns do on the page, and what they hold back."""

import asyncio

from playwright.async_api import Locator, Route

from tests.support.model_server import Gate, text
from tests.support.page_server import Visitor

LONG = "One two three four five six seven eight nine ten. This is the end of it."
CHUNKS = 6
"""Of four characters each, behind one that is empty."""


class HeldRoute:
    """A file that comes when it is let go."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.released = asyncio.Event()

    async def hold(self, route: Route) -> None:
        self.asked.set()
        await self.released.wait()
        await route.continue_()


def held_answer(visitor: Visitor) -> Gate:
    """The next answer stops in the middle until the gate is released."""
    visitor.model.when("chat", text(LONG))
    return visitor.model.hold("chat", after_chunks=CHUNKS)


async def edit(turn: Locator, content: str) -> None:
    await turn.hover()
    await turn.get_by_role("button", name="Edit message").click()
    await turn.get_by_role("textbox", name="Edited message").fill(content)
    await turn.get_by_role("button", name="Send").click()
