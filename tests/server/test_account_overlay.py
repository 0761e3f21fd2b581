"""A real server whose users sign in at an identity provider: what it says of them is in their profile, and no more."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.conditions import eventually
from tests.support.database_look import tables_with
from tests.support.identity_provider import AUDIENCE, ISSUER, IdentityProvider, claims_of
from tests.support.langgraph_server import RunningServer, running_server
from tests.support.model_server import ModelServer, structured, text
from tests.support.postgres import TestServer
from tests.support.product import PRODUCT
from tests.support.sdk_chat import stream_turn
from tests.support.service_tokens import SERVICE_SECRET
from tests.support.two_users import client, http

pytestmark = [pytest.mark.anyio, pytest.mark.server]

SECRETS = ("gho_a_token_of_the_provider", "ya29.another_token", "account-4711", "google-oauth2|8080", "a hidden claim")
CLAIMS: dict[str, Any] = {
    "name": "Ana López",
    "email": "ana@example.org",
    "picture": "https://a.example/1.png",
    "hidden": "a hidden claim",
    "identities": [
        {"provider": "github", "user_id": "account-4711", "access_token": "gho_a_token_of_the_provider"},
        {"provider": "credential", "user_id": "account-4711"},
        {"provider": "google-oauth2|8080", "refresh_token": "ya29.another_token"},
        {"provider": "google", "refresh_token": "ya29.another_token"},
    ],
}


@dataclass(frozen=True)
class SignIn:
    """A server and the provider whose tokens it takes."""

    server: RunningServer
    provider: IdentityProvider
    database_url: str

    def token(self, user_id: str, **claims: Any) -> str:
        return self.provider.sign("k1", claims_of(user_id, **claims))

    async def profile(self, token: str) -> dict[str, Any]:
        async with http(self.server, token) as requests:
            response = await requests.get("/api/memory/profile")
            assert response.status_code == 200, response.text
            return response.json()


@pytest.fixture(scope="module")
def sign_in(postgres_server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[SignIn]:
    database_url = postgres_server.create_database()
    with IdentityProvider() as provider, ModelServer() as model:
        provider.add_key("k1", "RS256")
        model.when("router", structured({"subagent": "chat_agent"}))
        model.when("title", text("A fine title"))
        model.when("chat", text("Hello there."))
        env = {
            **model.environment,
            "DATABASE_URL": database_url,
            "AUTH_MODE": "jwt",
            "AUTH_JWKS_URL": provider.jwks_url,
            "AUTH_JWT_AUDIENCE": AUDIENCE,
            "AUTH_JWT_ISSUER": ISSUER,
            "SERVICE_SECRET": SERVICE_SECRET,
        }
        with running_server(tmp_path_factory.mktemp("overlay"), files=PRODUCT, env=env) as server:
            yield SignIn(server, provider, database_url)
            assert "Blocking call" not in server.log
            assert "keep_account_failed" not in server.log
    postgres_server.drop_database(database_url)


async def test_what_the_token_says_is_in_the_profile_of_its_user_only(sign_in: SignIn) -> None:
    profile = await sign_in.profile(sign_in.token("ana@example.org", **CLAIMS))
    other = await sign_in.profile(sign_in.token("bo"))

    assert profile["memory"] == {
        "name": "Ana López",
        "email": "ana@example.org",
        "avatar": "https://a.example/1.png",
        "socials": ["github", "google"],
    }
    assert profile["overlay_keys"] == ["name", "email", "avatar", "socials"]
    assert profile["store_keys"] == []
    assert other["memory"] == {}


async def test_a_later_token_replaces_what_an_earlier_one_said(sign_in: SignIn) -> None:
    await sign_in.profile(sign_in.token("cy", name="Cy", email="cy@example.org"))

    async def is_replaced() -> bool:
        return (await sign_in.profile(sign_in.token("cy", name="Cyan")))["memory"] == {"name": "Cyan"}

    await eventually(is_replaced)


async def test_a_token_that_is_refused_says_nothing(sign_in: SignIn) -> None:
    await sign_in.profile(sign_in.token("di", name="Di"))
    async with http(sign_in.server, sign_in.token("di", name="Not Di", aud="another")) as requests:
        assert (await requests.get("/api/memory/profile")).status_code == 401

    assert (await sign_in.profile(sign_in.token("di", name="Di")))["memory"] == {"name": "Di"}


async def test_tokens_of_providers_and_account_ids_are_stored_nowhere(sign_in: SignIn) -> None:
    token = sign_in.token("eve", **{**CLAIMS, "name": "Eve of the claims"})
    async with client(sign_in.server, token) as eve:
        thread = await eve.threads.create()
        assert (await stream_turn(eve, thread["thread_id"], "hi")).text == "Hello there."

    assert "accounts" in tables_with(sign_in.database_url, "Eve of the claims")
    assert "checkpoints" in tables_with(sign_in.database_url, thread["thread_id"])
    for secret in (*SECRETS, token):
        assert tables_with(sign_in.database_url, secret) == []
