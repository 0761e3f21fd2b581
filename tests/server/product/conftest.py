"""One real server for the tests of this folder that only look at it from outside."""

from collections.abc import AsyncGenerator, Generator

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.support.langgraph_server import running_server
from tests.support.model_server import ModelServer, structured, text
from tests.support.product import PRODUCT, Product


@pytest.fixture(scope="session")
def shared_product(tmp_path_factory: pytest.TempPathFactory) -> Generator[Product]:
    directory = tmp_path_factory.mktemp("product")
    with (
        ModelServer() as model,
        running_server(directory, files=PRODUCT, env=model.environment) as server,
    ):
        yield Product(server, model)
        model.reset()


@pytest.fixture
def product(shared_product: Product) -> Generator[Product]:
    """The shared server with a fresh script: it routes to the chat agent, names threads and says hello."""
    model = shared_product.model
    model.reset()
    model.when("router", structured({"subagent": "chat_agent"}))
    model.when("title", text("A fine title"))
    model.when("chat", text("Hello there."))
    yield shared_product
    model.assert_nothing_unexpected()


@pytest.fixture
async def client(product: Product) -> AsyncGenerator[LangGraphClient]:
    async with get_client(url=product.url, api_key=None) as client:
        yield client
