"""What the dev server would open to everybody stays closed."""

import httpx
import pytest
from fastapi import FastAPI

from backend.api.closed_paths import ClosedPaths, refuse_mount_prefix
from backend.errors import SettingsError

pytestmark = pytest.mark.anyio


def client() -> httpx.AsyncClient:
    app = FastAPI()
    app.add_middleware(ClosedPaths)

    @app.api_route("/{path:path}", methods=["GET", "POST"])
    async def anything(path: str) -> str:  # pyright: ignore[reportUnusedFunction]
        return path

    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


@pytest.mark.parametrize(
    "path", ["/internal/truncate", "/internal/debug/thread/1", "/internal", "/deploy", "/deploy/1/stream", "/deploy/"]
)
async def test_a_closed_path_answers_404_to_every_method(path: str) -> None:
    async with client() as http:
        for method in ("GET", "POST"):
            response = await http.request(method, path)
            assert response.status_code == 404
            assert response.json()["error"]["kind"] == "not_found"


@pytest.mark.parametrize("path", ["/", "/threads", "/api/health", "/deployments", "/internals"])
async def test_other_paths_are_not_touched(path: str) -> None:
    async with client() as http:
        assert (await http.get(path)).status_code == 200


@pytest.mark.parametrize(
    "environment", [{"MOUNT_PREFIX": "/v1"}, {"LANGGRAPH_HTTP": '{"mount_prefix": "/v1"}'}], ids=["variable", "file"]
)
def test_a_server_below_a_prefix_does_not_start(environment: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="MOUNT_PREFIX"):
        refuse_mount_prefix(environment)


@pytest.mark.parametrize(
    "environment",
    [{}, {"LANGGRAPH_HTTP": '{"app": "x:y"}'}, {"LANGGRAPH_HTTP": "null"}, {"LANGGRAPH_HTTP": "{"}],
    ids=["bare", "other", "null", "broken"],
)
def test_a_server_at_the_root_starts(environment: dict[str, str]) -> None:
    refuse_mount_prefix(environment)
