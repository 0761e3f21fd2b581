"""How far a long command is."""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager

import structlog
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def progress(description: str, *, total: int) -> Generator[Callable[[], None]]:
    """A bar on the error stream while the block runs, where that is a terminal; each call moves it on by one."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with _quiet(), Progress(*columns, console=console) as bar:
        task = bar.add_task(description, total=total)
        yield lambda: bar.advance(task)


@contextmanager
def _quiet() -> Generator[None]:
    """Lines about what went well would tear the bar."""
    configured = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    try:
        yield
    finally:
        structlog.configure(**configured)
