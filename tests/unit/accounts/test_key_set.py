"""Tokens signed with the keys of an identity provider, fetched over HTTP."""

import asyncio
import hmac
import json
from collections.abc import Generator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.utils import base64url_encode

from backend.accounts.key_set import KEPT_SECONDS, KEPT_WHILE_UNREACHABLE_SECONDS, REFETCH_SECONDS, KeySet
from backend.accounts.signed_tokens import ProviderKeys, SignedTokens
from backend.errors import ServiceUnavailable, Unauthenticated
from tests.support.identity_provider import AUDIENCE, ISSUER, IdentityProvider, claims_of

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def provider() -> Generator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens(provider: IdentityProvider, clock: Clock) -> SignedTokens:
    keys = KeySet(provider.jwks_url, timeout_seconds=2.0, clock=clock)
    return SignedTokens(ProviderKeys(keys), audience=AUDIENCE, issuer=ISSUER)


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
async def test_each_allowed_algorithm_signs_in(
    algorithm: str, provider: IdentityProvider, tokens: SignedTokens
) -> None:
    provider.add_key("k1", algorithm)

    assert (await tokens.verify(provider.sign("k1", claims_of("ana")))).user_id == "ana"


@pytest.mark.parametrize("algorithm", ["RS256", "PS256"])
async def test_a_key_without_a_named_algorithm_checks_what_its_type_allows(
    algorithm: str, provider: IdentityProvider, tokens: SignedTokens
) -> None:
    provider.add_key("k1", "RS256", alg=None, use=None)

    assert (await tokens.verify(provider.sign("k1", claims_of("ana"), algorithm=algorithm))).user_id == "ana"


async def test_the_keys_are_fetched_once_for_many_tokens_at_once(
    provider: IdentityProvider, tokens: SignedTokens
) -> None:
    provider.add_key("k1", "ES256")
    provider.delay_seconds = 0.05
    token = provider.sign("k1", claims_of("ana"))

    await asyncio.gather(*(tokens.verify(token) for _ in range(20)))
    await tokens.verify(token)

    assert provider.requests == 1


async def test_the_event_loop_goes_on_while_keys_are_fetched(provider: IdentityProvider, tokens: SignedTokens) -> None:
    provider.add_key("k1", "ES256")
    provider.delay_seconds = 0.2
    turns = 0
    signing_in = asyncio.create_task(tokens.verify(provider.sign("k1", claims_of("ana"))))

    while not signing_in.done():
        await asyncio.sleep(0)
        turns += 1

    assert (await signing_in).user_id == "ana"
    assert turns > 100


async def test_a_new_key_is_found_when_a_token_names_it(
    provider: IdentityProvider, tokens: SignedTokens, clock: Clock
) -> None:
    provider.add_key("k1", "ES256")
    await tokens.verify(provider.sign("k1", claims_of("ana")))
    provider.add_key("k2", "ES256")
    clock.seconds += REFETCH_SECONDS

    assert (await tokens.verify(provider.sign("k2", claims_of("bo")))).user_id == "bo"
    assert provider.requests == 2


async def test_tokens_that_name_unknown_keys_do_not_make_it_fetch_again_and_again(
    provider: IdentityProvider, tokens: SignedTokens
) -> None:
    provider.add_key("k1", "ES256")
    await tokens.verify(provider.sign("k1", claims_of("ana")))
    for number in range(5):
        with pytest.raises(Unauthenticated):
            await tokens.verify(provider.sign("k1", claims_of("ana"), kid=f"unknown-{number}"))

    assert provider.requests == 1


async def test_a_key_that_was_withdrawn_is_no_longer_trusted_after_a_while(
    provider: IdentityProvider, tokens: SignedTokens, clock: Clock
) -> None:
    provider.add_key("k1", "ES256")
    token = provider.sign("k1", claims_of("ana"))
    await tokens.verify(token)
    provider.published.clear()
    clock.seconds += KEPT_SECONDS + 1

    with pytest.raises(Unauthenticated):
        await tokens.verify(token)


async def test_while_the_provider_is_away_known_keys_serve_for_a_time(
    provider: IdentityProvider, tokens: SignedTokens, clock: Clock
) -> None:
    provider.add_key("k1", "ES256")
    token = provider.sign("k1", claims_of("ana"))
    await tokens.verify(token)
    provider.status = 503
    clock.seconds += KEPT_SECONDS + 1

    assert (await tokens.verify(token)).user_id == "ana"

    clock.seconds += KEPT_WHILE_UNREACHABLE_SECONDS
    with pytest.raises(ServiceUnavailable):
        await tokens.verify(token)


async def test_a_provider_that_comes_back_is_asked_again(
    provider: IdentityProvider, tokens: SignedTokens, clock: Clock
) -> None:
    provider.add_key("k1", "ES256")
    token = provider.sign("k1", claims_of("ana"))
    provider.status = 500
    with pytest.raises(ServiceUnavailable):
        await tokens.verify(token)
    provider.status = 200
    clock.seconds += REFETCH_SECONDS

    assert (await tokens.verify(token)).user_id == "ana"


async def test_no_answer_in_time_is_an_outside_failure(provider: IdentityProvider) -> None:
    provider.add_key("k1", "ES256")
    provider.delay_seconds = 30
    impatient = SignedTokens(
        ProviderKeys(KeySet(provider.jwks_url, timeout_seconds=0.05)), audience=AUDIENCE, issuer=ISSUER
    )

    with pytest.raises(ServiceUnavailable):
        await impatient.verify(provider.sign("k1", claims_of("ana")))


@pytest.mark.parametrize(
    "described",
    [
        pytest.param({"use": "enc"}, id="a key for encryption"),
        pytest.param({"alg": "RS512"}, id="an algorithm that is not allowed"),
        pytest.param({"n": "!!"}, id="broken"),
        pytest.param({"kty": "oct", "k": "c2VjcmV0"}, id="a shared secret"),
        pytest.param({"kty": None}, id="no type"),
    ],
)
async def test_a_key_that_is_not_for_this_is_left_out_and_the_others_serve(
    described: dict[str, Any], provider: IdentityProvider, tokens: SignedTokens
) -> None:
    provider.add_key("odd", "RS256", **described)
    provider.add_key("k1", "ES256")

    assert (await tokens.verify(provider.sign("k1", claims_of("ana")))).user_id == "ana"
    with pytest.raises(Unauthenticated):
        await tokens.verify(provider.sign("odd", claims_of("ana")))


async def test_a_public_key_does_not_serve_as_a_shared_secret(provider: IdentityProvider, tokens: SignedTokens) -> None:
    provider.add_key("k1", "RS256")
    public = provider.private_key("k1").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    parts = [{"alg": "HS256", "kid": "k1"}, claims_of("ana")]
    signed = b".".join(base64url_encode(json.dumps(part).encode()) for part in parts)
    signature = base64url_encode(hmac.digest(public, signed, "sha256"))
    forged = b".".join([signed, signature]).decode()

    with pytest.raises(Unauthenticated):
        await tokens.verify(forged)


@pytest.mark.parametrize("algorithm", ["none", "HS256", "ES256", "EdDSA", "PS256", "RS512"])
async def test_the_token_does_not_choose_how_it_is_checked(
    algorithm: str, provider: IdentityProvider, tokens: SignedTokens
) -> None:
    provider.add_key("k1", "RS256")
    good = provider.sign("k1", claims_of("ana"))
    head = base64url_encode(f'{{"alg":"{algorithm}","kid":"k1"}}'.encode()).decode()

    with pytest.raises(Unauthenticated):
        await tokens.verify(".".join([head, *good.split(".")[1:]]))


async def test_a_key_on_another_curve_is_left_out(provider: IdentityProvider, tokens: SignedTokens) -> None:
    provider.add_key("k1", "ES384", alg=None)

    with pytest.raises(Unauthenticated):
        await tokens.verify(provider.sign("k1", claims_of("ana")))


async def test_without_a_named_key_the_only_one_serves_and_of_several_none(
    provider: IdentityProvider, tokens: SignedTokens, clock: Clock
) -> None:
    provider.add_key("k1", "ES256")
    token = jwt.encode(claims_of("ana"), provider.private_key("k1"), algorithm="ES256")
    assert (await tokens.verify(token)).user_id == "ana"
    provider.add_key("k2", "ES256")
    clock.seconds += KEPT_SECONDS + 1

    with pytest.raises(Unauthenticated):
        await tokens.verify(token)


@pytest.mark.parametrize("document", [[], {}, {"keys": {}}, {"keys": None}, "keys"])
async def test_a_document_without_keys_is_an_outside_failure(
    document: Any, provider: IdentityProvider, tokens: SignedTokens
) -> None:
    provider.add_key("k1", "ES256")
    provider.document = document

    with pytest.raises(ServiceUnavailable):
        await tokens.verify(provider.sign("k1", claims_of("ana")))
