import socket
from collections.abc import Iterator

import pytest

from backend.cli.port import HOST, choose_port, is_free
from backend.errors import SettingsError


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.mark.parametrize(
    ("wanted", "taken", "chosen"),
    [
        pytest.param(2024, set[int](), 2024, id="free"),
        pytest.param(2024, {2024}, 2025, id="taken"),
        pytest.param(2024, {2024, 2025, 2026}, 2027, id="taken with its neighbours"),
        pytest.param(65534, {65534}, 65535, id="at the end"),
    ],
)
def test_the_next_free_port_is_used_where_the_default_is_taken(wanted: int, taken: set[int], chosen: int) -> None:
    assert choose_port(wanted, fixed=False, is_free=lambda port: port not in taken) == chosen


def test_a_port_that_was_asked_for_and_is_taken_is_an_error_that_names_it() -> None:
    with pytest.raises(SettingsError, match="PORT: 2024 is taken"):
        choose_port(2024, fixed=True, is_free=lambda port: port != 2024)


@pytest.mark.parametrize("wanted", [2024, 65535])
def test_no_free_port_at_all_is_an_error(wanted: int) -> None:
    with pytest.raises(SettingsError, match=f"PORT: {wanted} and"):
        choose_port(wanted, fixed=False, is_free=lambda _: False)


def test_a_port_that_another_program_listens_on_is_not_free(taken_port: int) -> None:
    assert not is_free(taken_port)


def test_a_port_is_free_again_when_its_program_has_ended() -> None:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen()
        port = listener.getsockname()[1]

    assert is_free(port)


def test_a_port_that_another_program_holds_on_all_addresses_is_not_free() -> None:
    with socket.socket() as listener:
        listener.bind(("0.0.0.0", 0))  # noqa: S104
        listener.listen()

        assert not is_free(listener.getsockname()[1])
