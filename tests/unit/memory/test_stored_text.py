"""What is stored of what was said: no block of a prompt, nothing that no database takes, and more than a secret."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.memory.redaction import BLOCK_NAMES, is_only_secret, redact, storable, without_blocks

MEMORY = '<memory>\n{"city":"Oslo"}\n</memory>'
TAGS = st.sampled_from([f"{start}{name}>" for name in ("memory", "facts", "recalled") for start in ("<", "</", "</ ")])


@pytest.mark.parametrize("name", BLOCK_NAMES)
def test_a_quoted_block_of_every_name_is_taken_out(name: str) -> None:
    assert without_blocks(f"Before\n<{name}>\nOslo, likes tea\n</{name}>\n\nAfter") == "Before\nAfter"
    assert without_blocks(f"<{name}>\nOslo\n</{name}>") == ""


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        pytest.param("I know <memory>{}</memory> this", "I know this", id="within a line"),
        pytest.param(f"{MEMORY}\n{MEMORY}\nHello", "Hello", id="two"),
        pytest.param("<facts>a</facts> x <recalled>b</recalled>", "x", id="two names"),
        pytest.param("<MEMORY a='1'>\nOslo\n< /memory >\nHello", "Hello", id="capitals, attributes and spaces"),
        pytest.param("＜memory＞Oslo＜／memory＞ Hello", "Hello", id="full width"),
        pytest.param("<mem\u200bory>Oslo</memory> Hello", "Hello", id="invisible characters"),
        pytest.param("<earlier-conversation>a</EARLIER_CONVERSATION> Hello", "Hello", id="hyphen and underscore"),
        pytest.param("<memory>a <facts>b</facts> c</memory> Hello", "Hello", id="one within another"),
        pytest.param("<memory>a</facts> b</memory> Hello", "Hello", id="closed by its own name"),
        pytest.param("Hello\n  <memory>\nOslo, and then the answer was cut", "Hello", id="cut off"),
        pytest.param(
            "<earlier<memory>a</memory>conversation>b</earlier_conversation>",
            "&lt;earlier conversation>b&lt;/earlier_conversation>",
            id="a tag that its removal would make",
        ),
    ],
)
def test_blocks_are_taken_out_in_every_form(text: str, rest: str) -> None:
    assert without_blocks(text) == rest


@pytest.mark.parametrize(
    "text",
    [
        "What does the <memory> tag mean?",
        "</memory> closes nothing",
        "<memory/> is empty, </memory> too",
        "a < b > c, <b>bold</b>, <memories>x</memories>, <memory_card>y</memory_card>",
        "  spaces\n\n stay ",
        "List<Memory> of things",
    ],
)
def test_what_is_no_block_stays_as_it_is(text: str) -> None:
    assert without_blocks(text) == text


@given(st.lists(TAGS | st.sampled_from(["\n", " ", "a", "<", "mem", "ory>"]), max_size=12).map("".join))
def test_taking_blocks_out_twice_changes_nothing(text: str) -> None:
    once = without_blocks(text)
    assert without_blocks(once) == once


@pytest.mark.parametrize(
    "start",
    [
        "<memory>",
        "</memory>",
        "<memory></memory>",
        "<memory></facts>",
        "<memory>\n",
        "<",
        "< ",
        "<memory ",
        "\n<facts>a",
    ],
)
def test_taking_blocks_out_takes_time_in_proportion_to_the_length(start: str) -> None:
    text = start * (200_000 // len(start))
    began = time.perf_counter()
    without_blocks(text)
    without_blocks(text + "</memory></facts>")
    assert time.perf_counter() - began < 5


def test_nul_and_halves_of_characters_are_not_stored() -> None:
    assert storable("a\0b\ud83d 東\U0001f600") == "ab\ufffd 東\U0001f600"


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-aB3dE5gH7jK9mN1pQ2rS4tU6",
        "My password is hunter2",
        "password: letmein",
        "Wi-Fi password: sunshine1",
        "Passwort: sommer24",
        "AWS_SECRET_ACCESS_KEY = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "Authorization: Bearer abcdefgh12345678",
        "ghp_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd, glpat-aB3dE5gH7jK9mN1pQ2rS",
        "パスワード：sakura77",
    ],
)
def test_what_is_only_a_secret_is_told(text: str) -> None:
    assert is_only_secret(redact(text))


@pytest.mark.parametrize(
    "text",
    [
        "Deploys with the token ghp_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd to the Oslo cluster",
        "The database is postgres://ana:hunter2@db:5432/shop",
        "Keeps passwords in Bitwarden",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "Al",
        "❤",
    ],
)
def test_what_says_more_than_a_secret_is_told_apart(text: str) -> None:
    assert not is_only_secret(redact(text))


@pytest.mark.parametrize(
    "fact",
    [
        "Passwords are kept in 1Password",
        "Uses Bitwarden as password manager",
        "Never ask me for my password",
        "Token budget is 100000 per month",
        "API key is rotated every 90 days",
        "Works on the token-2022 program",
        "Secret Santa is 2025-12-12",
        "Prefers passkeys; password is a last resort",
        "Session key is renewed in 2024-05-01",
        "Private key is stored on a YubiKey5",
        "Mein Passwort ist immer lang",
        "Access token is JWT-based",
        "password hashing is argon2id",
        "Order id 4f9d-22, flight LH1234, IBAN DE89370400440532013000",
        "Build 7f0ff66d6d9fb6468416c58bee46bd3d08169501 broke the tests",
        "Birthday of Al: 1984-12-24",
    ],
)
def test_a_fact_about_such_things_stays(fact: str) -> None:
    assert redact(fact) == fact
