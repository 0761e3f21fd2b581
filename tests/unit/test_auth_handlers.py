"""The handlers of `backend.auth`, as the server calls them."""

import json
from collections.abc import Mapping
from typing import Any, Literal, cast

import pytest
from langgraph_sdk import Auth
from starlette.exceptions import HTTPException

from backend.accounts.authentication import Authenticator, make_authenticator
from backend.accounts.identity import Identity
from backend.accounts.server_user import UNNAMED, ServerUser, server_user
from backend.accounts.service_token import sign_service_token
from backend.auth import build
from backend.errors import ServiceUnavailable
from backend.ids import UserId
from backend.settings import Settings
from tests.support.service_tokens import SERVICE_SECRET, now

pytestmark = pytest.mark.anyio

TOKENS = json.dumps({"t-ana": {"user_id": "ana", "permissions": ["admin"]}})
Resource = Literal["runs", "threads", "crons", "assistants", "store"]


class User:
    """As a server makes it from what the sign-in returned."""

    def __init__(self, fields: ServerUser) -> None:
        self.__dict__.update(fields)


class AbsentProvider:
    async def authenticate(self, authorization: str | None) -> Identity:
        raise ServiceUnavailable("the key server does not answer")


def settings(**values: Any) -> Settings:
    return Settings(_env_file=None, service_secret=SERVICE_SECRET, **values)  # pyright: ignore[reportCallIssue]


def handlers(auth_mode: Literal["none", "tokens"] = "tokens", authenticator: Authenticator | None = None) -> Auth:
    configured = settings(auth_mode=auth_mode, auth_tokens=TOKENS)
    return build(settings=configured, authenticator=authenticator or make_authenticator(configured))


async def sign_in(auth: Auth, headers: Mapping[Any, Any], path: str = "/threads") -> ServerUser:
    handler = cast("Any", auth)._authenticate_handler
    return await handler(headers=headers, path=path)


async def decide(auth: Auth, resource: Resource, action: str, value: dict[str, Any], user: object | None = None) -> Any:
    context = Auth.types.AuthContext(
        permissions=[],
        user=cast("Any", user or User(server_user(Identity(UserId("ana")), auth_mode="tokens"))),
        resource=resource,
        action=cast("Any", action),
    )
    return await cast("Any", auth)._global_handlers[-1](ctx=context, value=value)


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({b"authorization": b"Bearer t-ana"}, id="bytes"),
        pytest.param({"authorization": "Bearer t-ana"}, id="text"),
    ],
)
async def test_the_server_learns_who_it_is_and_nothing_of_the_token(headers: dict[Any, Any]) -> None:
    user = await sign_in(handlers(), headers)

    assert user == {"identity": "ana", "display_name": "ana", "is_authenticated": True, "permissions": ["admin"]}


@pytest.mark.parametrize("value", [b"Bearer t-bo", b"Bearer \xff\xfe", b"Basic t-ana", b""])
async def test_a_refused_sign_in_is_401(value: bytes) -> None:
    with pytest.raises(Auth.exceptions.HTTPException) as refusal:
        await sign_in(handlers(), {b"authorization": value})

    assert refusal.value.status_code == 401


async def test_a_provider_that_is_away_is_503() -> None:
    with pytest.raises(HTTPException) as refusal:
        await sign_in(handlers(authenticator=AbsentProvider()), {})

    assert refusal.value.status_code == 503


@pytest.mark.parametrize("path", ["/", "/app", "/app/", "/app/page.js", "/api/health"])
async def test_an_open_path_needs_no_sign_in_and_gives_no_rights(path: str) -> None:
    visitor = await sign_in(handlers(), {}, path)

    assert visitor["is_authenticated"] is False
    with pytest.raises(Auth.exceptions.HTTPException) as refusal:
        await decide(handlers(), "threads", "read", {}, User(visitor))
    assert refusal.value.status_code == 401


@pytest.mark.parametrize("path", ["/apps", "/api", "/api/health/", "/api/memory/profile", "/threads", "//", ""])
async def test_every_other_path_needs_one(path: str) -> None:
    with pytest.raises(Auth.exceptions.HTTPException):
        await sign_in(handlers(), {}, path)


async def test_without_authentication_everybody_is_signed_in_under_a_name_that_is_no_user_id() -> None:
    user = await sign_in(handlers("none"), {})

    assert user["identity"] == UNNAMED
    assert user["display_name"] == "local"


@pytest.mark.parametrize(
    ("resource", "action"), [("threads", "read"), ("threads", "create"), ("store", "get"), ("assistants", "update")]
)
async def test_without_authentication_nothing_is_stamped_or_filtered(resource: Resource, action: str) -> None:
    value: dict[str, Any] = {"namespace": ("bo",), "metadata": {"owner": "bo"}}

    assert await decide(handlers("none"), resource, action, value) is None
    assert value == {"namespace": ("bo",), "metadata": {"owner": "bo"}}


async def test_without_authentication_an_empty_user_of_a_run_stays_nobody() -> None:
    configurable: dict[str, Any] = {"user_id": ""}

    await decide(handlers("none"), "threads", "create_run", {"kwargs": {"config": {"configurable": configurable}}})

    assert configurable == {"user_id": " "}


async def test_with_authentication_the_config_of_a_run_is_left_alone() -> None:
    configurable: dict[str, Any] = {"user_id": ""}

    await decide(handlers(), "threads", "create_run", {"kwargs": {"config": {"configurable": configurable}}})

    assert configurable == {"user_id": ""}


@pytest.mark.parametrize("action", ["put", "get", "delete", "search", "list_namespaces"])
async def test_the_store_is_pinned_to_the_callers_namespace(action: str) -> None:
    value: dict[str, Any] = {"namespace": ("ana", "notes")}

    assert await decide(handlers(), "store", action, value) is True
    assert value["namespace"] == ("ana", "notes")
    with pytest.raises(Auth.exceptions.HTTPException) as refusal:
        await decide(handlers(), "store", action, {"namespace": ("bo", "notes")})
    assert refusal.value.status_code == 404


async def test_all_of_the_store_means_all_of_ones_own() -> None:
    value: dict[str, Any] = {"namespace": None}

    await decide(handlers(), "store", "list_namespaces", value)

    assert value["namespace"] == ("ana",)


@pytest.mark.parametrize(("resource", "action"), [("store", "drop"), ("threads", "export"), ("crons", "run")])
async def test_what_no_rule_allows_is_403(resource: Resource, action: str) -> None:
    with pytest.raises(Auth.exceptions.HTTPException) as refusal:
        await decide(handlers(), resource, action, {})

    assert refusal.value.status_code == 403


async def test_a_studio_user_without_a_sign_in_is_refused() -> None:
    with pytest.raises(Auth.exceptions.HTTPException) as refusal:
        await decide(handlers(), "threads", "search", {}, Auth.types.StudioUser("langgraph-studio-user"))

    assert refusal.value.status_code == 401


async def test_a_service_does_not_reach_the_store() -> None:
    token = sign_service_token(UserId("ana"), secret=SERVICE_SECRET, now=now())
    user = User(await sign_in(handlers(), {b"authorization": f"Bearer {token}".encode()}))

    assert await decide(handlers(), "store", "get", {"namespace": ("ana",)}, user) is False
    assert await decide(handlers(), "threads", "read", {}, user) == {"owner": "ana"}
