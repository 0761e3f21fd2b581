import json

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from backend.api.local_callers import STUDIO, LocalCallers
from tests.support.langgraph_server import REPOSITORY

pytestmark = pytest.mark.anyio


async def answer(_: Request) -> Response:
    return PlainTextResponse("here you are")


APP = LocalCallers(Starlette(routes=[Route("/runs", answer, methods=["GET", "POST"])]), hosts=["box.example"])


async def ask(method: str, host: str, origin: str | None = None) -> int:
    headers = {"host": host, **({"origin": origin} if origin is not None else {})}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(APP), base_url="http://localhost") as client:
        return (await client.request(method, "/runs", headers=headers)).status_code


@pytest.mark.parametrize("host", ["localhost:2024", "127.0.0.1:2024", "[::1]:2024", "api", "box.example"])
async def test_this_machine_is_served(host: str) -> None:
    assert await ask("POST", host) == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:2024", "127.0.0.1.evil.example", "", "[::1"])
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_foreign_name_that_points_to_this_machine_is_refused(host: str, method: str) -> None:
    assert await ask(method, host) == 403


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:2024", STUDIO, "http://box.example"])
async def test_pages_of_this_machine_and_studio_may_write(origin: str) -> None:
    assert await ask("POST", "localhost:2024", origin) == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "https://localhost.evil.example", "https://[x"])
async def test_a_page_of_another_site_may_not_write(origin: str) -> None:
    assert await ask("POST", "localhost:2024", origin) == 403


async def test_reading_is_left_to_the_browser_which_keeps_the_answer_from_the_page() -> None:
    assert await ask("GET", "localhost:2024", "https://evil.example") == 200


def test_the_browser_is_told_of_the_same_origins() -> None:
    cors = json.loads((REPOSITORY / "langgraph.json").read_text())["http"]["cors"]
    assert cors["allow_origins"] == [STUDIO]
    assert "localhost" in cors["allow_origin_regex"]
