"""Ctrl-C, a closed terminal and `kill` as two events: stop, and stop at once."""

import asyncio
import signal
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class StopSignals:
    """What was asked for so far."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)
    at_once: asyncio.Event = field(default_factory=asyncio.Event)

    def receive(self) -> None:
        """Take a signal; the second one means that stopping takes too long."""
        (self.at_once if self.stop.is_set() else self.stop).set()


@contextmanager
def stop_signals() -> Generator[StopSignals]:
    """Within the block a signal ends nothing by itself; it only sets the events. Needs the main thread's event loop."""
    loop = asyncio.get_running_loop()
    received = StopSignals()
    for number in SIGNALS:
        loop.add_signal_handler(number, received.receive)
    try:
        yield received
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
