"""A real server in the other modes, and servers that must not start."""

import time
from collections.abc import Generator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.identity_provider import AUDIENCE, ISSUER, IdentityProvider, claims_of
from tests.support.langgraph_server import RunningServer, ServerFiles, ServerStopped, running_server
from tests.support.service_tokens import SERVICE_SECRET
from tests.support.two_users import BO, FILES, FORGED_CONFIG, TOKENS, seen_in_a_run, service_token

pytestmark = [pytest.mark.anyio, pytest.mark.server]


@pytest.fixture(scope="module")
def provider() -> Generator[IdentityProvider]:
    with IdentityProvider() as provider:
        provider.add_key("k1", "RS256")
        yield provider


@pytest.fixture(scope="module")
def jwt_server(provider: IdentityProvider, tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    env = {
        "AUTH_MODE": "jwt",
        "AUTH_JWKS_URL": provider.jwks_url,
        "AUTH_JWT_AUDIENCE": AUDIENCE,
        "AUTH_JWT_ISSUER": ISSUER,
        "SERVICE_SECRET": SERVICE_SECRET,
    }
    with running_server(tmp_path_factory.mktemp("jwt"), files=FILES, env=env) as server:
        yield server


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("none"), files=FILES, env={"AUTH_MODE": "none"}) as server:
        yield server


async def post(server: RunningServer, path: str, body: Any, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as requests:
        return await requests.post(path, json=body, headers=headers)


async def run(server: RunningServer, configurable: dict[str, Any], **headers: str) -> httpx.Response:
    body = {"assistant_id": "agent", "input": {}, "config": {"configurable": configurable}}
    return await post(server, "/runs/wait", body, **headers)


async def test_a_token_of_the_provider_is_its_subjects(jwt_server: RunningServer, provider: IdentityProvider) -> None:
    headers = {"authorization": f"Bearer {provider.sign('k1', claims_of('ana.lopez@example.org'))}"}

    seen = await run(jwt_server, FORGED_CONFIG, **headers)

    assert seen.status_code == 200, seen.text
    assert seen.json()["user_id"] == "ana.lopez@example.org"


async def test_what_the_provider_did_not_sign_is_401(jwt_server: RunningServer, provider: IdentityProvider) -> None:
    good = provider.sign("k1", claims_of("ana"))
    expired = provider.sign("k1", claims_of("ana", exp=int(time.time()) - 60))
    for_another = provider.sign("k1", claims_of("ana", aud="another"))

    for token in (good[:-4], expired, for_another, BO):
        response = await run(jwt_server, {}, authorization=f"Bearer {token}")
        assert response.status_code == 401


async def test_keys_are_fetched_without_holding_up_the_server(
    jwt_server: RunningServer, provider: IdentityProvider
) -> None:
    token = provider.sign("k1", claims_of("ana"))
    await run(jwt_server, {}, authorization=f"Bearer {token}")

    assert "Blocking call" not in jwt_server.log
    assert provider.requests == 1


async def test_a_service_token_works_beside_the_providers(jwt_server: RunningServer) -> None:
    seen = await seen_in_a_run(jwt_server, service_token("ana"), assistant_id="background_agent")

    assert seen["user_id"] == "ana"


async def test_a_provider_that_is_away_is_503(tmp_path: Path) -> None:
    env = {"AUTH_MODE": "jwt", "AUTH_JWKS_URL": "http://127.0.0.1:9/jwks.json", "SERVICE_SECRET": SERVICE_SECRET}
    with IdentityProvider() as provider, running_server(tmp_path, files=FILES, env=env) as server:
        provider.add_key("k1", "ES256")
        token = provider.sign("k1", claims_of("ana"))
        response = await run(server, {}, authorization=f"Bearer {token}")

    assert response.status_code == 503


@pytest.mark.parametrize(
    ("configurable", "user_id"),
    [
        pytest.param({}, "local", id="none given"),
        pytest.param({"user_id": "ana"}, "ana", id="user_id"),
        pytest.param({"userId": "ana"}, "ana", id="userId"),
        pytest.param({"user_id": "ana.lopez@example.org"}, "ana.lopez@example.org", id="e-mail"),
        pytest.param({"user_id": 42}, "42", id="integer"),
        pytest.param({"user_id": 0}, "0", id="zero"),
        pytest.param({"user_id": "langgraph"}, "langgraph", id="reserved word of the store"),
        pytest.param({"user_id": ""}, None, id="empty"),
        pytest.param({"userId": ""}, None, id="empty userId"),
        pytest.param({"user_id": " "}, None, id="blank"),
        pytest.param({"user_id": False}, None, id="false"),
        pytest.param({"user_id": []}, None, id="empty list"),
        pytest.param({"user_id": ["ana"]}, None, id="list"),
        pytest.param({"user_id": {"id": "ana"}}, None, id="object"),
        pytest.param({"user_id": "x" * 257}, None, id="too long"),
        pytest.param({"user_id": "José"}, "José", id="composed"),
        pytest.param({"user_id": "Jose\N{COMBINING ACUTE ACCENT}"}, "Jose\N{COMBINING ACUTE ACCENT}", id="decomposed"),
    ],
)
async def test_without_authentication_the_client_says_who_speaks(
    configurable: dict[str, Any], user_id: str | None, open_server: RunningServer
) -> None:
    seen = await run(open_server, configurable)

    assert seen.status_code == 200
    assert seen.json()["user_id"] == user_id


async def test_an_id_with_nul_is_cleaned_or_refused_but_never_a_failure(open_server: RunningServer) -> None:
    seen = await run(open_server, {"user_id": "an\0a"})

    assert seen.status_code in (200, 422)
    assert seen.status_code == 422 or seen.json()["user_id"] == "ana"


async def test_without_authentication_a_thread_does_not_keep_the_user_of_an_earlier_run(
    open_server: RunningServer,
) -> None:
    async with httpx.AsyncClient(base_url=open_server.url, timeout=30) as requests:
        thread_id = (await requests.post("/threads", json={})).json()["thread_id"]
        seen: list[str | None] = []
        for configurable in ({"user_id": "ana"}, {}, {"user_id": ""}, {}):
            body = {"assistant_id": "agent", "input": {}, "config": {"configurable": configurable}}
            response = await requests.post(f"/threads/{thread_id}/runs/wait", json=body)
            seen.append(response.json()["user_id"])

    assert seen == ["ana", "local", None, "local"]


async def test_without_authentication_studio_and_everybody_get_in(open_server: RunningServer) -> None:
    for headers in ({}, {"x-auth-scheme": "langsmith"}, {"authorization": "Bearer x"}):
        response = await post(open_server, "/threads/search", {}, **headers)
        assert response.status_code == 200


async def test_without_authentication_the_store_is_open_and_the_caller_is_the_default_user(
    open_server: RunningServer,
) -> None:
    async with httpx.AsyncClient(base_url=open_server.url, timeout=30) as requests:
        put = await requests.put("/store/items", json={"namespace": ["ana", "x"], "key": "k", "value": {"v": 1}})
        got = await requests.get("/store/items", params={"namespace": "ana.x", "key": "k"})
        caller = await requests.get("/api/whoami")

    assert put.status_code == 204
    assert got.json()["value"] == {"v": 1}
    assert caller.json() == {"user_id": "local", "permissions": ["admin"]}


async def test_even_where_studio_is_let_past_the_sign_in_it_is_nobody(tmp_path: Path) -> None:
    """`langgraph.json` keeps it out with `disable_studio_auth`; this is what would hold if that line were lost."""
    with running_server(tmp_path, files=replace(FILES, disable_studio_auth=False), env=TOKENS) as server:
        for path in ("/threads/search", "/store/items/search", "/assistants/search", "/runs/wait"):
            body: dict[str, Any] = {"assistant_id": "agent", "namespace_prefix": [], "input": {}}
            response = await post(server, path, body, **{"x-auth-scheme": "langsmith"})
            assert response.status_code == 401
        async with httpx.AsyncClient(base_url=server.url) as requests:
            assert (await requests.get("/api/whoami", headers={"x-auth-scheme": "langsmith"})).status_code == 401


def log_of_a_server_that_stops(directory: Path, *, files: ServerFiles, env: Mapping[str, str]) -> str:
    with pytest.raises(ServerStopped) as end, running_server(directory, files=files, env=env):
        pass
    return str(end.value)


def test_a_server_whose_sign_in_is_not_configured_does_not_start(tmp_path: Path) -> None:
    log = log_of_a_server_that_stops(tmp_path, files=FILES, env={**TOKENS, "AUTH_MODE": "jwt"})

    assert "AUTH_MODE=jwt needs either AUTH_JWT_SECRET or AUTH_JWKS_URL" in log


def test_a_server_whose_auth_module_does_not_load_does_not_start(tmp_path: Path) -> None:
    files = replace(FILES, auth="backend.no_such_module:auth")

    assert "no_such_module" in log_of_a_server_that_stops(tmp_path, files=files, env=TOKENS)


def test_a_server_that_was_given_no_auth_module_does_not_start(tmp_path: Path) -> None:
    log = log_of_a_server_that_stops(tmp_path, files=replace(FILES, auth=None), env=TOKENS)

    assert "the server does not ask for a sign-in" in log
