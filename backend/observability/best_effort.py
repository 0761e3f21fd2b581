"""The one place where an unexpected error is swallowed: what may fail without failing the turn."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog

from backend.errors import AfterthoughtError

log = structlog.stdlib.get_logger(__name__)


@dataclass(slots=True)
class Attempt:
    """What became of the work inside `best_effort`."""

    failed: bool = False


@asynccontextmanager
async def best_effort(action: str, **ids: str | int | None) -> AsyncGenerator[Attempt]:
    """Run the block; on any error write one log line `<action>_failed` with the ids and go on after the block.

    Errors of our own carry their whole story in the message; others are logged with a traceback. Cancellation
    passes, because it is an order and not a failure.
    """
    attempt = Attempt()
    try:
        yield attempt
    except AfterthoughtError as error:
        attempt.failed = True
        log.warning(f"{action}_failed", code=error.code, reason=error.message, **ids)
    except Exception as error:
        attempt.failed = True
        log.warning(f"{action}_failed", code=type(error).__name__, exc_info=True, **ids)
