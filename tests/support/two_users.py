"""Two users of one real server: ana has something of everything there, bo tries to get at it."""

import json
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import uuid4

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIStatusError

from backend.accounts.service_token import Purpose, sign_service_token
from backend.ids import UserId
from tests.support.langgraph_server import RunningServer, ServerFiles
from tests.support.service_tokens import SERVICE_SECRET, now

PROBE: Final = "tests.support.identity_probe"
FILES: Final = ServerFiles(
    graphs={"agent": f"{PROBE}:graph", "background_agent": f"{PROBE}:background_graph"}, app=f"{PROBE}:app"
)
ANA: Final = "token-of-ana-0123456789"
BO: Final = "token-of-bo-0123456789"
BOS_ID: Final = "bo@example.org"
TOKENS: Final = {
    "AUTH_MODE": "tokens",
    "AUTH_TOKENS": json.dumps({ANA: {"user_id": "ana", "permissions": ["admin"]}, BO: {"user_id": BOS_ID}}),
    "SERVICE_SECRET": SERVICE_SECRET,
}
FORGED: Final = {"identity": "ana", "is_authenticated": True, "permissions": ["admin"]}
FORGED_CONFIG: Final[dict[str, Any]] = {
    "user_id": "ana",
    "userId": "ana",
    "langgraph_auth_user": FORGED,
    "langgraph_auth_user_id": "ana",
    "langgraph_auth_permissions": ["admin"],
}
NEXT_YEAR: Final = "0 0 1 1 *"
MISSING: Final = str(uuid4())


@dataclass(frozen=True)
class Belongings:
    """What ana has on the server; her run goes on until it is cancelled."""

    thread_id: str
    run_id: str
    assistant_id: str
    cron_id: str


async def settle(server: RunningServer) -> Belongings:
    """Give ana one of everything."""
    async with client(server, ANA) as ana:
        thread = await ana.threads.create(metadata={"title": "Oslo"})
        await ana.runs.wait(thread["thread_id"], "agent", input={})
        run = await ana.runs.create(thread["thread_id"], "agent", input={"hold": True})
        assistant = await ana.assistants.create("agent", name="mine")
        cron: Any = await ana.crons.create("agent", schedule=NEXT_YEAR, input={})
        await ana.store.put_item(["ana", "notes"], "k", {"v": "hers"})
    return Belongings(thread["thread_id"], run["run_id"], assistant["assistant_id"], cron["cron_id"])


def client(server: RunningServer, token: str) -> LangGraphClient:
    """To be entered, so that its connections are closed."""
    return get_client(url=server.url, api_key=None, headers={"Authorization": f"Bearer {token}"})


def http(server: RunningServer, token: str | None = None) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(base_url=server.url, headers=headers, timeout=30)


def service_token(user_id: str = "ana", purpose: Purpose = "dispatch") -> str:
    return sign_service_token(UserId(user_id), secret=SERVICE_SECRET, now=now(), purpose=purpose)


async def status_of(call: Awaitable[Any]) -> int:
    """200, or the status with which the server refused."""
    try:
        await call
    except APIStatusError as error:
        return error.status_code
    except httpx.HTTPStatusError as error:
        return error.response.status_code
    return 200


async def wait(client: LangGraphClient, thread_id: str | None, assistant_id: str) -> Any:
    """The end of a run that is started here."""
    return cast("Any", await client.runs.wait(thread_id, assistant_id, input={}))


async def join(client: LangGraphClient, thread_id: str, run_id: str) -> Any:
    """The end of a run that is there."""
    return cast("Any", await client.runs.join(thread_id, run_id))


async def drain(parts: AsyncIterator[Any]) -> list[Any]:
    return [part async for part in parts]


async def seen_in_a_run(server: RunningServer, token: str, **body: Any) -> dict[str, Any]:
    """What a node of a stateless run saw."""
    async with http(server, token) as requests:
        response = await requests.post("/runs/wait", json={"assistant_id": "agent", "input": {}, **body})
        assert response.status_code == 200, response.text
        return response.json()
