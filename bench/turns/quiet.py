"""A measurement prints its tables and warnings, not what is logged at every turn."""

import logging

import structlog


def only_warnings() -> None:
    """Call it before anything is logged: what configures logging later leaves it as it is."""
    structlog.configure(
        processors=[structlog.processors.add_log_level, structlog.dev.ConsoleRenderer(colors=False)],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
    )
