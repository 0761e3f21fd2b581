"""Waiting for a condition that nothing announces."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

ASK_EVERY_SECONDS = 0.01


async def until(condition: Callable[[], Any], timeout_seconds: float = 10.0) -> None:
    """Return as soon as `condition` holds; fail the test when it does not in time."""
    try:
        async with asyncio.timeout(timeout_seconds):
            while not condition():  # noqa: ASYNC110
                await asyncio.sleep(ASK_EVERY_SECONDS)
    except TimeoutError:
        raise AssertionError(f"waited {timeout_seconds:g} s in vain") from None


async def eventually(condition: Callable[[], Awaitable[Any]], timeout_seconds: float = 10.0) -> None:
    """As `until`, for a condition that has to be awaited itself."""
    try:
        async with asyncio.timeout(timeout_seconds):
            while not await condition():  # noqa: ASYNC110
                await asyncio.sleep(ASK_EVERY_SECONDS)
    except TimeoutError:
        raise AssertionError(f"waited {timeout_seconds:g} s in vain") from None
