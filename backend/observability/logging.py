"""What may be logged: events with ids, never what somebody said, and no address with what was asked in it."""

import logging
import sys
from typing import Final

import structlog

TALKATIVE: Final = ("httpx", "httpx2", "httpcore", "openai")
"""At INFO these log every address with its query, which holds what the user asked for."""


def configure_logging() -> None:
    """Called once per process, before anything is logged. A server that has configured structlog keeps its own form.

    structlog's own default prints the local variables of every frame of a traceback, which are messages and memory.
    """
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    if not structlog.is_configured():
        structlog.configure(
            processors=[
                structlog.contextvars.merge_contextvars,
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.dev.ConsoleRenderer(
                    colors=sys.stdout.isatty(), exception_formatter=structlog.dev.plain_traceback
                ),
            ]
        )
