"""Looks at what is stored: memory in the database itself, messages as the server shows them."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import psycopg
from langgraph_sdk.client import LangGraphClient
from psycopg.rows import TupleRow

from backend.ids import UserId
from backend.memory.scope import scope_label
from bench.load.ledger import Stored
from bench.load.script import mark_in
from tests.support.sdk_chat import messages_of

EPISODES = "SELECT content FROM memories WHERE kind = 'episode' ORDER BY created_at, id"
FACTS = "SELECT scope, content FROM memories WHERE kind = 'fact' AND status = 'active' ORDER BY created_at, id"
PASSES = "SELECT value FROM store WHERE value ? 'start_message_index'"
PROFILES = "SELECT prefix, value FROM store WHERE key = 'main'"


Marks = Mapping[str, Sequence[str]]
"""Of each thread, in the order of its messages."""


async def marks_in(client: LangGraphClient, threads: Iterable[str]) -> tuple[Marks, Marks]:
    """The marks of what was asked, and of the answers."""
    messages = {thread_id: await messages_of(client, thread_id) for thread_id in threads}
    asked, answers = (
        {thread_id: _marks(found, kind) for thread_id, found in messages.items()} for kind in ("human", "ai")
    )
    return asked, answers


async def look(url: str, *, users: Iterable[str], asked: Marks, answers: Marks) -> Stored:
    """The memory of these users, beside the messages of their threads. The database must answer."""
    labels = {scope_label(UserId(user)): user for user in users}
    return await asyncio.to_thread(_memory, url, labels, asked, answers)


def count_episodes(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM memories WHERE kind = 'episode'").fetchone()
        return int(row[0]) if row else 0


async def episodes_kept(url: str, wanted: int, *, within: float) -> float:
    """The seconds until there are so many episodes, or the `within` after which they are not waited for any longer."""
    began = time.monotonic()
    while await asyncio.to_thread(count_episodes, url) < wanted:
        if time.monotonic() - began > within:
            break
        await asyncio.sleep(0.1)
    return time.monotonic() - began


def _memory(url: str, labels: Mapping[str, str], asked: Marks, answers: Marks) -> Stored:
    with psycopg.connect(url) as connection:
        episodes = [str(content) for (content,) in connection.execute(EPISODES)]
        facts = _by_user(connection.execute(FACTS), labels)
        profiles = _by_user(connection.execute(PROFILES), labels)
        passes = [value for (value,) in connection.execute(PASSES)]
    return Stored(
        asked=asked,
        answers=answers,
        episodes=[mark for content in episodes if (mark := mark_in(content))],
        windows=_windows(passes, asked),
        keys={user: list(found[0]) for user, found in profiles.items()},
        facts=facts,
    )


def _by_user(rows: Iterable[TupleRow], labels: Mapping[str, str]) -> dict[str, list[Any]]:
    """The second column by the user whose label begins the first."""
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for place, value in rows:
        user = labels.get(str(place).partition(".")[0])
        if user is not None:
            found[user].append(value)
    return dict(found)


def _windows(passes: Sequence[Mapping[str, Any]], threads: Iterable[str]) -> Mapping[str, Sequence[tuple[int, int]]]:
    ordered = sorted(passes, key=lambda one: int(one["sequence"]))
    return {
        thread_id: [
            (int(one["start_message_index"]), int(one["end_message_index"]))
            for one in ordered
            if one["thread_id"] == thread_id
        ]
        for thread_id in threads
    }


def _marks(messages: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    contents = [cast("object", one["content"]) for one in messages if one["type"] == kind]
    return [mark for content in contents if isinstance(content, str) and (mark := mark_in(content))]
