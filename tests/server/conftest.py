"""One real server for the tests of identity, with two users that sign in with tokens."""

import asyncio
from collections.abc import AsyncGenerator, Generator

import pytest
from langgraph_sdk.client import LangGraphClient

from tests.support.langgraph_server import RunningServer, running_server
from tests.support.two_users import ANA, BO, FILES, TOKENS, Belongings, client, service_token, settle


@pytest.fixture(scope="session")
def two_users(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("two_users"), files=FILES, env=TOKENS) as server:
        yield server


@pytest.fixture(scope="session")
def anas(two_users: RunningServer) -> Belongings:
    return asyncio.run(settle(two_users))


@pytest.fixture
async def ana(two_users: RunningServer) -> AsyncGenerator[LangGraphClient]:
    async with client(two_users, ANA) as ana:
        yield ana


@pytest.fixture
async def bo(two_users: RunningServer) -> AsyncGenerator[LangGraphClient]:
    async with client(two_users, BO) as bo:
        yield bo


@pytest.fixture
async def anas_service(two_users: RunningServer) -> AsyncGenerator[LangGraphClient]:
    """What a run of ana's uses to call its own server."""
    async with client(two_users, service_token()) as service:
        yield service
