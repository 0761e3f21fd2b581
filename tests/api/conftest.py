"""The HTTP API over PostgreSQL, with users that sign in."""

from collections.abc import AsyncGenerator

import pytest

from tests.support.http_api import Api, running_api
from tests.support.memory_homes import HomeInPostgres


@pytest.fixture
async def api(database_url: str) -> AsyncGenerator[Api]:
    async with running_api(HomeInPostgres(database_url)) as api:
        yield api
