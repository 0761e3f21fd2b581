"""A server process over PostgreSQL, with limits that are soon reached."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

import pytest

from tests.support.memory_homes import HomeInPostgres, Process

LIMITS: Final[Mapping[str, int]] = {
    "memory_profile_max_bytes": 512,
    "memory_facts_max": 5,
    "memory_facts_max_chars": 200,
}


@pytest.fixture
async def process(database_url: str) -> AsyncGenerator[Process]:
    limits: dict[str, Any] = {**LIMITS}
    async with HomeInPostgres(database_url).process(**limits) as process:
        yield process
