"""`afterthought export`: everything that is remembered of a user, as JSON."""

import argparse
import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

from backend.cli.memory_access import named_or_default, open_memory, user_id
from backend.cli.terminal import Terminal, printable
from backend.errors import InvalidInput
from backend.ids import Json, UserId
from backend.settings import Settings, load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--user",
        metavar="ID",
        type=user_id,
        help="whose memory; may be left out with AUTH_MODE=none, where it is AUTH_DEFAULT_USER",
    )
    parser.add_argument("--out", metavar="FILE", type=Path, help="write to this file instead of printing")
    parser.epilog = "Needs the database and no running server. The threads themselves are the server's to export."


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    settings = load_settings()
    text = as_text(asyncio.run(export(settings, named_or_default(options.user, settings))))
    if options.out is None:
        terminal.say(text)
    else:
        _write(options.out, text)
    return 0


async def export(settings: Settings, whose: UserId) -> Mapping[str, Json]:
    """What `GET /api/memory/export` answers for this user. Raises as `open_memory`."""
    async with open_memory(settings) as services:
        return await services.forgetting.export(whose)


def as_text(document: Mapping[str, Json]) -> str:
    """JSON for people too; all in ASCII where a character could steer the terminal, which would drop it."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return text if printable(text) == text else json.dumps(document, indent=2)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"--out: {path} cannot be written: {error.strerror}") from None
