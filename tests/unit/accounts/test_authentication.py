"""From the `Authorization` header to an identity, in each mode."""

import json
import time
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jwt.utils import base64url_encode

from backend.accounts.authentication import Authenticator, make_authenticator
from backend.accounts.identity import Identity
from backend.accounts.service_token import sign_service_token
from backend.errors import SettingsError, Unauthenticated
from backend.ids import UserId
from backend.settings import Settings
from tests.support.identity_provider import AUDIENCE, ISSUER, claims_of
from tests.support.service_tokens import SERVICE_SECRET, now, signed

pytestmark = pytest.mark.anyio

DAY = 86_400
"""Seconds; more than a whole run takes between collection and test."""

SECRET = "the-jwt-secret-of-these-tests-01234567"


def settings(**values: Any) -> Settings:
    return Settings(_env_file=None, service_secret=SERVICE_SECRET, **values)  # pyright: ignore[reportCallIssue]


def tokens(**owners: Any) -> Authenticator:
    return make_authenticator(settings(auth_mode="tokens", auth_tokens=json.dumps(owners)))


def jwt_authenticator(**values: Any) -> Authenticator:
    return make_authenticator(settings(auth_mode="jwt", **{"auth_jwt_secret": SECRET, **values}))


def bearer(claims: dict[str, Any], *, secret: str = SECRET, algorithm: str = "HS256", **header: Any) -> str:
    return "Bearer " + jwt.encode(claims, secret, algorithm=algorithm, headers=header or None)


async def refusal_of(authenticator: Authenticator, authorization: str | None) -> str:
    with pytest.raises(Unauthenticated) as refusal:
        await authenticator.authenticate(authorization)
    return refusal.value.message


async def test_without_authentication_everybody_is_the_default_user_and_may_do_everything() -> None:
    identity = await make_authenticator(settings(auth_mode="none")).authenticate(None)

    assert identity == Identity(UserId("local"), permissions=frozenset({"admin"}))


async def test_without_authentication_and_default_user_everybody_is_nobody() -> None:
    identity = await make_authenticator(settings(auth_mode="none", auth_default_user="")).authenticate("Bearer x")

    assert identity.user_id is None


@pytest.mark.parametrize("header", ["Bearer t-ana", "bearer t-ana", "BEARER   t-ana ", " Bearer t-ana"])
async def test_a_known_token_is_its_owners_whatever_the_case_of_the_scheme(header: str) -> None:
    authenticator = tokens(**{"t-ana": {"user_id": "ana", "email": "ana@example.org", "permissions": ["admin"]}})

    identity = await authenticator.authenticate(header)

    assert identity == Identity(UserId("ana"), permissions=frozenset({"admin"}), email="ana@example.org")


@pytest.mark.parametrize(
    "header",
    [
        *(None, "", "Bearer", "Bearer ", "t-ana", "Basic t-ana"),
        *("Bearer t-an", "Bearer t-ana2", "Bearer é", "Bearer " + "x" * 20_000),
    ],
)
async def test_anything_else_is_refused_with_a_sentence(header: str | None) -> None:
    message = await refusal_of(tokens(**{"t-ana": {"user_id": "ana"}}), header)

    assert "t-an" not in message
    assert len(message.split()) > 3


async def test_two_tokens_may_stand_for_one_user() -> None:
    authenticator = tokens(one={"user_id": "ana"}, two={"user_id": "ana"})

    assert (await authenticator.authenticate("Bearer one")) == (await authenticator.authenticate("Bearer two"))


@pytest.mark.parametrize("user_id", [" ", " ana", "ana\0"])
def test_a_static_token_for_a_user_id_that_would_have_to_be_cleaned_stops_the_start(user_id: str) -> None:
    with pytest.raises(SettingsError, match="AUTH_TOKENS"):
        tokens(t={"user_id": user_id})


@pytest.mark.parametrize("token", ["", " ", "to ken", "token\n", "tökén", "tok\x00en"])
def test_a_static_token_that_no_header_can_carry_stops_the_start(token: str) -> None:
    with pytest.raises(SettingsError, match="AUTH_TOKENS"):
        tokens(**{token: {"user_id": "ana"}})


def test_a_key_set_address_that_is_none_stops_the_start() -> None:
    with pytest.raises(SettingsError, match="AUTH_JWKS_URL"):
        make_authenticator(settings(auth_mode="jwt", auth_jwks_url="file:///etc/keys.json"))


async def test_a_signed_token_is_its_subjects() -> None:
    identity = await jwt_authenticator().authenticate(bearer(claims_of("ana.lopez@example.org", name="Ana")))

    assert identity == Identity(UserId("ana.lopez@example.org"), name="Ana")


async def test_audience_and_issuer_are_checked_when_they_are_configured() -> None:
    strict = jwt_authenticator(auth_jwt_audience=AUDIENCE, auth_jwt_issuer=ISSUER)

    assert (await strict.authenticate(bearer(claims_of("ana")))).user_id == "ana"
    assert (await strict.authenticate(bearer(claims_of("ana", aud=["another", AUDIENCE])))).user_id == "ana"
    for wrong in ({"aud": "another"}, {"aud": None}, {"iss": "https://another.example.org"}, {"iss": None}):
        await refusal_of(strict, bearer(claims_of("ana", **wrong)))


async def test_a_clock_that_is_a_few_seconds_off_is_forgiven() -> None:
    seconds = int(time.time())
    authenticator = jwt_authenticator()

    for off in ({"exp": seconds - 3}, {"iat": seconds + 5}, {"nbf": seconds + 5}):
        assert (await authenticator.authenticate(bearer(claims_of("ana", **off)))).user_id == "ana"


@pytest.mark.parametrize(
    "token",
    [
        pytest.param(bearer(claims_of("ana", exp=None)), id="no expiry"),
        pytest.param(bearer(claims_of("ana", exp=int(time.time()) - 60)), id="expired"),
        pytest.param(bearer(claims_of("ana", nbf=int(time.time()) + DAY)), id="not yet valid"),
        pytest.param(bearer(claims_of(None)), id="no subject"),
        pytest.param(bearer(claims_of("")), id="empty subject"),
        pytest.param(bearer(claims_of("x" * 257)), id="subject too long"),
        pytest.param(bearer(claims_of("ana\0")), id="subject with NUL"),
        pytest.param(bearer(claims_of("ana"), secret="another-secret-of-these-tests-012345"), id="another secret"),
        pytest.param(bearer(claims_of("ana"), secret="", algorithm="none"), id="no signature"),
        pytest.param(bearer(claims_of("ana"), secret=SECRET * 2, algorithm="HS512"), id="another algorithm"),
        pytest.param(bearer(claims_of("ana")) + "x", id="signature changed"),
        pytest.param(bearer(claims_of("ana", exp="soon")), id="expiry that is no number"),
        pytest.param("Bearer a.b.c", id="no token at all"),
    ],
)
async def test_a_signed_token_that_is_not_in_order_is_refused(token: str) -> None:
    message = await refusal_of(jwt_authenticator(), token)

    assert token.removeprefix("Bearer ") not in message


@pytest.mark.parametrize("mode", ["tokens", "jwt"])
async def test_a_service_token_stands_for_its_user_with_little_to_do(mode: str) -> None:
    authenticator = tokens(t={"user_id": "bo"}) if mode == "tokens" else jwt_authenticator()
    token = sign_service_token(UserId("ana"), secret=SERVICE_SECRET, now=now())

    identity = await authenticator.authenticate(f"Bearer {token}")

    assert identity == Identity(UserId("ana"), permissions=frozenset({"service"}))


async def test_with_one_secret_for_both_neither_kind_of_token_passes_for_the_other() -> None:
    authenticator = jwt_authenticator(auth_jwt_secret=SERVICE_SECRET)
    user_token = bearer(claims_of("ana"), secret=SERVICE_SECRET)

    assert (await authenticator.authenticate(user_token)).permissions == frozenset()
    for posing in (signed(typ="JWT"), signed(typ="JWT", aud=AUDIENCE), signed(typ="JWT", purpose=None)):
        await refusal_of(authenticator, f"Bearer {posing}")
    await refusal_of(authenticator, bearer(claims_of("ana"), secret=SERVICE_SECRET, typ="afterthought-service+jwt"))


@given(st.text(alphabet=st.characters(codec=None)))
async def test_no_header_raises_anything_but_a_refusal(header: str) -> None:
    for authenticator in (tokens(t={"user_id": "ana"}), jwt_authenticator()):
        for sent in (header, f"Bearer {header}", f"Bearer a.{header}.b"):
            with pytest.raises(Unauthenticated):
                await authenticator.authenticate(sent)


async def test_a_header_of_ten_thousand_brackets_is_only_refused() -> None:
    deep = base64url_encode(b"[" * 10_000).decode()

    await refusal_of(jwt_authenticator(), f"Bearer {deep}.{deep}.{deep}")
