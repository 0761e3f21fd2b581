"""Where memory lives: the same tests run over doubles in this process and over PostgreSQL."""

from collections.abc import AsyncGenerator

import pytest

from tests.support.memory_homes import Home, HomeInMemory, HomeInPostgres, Process


@pytest.fixture(params=["memory", "postgres"])
def home(request: pytest.FixtureRequest) -> Home:
    if request.param == "memory":
        return HomeInMemory()
    return HomeInPostgres(request.getfixturevalue("database_url"))


@pytest.fixture
async def process(home: Home) -> AsyncGenerator[Process]:
    async with home.process() as process:
        yield process
