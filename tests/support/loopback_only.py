"""Forbids every connection of a test to anything but this machine.

The root conftest imports the fixture `loopback_only`. An attempt is refused with pytest's own `Failed`, which no
`except Exception` swallows, and fails the test at its end in any case. Covered is all that goes through Python's
`socket` module (httpx, asyncio, urllib) while a test runs, name resolution included; not libpq and child processes.
"""

import ipaddress
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

_GUARDED = ("connect", "connect_ex", "sendto")

_Check = Callable[[object], None]


@pytest.fixture(autouse=True)
def loopback_only() -> Iterator[list[str]]:
    """The hosts that were refused in this test; a test that is refused on purpose removes them."""
    refused: list[str] = []

    def check(host: object) -> None:
        name = host.decode() if isinstance(host, bytes) else str(host)
        if not _is_loopback(name):
            refused.append(name)
            pytest.fail(f"a test tried to contact {name}, which is not this machine")

    with pytest.MonkeyPatch.context() as patch:
        for name in _GUARDED:
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name), check))
        patch.setattr(socket, "getaddrinfo", _guarded_lookup(socket.getaddrinfo, check))
        yield refused
    assert not refused, f"the test tried to contact {', '.join(refused)}"


def _guarded(original: Any, check: _Check) -> Any:
    def guarded(self: socket.socket, *arguments: Any) -> Any:
        if self.family in {socket.AF_INET, socket.AF_INET6}:
            check(arguments[-1][0])
        return original(self, *arguments)

    return guarded


def _guarded_lookup(original: Any, check: _Check) -> Any:
    def guarded(host: object, *arguments: Any, **options: Any) -> Any:
        check(host or "")
        return original(host, *arguments, **options)

    return guarded


def _is_loopback(name: str) -> bool:
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return name in {"", "localhost"}
    return address.is_loopback or address.is_unspecified
