"""Forgetting a thread or a user: everything at once, in an order that lets nothing come back."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from backend.errors import NotFound
from backend.ids import Json, ThreadId, UserId
from backend.memory.scope import user_of
from backend.memory.user_memory import UserMemory


class Accounts(Protocol):
    """What is kept of users beside their memory."""

    async def overlay(self, user_id: UserId) -> Mapping[str, Json]: ...
    async def forget(self, user_id: UserId) -> None: ...


class KnownThreads(Protocol):
    """Which scopes have anything of a thread."""

    async def scopes_of(self, thread_id: ThreadId) -> Sequence[str]: ...


class Server(Protocol):
    """The threads on the server."""

    async def threads_of(self, user_id: UserId) -> Sequence[ThreadId]: ...
    async def delete_thread(self, thread_id: ThreadId, *, user_id: UserId | None) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Every method may be repeated after a failure: what is gone already is no error."""

    memory_of: Callable[[UserId], UserMemory]
    accounts: Accounts
    known: KnownThreads
    server: Server

    async def thread_gone(self, thread_id: ThreadId) -> int:
        """A thread was deleted on the server: purge it in every scope that knows it; how many rows."""
        users = [user_of(scope) for scope in await self.known.scopes_of(thread_id)]
        return sum([await self.memory_of(user_id).summaries.purge(thread_id) for user_id in users])

    async def delete_thread(self, thread_id: ThreadId, *, user_id: UserId) -> None:
        """Delete a user's thread on the server and purge its summaries.

        Raises:
            NotFound: the user has neither the thread nor anything of it.
            ServerUnavailable: nothing was deleted, or the server did not say so in time.
        """
        on_server = await self._existed(self.server.delete_thread(thread_id, user_id=user_id))
        purged = await self.memory_of(user_id).summaries.purge(thread_id)
        if on_server:
            await self.thread_gone(thread_id)
        elif not purged:
            raise NotFound("no such thread")

    async def erase_user(self, user_id: UserId) -> Mapping[str, int]:
        """Erase all of a user's memory and account, and their threads where the server knows whose they are.

        Memory first, so that all of it is counted, and again once no turn can remember any more. Counts by kind.

        Raises:
            ServerUnavailable: some threads are left; when it could not be asked for them, nothing was erased.
        """
        threads = await self.server.threads_of(user_id)
        before = await self.erase_memory(user_id)
        deleted = sum([await self._existed(self.server.delete_thread(thread, user_id=user_id)) for thread in threads])
        after = await self.erase_memory(user_id)
        return {"threads": deleted, **{kind: before[kind] + after[kind] for kind in before}}

    async def erase_memory(self, user_id: UserId) -> Mapping[str, int]:
        """Erase what is remembered of a user; the threads stay. Counts by kind.

        The profile comes last: erasing it is what tells all processes to drop what they have cached, the account too.
        """
        memory = self.memory_of(user_id)
        await self.accounts.forget(user_id)
        counts = {
            "facts": await memory.facts.erase(),
            "episodes": await memory.episodes.erase(),
            "thread_summaries": await memory.summaries.erase(),
        }
        return {"profile_keys": await memory.profile.erase(), **counts}

    async def export(self, user_id: UserId) -> Mapping[str, Json]:
        """Everything that is remembered of a user, as JSON."""
        memory = self.memory_of(user_id)
        view = await memory.profile.view()
        return {
            "user_id": user_id,
            "profile": {key: view.memory[key] for key in view.store_keys},
            "account": await self.accounts.overlay(user_id),
            "facts": [fact.as_json() for fact in await memory.facts.stored()],
            "episodes": [episode.as_json() for episode in await memory.episodes.all()],
            "thread_summaries": [row.as_json() for row in await memory.summaries.all()],
        }

    async def _existed(self, deletion: Awaitable[None]) -> bool:
        try:
            await deletion
        except NotFound:
            return False
        return True
