"""All that is remembered of one user: the only way to it, so that nothing is read or written without a scope."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from langgraph.store.base import BaseStore

from backend.ids import UserId
from backend.memory.episodes import Episodes
from backend.memory.facts.service import Facts
from backend.memory.profile.service import Profile
from backend.memory.search import Search
from backend.memory.summaries.service import Summaries


@dataclass(frozen=True, slots=True)
class UserMemory:
    """What one user's turns, tools and page can reach."""

    user_id: UserId
    profile: Profile
    summaries: Summaries
    facts: Facts
    episodes: Episodes
    search: Search
    token: Callable[[], Awaitable[str]]
    """Another text whenever the user's memory has changed in any process, and now and then without that."""


MemoryOf = Callable[[UserId | None, BaseStore | None], UserMemory | None]
"""Opens a user's memory in a store: in a run the server's own. None when nobody speaks, or without a store."""
