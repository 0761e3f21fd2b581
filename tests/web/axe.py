"""What axe finds on a page: a tool that knows what people who use screen readers or need contrast cannot do without."""

from pathlib import Path
from typing import Any, Final

from playwright.async_api import Page

AXE: Final = Path(__file__).parents[1] / "js" / "node_modules" / "axe-core" / "axe.min.js"
GRAVE: Final = {"serious", "critical"}
EVERYTHING: Final = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
COLOURS: Final = {"resultTypes": ["violations"], "runOnly": ["color-contrast"]}


async def scan(page: Page, *, within: str = "html", only_colours: bool = False) -> list[str]:
    """A line for each place inside the selector with something grave; the page must have loaded `AXE`."""
    options = COLOURS if only_colours else EVERYTHING
    result: dict[str, Any] = await page.evaluate("([within, how]) => axe.run(within, how)", [within, options])
    return [line for violation in result["violations"] if violation["impact"] in GRAVE for line in _lines(violation)]


def _lines(violation: dict[str, Any]) -> list[str]:
    return [f"{violation['id']}: {node['target']} {node['failureSummary']}" for node in violation["nodes"]]
