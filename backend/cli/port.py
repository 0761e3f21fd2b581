"""Which port to serve on."""

import socket
from collections.abc import Callable

from backend.errors import SettingsError

HOST = "127.0.0.1"
NEXT_PORTS = 100


def choose_port(wanted: int, *, fixed: bool, is_free: Callable[[int], bool]) -> int:
    """The wanted port, or the next free one when it was not asked for by name (`fixed`).

    Raises:
        SettingsError: the port was asked for and is taken, or none of the next ones is free.
    """
    if is_free(wanted):
        return wanted
    if fixed:
        raise SettingsError(f"PORT: {wanted} is taken by another program; set PORT to a free one, or leave it out")
    for port in range(wanted + 1, min(wanted + 1 + NEXT_PORTS, 65536)):
        if is_free(port):
            return port
    raise SettingsError(f"PORT: {wanted} and the {NEXT_PORTS} ports after it are taken; set PORT to a free one")


def is_free(port: int) -> bool:
    """Whether nothing listens on the loopback port and a server may bind it.

    Both are tried: on some systems a port that another program holds on all addresses can still be bound here.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as caller:
        caller.settimeout(1)
        if caller.connect_ex((HOST, port)) == 0:
            return False
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError:
            return False
    return True
