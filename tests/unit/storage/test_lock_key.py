import pytest

from backend.storage.locks import lock_key


def test_the_same_parts_give_the_same_key():
    assert lock_key("scope", "ana") == lock_key("scope", "ana")


@pytest.mark.parametrize(
    "other", [("scope", "ben"), ("thread", "ana"), ("scopeana",), ("scope", "a", "na"), ("scope", "ana", ""), ()]
)
def test_other_parts_give_another_key(other: tuple[str, ...]):
    assert lock_key("scope", "ana") != lock_key(*other)


def test_a_key_fits_into_64_bits_with_sign():
    keys = [lock_key("scope", str(number)) for number in range(1000)]
    assert all(-(2**63) <= key < 2**63 for key in keys)
    assert any(key < 0 for key in keys)
    assert len(set(keys)) == 1000
