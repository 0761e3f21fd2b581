"""Looks at what is stored: memory in the database itself, messages as the server shows them."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg
from langgraph_sdk.client import LangGraphClient

from backend.ids import UserId
from backend.memory.scope import scope_label
from bench.load.ledger import Stored, Window
from bench.load.script import mark_in
from tests.support.sdk_chat import messages_of

EPISODES = "SELECT content FROM memories WHERE kind = 'episode'"
FACTS = "SELECT content FROM memories WHERE kind = 'fact' AND status = 'active'"
PROFILES = "SELECT prefix, value FROM store WHERE key = 'main'"
PASSES = """
SELECT value->>'thread_id', (value->>'start_message_index')::int, (value->>'end_message_index')::int
FROM store WHERE value ? 'start_message_index'
"""

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


async def remembered(url: str, *, episodes: int, summarized: int, within: float) -> float:
    """The seconds until there are so many episodes and turns in summaries, or `within` when there are not by then."""
    began = time.monotonic()
    while time.monotonic() - began < within:
        found = await asyncio.to_thread(_memory, url, {}, {}, {})
        turns = sum(last - first + 1 for windows in found.windows.values() for first, last in windows)
        if len(found.episodes) >= episodes and turns >= summarized:
            return time.monotonic() - began
        await asyncio.sleep(0.2)
    return within


def _memory(url: str, labels: Mapping[str, str], asked: Marks, answers: Marks) -> Stored:
    windows: defaultdict[str, list[Window]] = defaultdict(list)
    with psycopg.connect(url) as connection:
        episodes = [mark for (content,) in connection.execute(EPISODES) if (mark := mark_in(content))]
        facts = [str(content) for (content,) in connection.execute(FACTS)]
        keys = {labels.get(prefix.partition(".")[0], ""): list(value) for prefix, value in connection.execute(PROFILES)}
        for thread_id, first, last in connection.execute(PASSES):
            windows[thread_id].append((first, last))
    return Stored(asked=asked, answers=answers, episodes=episodes, windows=windows, keys=keys, facts=facts)


def _marks(messages: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    contents = [one["content"] for one in messages if one["type"] == kind]
    return [mark for content in contents if isinstance(content, str) and (mark := mark_in(content))]
