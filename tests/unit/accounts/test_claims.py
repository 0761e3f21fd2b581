"""What a verified token says about a person."""

from typing import Any

import pytest

from backend.accounts.claims import identity_from_claims
from backend.errors import Unauthenticated


def test_the_claims_of_the_overlay_are_read() -> None:
    identity = identity_from_claims(
        {"sub": "ana", "name": " Ana López ", "email": "ana@example.org", "picture": "https://example.org/a.png"}
    )

    assert identity.name == "Ana López"
    assert identity.email == "ana@example.org"
    assert identity.avatar == "https://example.org/a.png"


@pytest.mark.parametrize(
    ("claims", "socials"),
    [
        pytest.param({"socials": ["github", "google"]}, ("github", "google"), id="names"),
        pytest.param({"providers": ["github", "github"]}, ("github",), id="twice the same"),
        pytest.param({"providers": ["credential", "github"]}, ("github",), id="credential is no linked account"),
        pytest.param(
            {"identities": [{"provider": "google", "accountId": "1234", "access_token": "secret"}]},
            ("google",),
            id="objects: only the name",
        ),
        pytest.param({"identities": [{"user_id": "1234"}]}, (), id="objects without a name"),
        pytest.param({"socials": ["google-oauth2|1234", "1234"]}, (), id="account ids"),
        pytest.param({"socials": "github"}, (), id="no list"),
        pytest.param({"socials": [None, 7, ["github"]]}, (), id="other types"),
        pytest.param({}, (), id="none"),
    ],
)
def test_linked_providers_are_names_only(claims: dict[str, Any], socials: tuple[str, ...]) -> None:
    assert identity_from_claims({"sub": "ana", **claims}).socials == socials


@pytest.mark.parametrize(
    ("claims", "permissions"),
    [
        pytest.param({"permissions": ["admin", "chat"]}, {"admin", "chat"}, id="list"),
        pytest.param({"scope": "admin chat"}, {"admin", "chat"}, id="scope"),
        pytest.param({"permissions": ["service", "chat"]}, {"chat"}, id="service is ours to give"),
        pytest.param({"permissions": "admin"}, set[str](), id="text"),
        pytest.param({"permissions": [{"name": "admin"}]}, set[str](), id="objects"),
        pytest.param({}, set[str](), id="none"),
    ],
)
def test_permissions_come_from_the_list_or_the_scope(claims: dict[str, Any], permissions: set[str]) -> None:
    assert identity_from_claims({"sub": "ana", **claims}).permissions == permissions


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(7, id="number"),
        pytest.param(None, id="null"),
        pytest.param({"a": "b"}, id="object"),
        pytest.param("", id="empty"),
        pytest.param("x" * 5_000, id="very long"),
    ],
)
def test_a_claim_of_another_form_is_left_out(claim: Any) -> None:
    identity = identity_from_claims({"sub": "ana", "name": claim, "email": claim, "avatar": claim})

    assert (identity.name, identity.email, identity.avatar) == (None, None, None)


@pytest.mark.parametrize("subject", [None, "", "  ", " ana", "an\0a", "an\ud800a", "x" * 257, 42, ["ana"]])
def test_a_subject_that_is_no_user_id_is_refused(subject: Any) -> None:
    with pytest.raises(Unauthenticated):
        identity_from_claims({"sub": subject})
