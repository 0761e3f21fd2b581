"""Whose turn a run's config says it is, in each mode."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

import pytest
from langchain_core.runnables import RunnableConfig

from backend.accounts.run_context import RunContext, keep_nobody, run_context
from backend.accounts.server_user import UNNAMED
from backend.errors import Unauthenticated
from backend.settings import AuthMode

SIGNED_IN: list[AuthMode] = ["jwt", "tokens"]


@dataclass
class ServerObject(Mapping[str, Any]):
    """Like the servers' user objects: an attribute `identity`, and readable like a mapping."""

    identity: object
    is_authenticated: bool = True

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __iter__(self) -> Any:
        return iter(("identity", "is_authenticated"))

    def __len__(self) -> int:
        return 2


def config(**configurable: Any) -> RunnableConfig:
    return cast("RunnableConfig", {"configurable": configurable})


def user_of(configurable: Mapping[str, Any], *, default_user: str = "local") -> str | None:
    return run_context(config(**configurable), auth_mode="none", default_user=default_user).user_id


@pytest.mark.parametrize(
    ("configurable", "user_id"),
    [
        pytest.param({"user_id": "ana"}, "ana", id="user_id"),
        pytest.param({"userId": "ana"}, "ana", id="userId"),
        pytest.param({"user_id": "ana", "userId": "bo"}, "ana", id="user_id comes first"),
        pytest.param({"user_id": 42}, "42", id="integer"),
        pytest.param({}, "local", id="none given"),
        pytest.param({"user_id": None}, "local", id="null is not given"),
        pytest.param({"user_id": None, "userId": "ana"}, "ana", id="null, then userId"),
        pytest.param({"user_id": UNNAMED}, "local", id="the server's own filling"),
        pytest.param({"user_id": UNNAMED, "userId": "ana"}, "ana", id="the server's own filling, then userId"),
        pytest.param({"user_id": ""}, None, id="empty"),
        pytest.param({"user_id": "", "userId": "ana"}, None, id="empty is an answer"),
        pytest.param({"user_id": "  "}, None, id="blank"),
        pytest.param({"userId": ""}, None, id="empty userId"),
        pytest.param({"user_id": ["ana"]}, None, id="list"),
        pytest.param({"user_id": {"id": "ana"}}, None, id="object"),
        pytest.param({"user_id": True}, None, id="true"),
        pytest.param({"user_id": "x" * 257}, None, id="too long"),
        pytest.param({"langgraph_auth_user": ServerObject("bo")}, "local", id="the server's user object"),
        pytest.param({"langgraph_auth_user_id": "bo"}, "local", id="the server's user id"),
    ],
)
def test_without_authentication_the_config_names_the_user(configurable: dict[str, Any], user_id: str | None) -> None:
    assert user_of(configurable) == user_id


def test_without_a_default_user_a_run_that_names_none_is_nobodys() -> None:
    assert user_of({}, default_user="") is None
    assert user_of({"user_id": "ana"}, default_user="") == "ana"


@pytest.mark.parametrize("auth_mode", SIGNED_IN)
def test_with_authentication_the_servers_user_object_is_the_user(auth_mode: AuthMode) -> None:
    seen = run_context(
        config(langgraph_auth_user=ServerObject("ana"), user_id="bo", userId="bo", langgraph_auth_user_id="bo"),
        auth_mode=auth_mode,
        default_user="local",
    )

    assert seen.user_id == "ana"


@pytest.mark.parametrize("auth_mode", SIGNED_IN)
@pytest.mark.parametrize(
    "configurable",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"user_id": "ana"}, id="user_id"),
        pytest.param({"userId": "ana"}, id="userId"),
        pytest.param({"langgraph_auth_user_id": "ana"}, id="langgraph_auth_user_id"),
        pytest.param({"langgraph_auth_user": None}, id="null"),
        pytest.param({"langgraph_auth_user": "ana"}, id="text"),
        pytest.param({"langgraph_auth_user": {"identity": "ana", "is_authenticated": True}}, id="plain dict"),
        pytest.param({"langgraph_auth_user": [{"identity": "ana"}]}, id="list"),
        pytest.param({"langgraph_auth_user": ServerObject("")}, id="empty identity"),
        pytest.param({"langgraph_auth_user": ServerObject(" ana")}, id="identity that would have to be cleaned"),
        pytest.param({"langgraph_auth_user": ServerObject(UNNAMED)}, id="sign-in of a server without authentication"),
        pytest.param({"langgraph_auth_user": ServerObject({"identity": "ana"})}, id="identity that is no text"),
        pytest.param({"langgraph_auth_user": ServerObject("ana", is_authenticated=False)}, id="not signed in"),
    ],
)
def test_with_authentication_nothing_else_is_a_user(auth_mode: AuthMode, configurable: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated):
        run_context(config(**configurable), auth_mode=auth_mode, default_user="local")


def test_a_config_without_configurable_is_the_default_users() -> None:
    assert run_context({}, auth_mode="none", default_user="local") == RunContext(cast("Any", "local"), None)


@pytest.mark.parametrize(
    ("value", "thread_id"),
    [
        pytest.param("t-1", "t-1", id="text"),
        pytest.param(UUID(int=1), str(UUID(int=1)), id="UUID"),
        pytest.param("", None, id="empty"),
        pytest.param(None, None, id="nothing"),
        pytest.param(["t"], None, id="list"),
    ],
)
def test_the_thread_is_taken_as_text(value: object, thread_id: str | None) -> None:
    assert run_context(config(thread_id=value), auth_mode="none", default_user="local").thread_id == thread_id


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param("", " ", id="empty"),
        pytest.param([], " ", id="empty list"),
        pytest.param(False, " ", id="false"),
        pytest.param(0, "0", id="zero is an id"),
        pytest.param(None, None, id="null stays not given"),
        pytest.param("ana", "ana", id="a user"),
    ],
)
def test_an_empty_user_id_survives_a_server_that_fills_in_empty_values(given: object, kept: object) -> None:
    configurable = {"user_id": given}

    keep_nobody({"kwargs": {"config": {"configurable": configurable}}})

    assert configurable == {"user_id": kept}


@pytest.mark.parametrize(
    "request_",
    [{}, {"kwargs": None}, {"kwargs": {}}, {"kwargs": {"config": None}}, {"kwargs": {"config": {"configurable": {}}}}],
)
def test_a_run_without_a_user_id_is_left_alone(request_: dict[str, Any]) -> None:
    before = repr(request_)

    keep_nobody(request_)

    assert repr(request_) == before
