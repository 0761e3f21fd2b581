"""Who calls the HTTP API."""

from typing import Any

import pytest
from fastapi import Request

from backend.accounts.identity import Identity
from backend.accounts.server_user import server_user, visitor
from backend.api.caller import make_read_caller
from backend.errors import Forbidden, Unauthenticated
from backend.ids import UserId


class User:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


def request_of(user: object, **headers: str) -> Request:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "path": "/", "headers": raw, "query_string": b"", "user": user})


def test_the_signed_in_user_is_the_caller_whatever_the_request_says() -> None:
    user = User(**server_user(Identity(UserId("ana"), permissions=frozenset({"admin"})), auth_mode="jwt"))

    caller = make_read_caller(auth_mode="jwt", default_user="local")(request_of(user, x_user_id="bo", user_id="bo"))

    assert caller == Identity(UserId("ana"), permissions=frozenset({"admin"}))


@pytest.mark.parametrize("user", [None, {"identity": "ana"}, "ana", User(**visitor())])
def test_without_a_sign_in_there_is_no_caller(user: object) -> None:
    with pytest.raises(Unauthenticated):
        make_read_caller(auth_mode="jwt", default_user="local")(request_of(user))


def test_a_service_token_is_not_for_the_api() -> None:
    user = User(**server_user(Identity(UserId("ana"), permissions=frozenset({"service"})), auth_mode="jwt"))

    with pytest.raises(Forbidden):
        make_read_caller(auth_mode="jwt", default_user="local")(request_of(user))


@pytest.mark.parametrize(("default_user", "user_id"), [("local", "local"), ("", None)])
def test_without_authentication_the_caller_is_the_default_user(default_user: str, user_id: str | None) -> None:
    user = User(**server_user(Identity(None), auth_mode="none"))

    caller = make_read_caller(auth_mode="none", default_user=default_user)(request_of(user))

    assert caller.user_id == user_id
    assert caller.is_admin
