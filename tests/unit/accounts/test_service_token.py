"""The token that a run signs for itself."""

from datetime import timedelta
from typing import Any

import jwt
import pytest

from backend.accounts.service_token import (
    AUDIENCE,
    HEADER_TYPE,
    is_service_token,
    sign_service_token,
    verify_service_token,
)
from backend.errors import Unauthenticated
from backend.ids import UserId
from tests.support.service_tokens import SERVICE_SECRET, now, signed

ANA = UserId("ana")


def test_it_stands_for_its_user_and_is_marked_as_a_service() -> None:
    identity = verify_service_token(sign_service_token(ANA, secret=SERVICE_SECRET, now=now()), secret=SERVICE_SECRET)

    assert identity.user_id == ANA
    assert identity.permissions == {"service"}


def test_one_that_was_signed_to_erase_says_so() -> None:
    token = sign_service_token(ANA, secret=SERVICE_SECRET, now=now(), purpose="erase")

    assert verify_service_token(token, secret=SERVICE_SECRET).permissions == {"service", "erase"}


def test_it_is_good_for_sixty_seconds() -> None:
    token = sign_service_token(ANA, secret=SERVICE_SECRET, now=now())
    claims = jwt.decode(token, SERVICE_SECRET, algorithms=["HS256"], audience=AUDIENCE)

    assert claims["exp"] - claims["iat"] == 60
    with pytest.raises(Unauthenticated):
        verify_service_token(
            sign_service_token(ANA, secret=SERVICE_SECRET, now=now() - timedelta(seconds=61)), secret=SERVICE_SECRET
        )


def test_the_handmade_token_of_the_next_tests_is_good() -> None:
    assert verify_service_token(signed(), secret=SERVICE_SECRET).user_id == ANA


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"secret": "another-secret-of-these-tests-012345"}, id="another secret"),
        pytest.param({"typ": "JWT"}, id="another type"),
        pytest.param({"aud": "afterthought-tests"}, id="another audience"),
        pytest.param({"aud": None}, id="no audience"),
        pytest.param({"purpose": "chat"}, id="another purpose"),
        pytest.param({"purpose": None}, id="no purpose"),
        pytest.param({"exp": None}, id="no expiry"),
        pytest.param({"iat": None}, id="no time of issue"),
        pytest.param({"sub": None}, id="no subject"),
        pytest.param({"sub": " ana"}, id="a subject that would have to be cleaned"),
    ],
)
def test_a_token_that_differs_in_one_point_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated) as refusal:
        verify_service_token(signed(**changes), secret=SERVICE_SECRET)

    assert "eyJ" not in refusal.value.message


def test_a_token_without_a_signature_is_refused() -> None:
    token = jwt.encode({"sub": "ana"}, "", algorithm="none", headers={"typ": HEADER_TYPE})

    with pytest.raises(Unauthenticated):
        verify_service_token(token, secret=SERVICE_SECRET)


@pytest.mark.parametrize("token", ["", "a", "a.b.c", "é", "\ud800", "eyJ.eyJ.x", signed(typ="JWT")])
def test_other_text_is_no_service_token(token: str) -> None:
    assert not is_service_token(token)
