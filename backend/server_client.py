"""The server that runs us, as seen from inside a run: its threads and its background runs, over the SDK."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final, cast
from uuid import UUID
from weakref import WeakKeyDictionary

import httpx
from langchain_core.messages import BaseMessage, convert_to_messages
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import LangGraphError, NotFoundError
from langgraph_sdk.schema import Config

from backend.accounts.service_token import Purpose, sign_service_token
from backend.errors import NotFound, ServerUnavailable
from backend.ids import Json, ThreadId, UserId
from backend.settings import Settings

PAGE: Final = 100
DELETE_SECONDS: Final = 15.0
"""Runs are stopped first, and what is stored goes before the server answers."""
STOP_SECONDS: Final = 5.0
"""A run that is cancelled ends at its next await; a tool that does not give way is not waited for longer."""


class ServerClient:
    """Talks to the server as the user of the turn, with a token that it signs itself and that lives a minute.

    Without `self_url` the SDK's in-process transport is used, which passes the server's authentication by; it
    serves `AUTH_MODE=none` only. One client per event loop, because its connections belong to the loop.
    """

    def __init__(self, *, settings: Settings, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._url = settings.self_url or None
        self._timeout_seconds = settings.server_timeout_seconds
        self._secret = settings.service_secret.get_secret_value() if settings.auth_mode != "none" else ""
        self._clock = clock
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, LangGraphClient] = WeakKeyDictionary()

    async def thread_metadata(self, thread_id: ThreadId, *, user_id: UserId | None) -> Mapping[str, Json]:
        """The metadata of a thread.

        Raises:
            NotFound: no such thread, or not this user's.
            ServerUnavailable: the server did not answer in time.
        """
        async with self._request():
            thread = await self._client().threads.get(thread_id, headers=self._headers(user_id))
        return cast("Mapping[str, Json]", thread["metadata"] or {})

    async def update_thread_metadata(
        self, thread_id: ThreadId, changes: Mapping[str, Json], *, user_id: UserId | None
    ) -> None:
        """Set some keys of a thread's metadata; the others stay. Raises as `thread_metadata` does."""
        async with self._request():
            await self._client().threads.update(thread_id, metadata=dict(changes), headers=self._headers(user_id))

    async def thread_messages(self, thread_id: ThreadId, *, user_id: UserId | None) -> Sequence[BaseMessage]:
        """The messages in a thread's latest state. Raises as `thread_metadata` does."""
        async with self._request():
            state = await self._client().threads.get_state(thread_id, headers=self._headers(user_id))
        values = cast("Mapping[str, Any]", state["values"] or {})
        return convert_to_messages(values.get("messages") or [])

    async def start_background_run(self, turn: Mapping[str, Json], *, user_id: UserId | None) -> None:
        """Start a stateless run of `background_agent`; returns when the server has taken it, not when it is done.

        Stateless, because a thread of its own would show in every client's thread list and a run on the chat's
        thread would block or reject the next message. All of `turn` is input: not every server keeps metadata.
        """
        named = None if self._secret else {"configurable": {"user_id": user_id or ""}}
        async with self._request():
            await self._client().runs.create(
                None,
                "background_agent",
                input=cast("dict[str, Any]", dict(turn)),
                config=cast("Config | None", named),
                headers=self._headers(user_id),
            )

    async def thread_titles(self, thread_ids: Iterable[ThreadId], *, user_id: UserId | None) -> Mapping[ThreadId, str]:
        """The titles of those of the threads that exist and have one.

        Raises:
            ServerUnavailable: the server did not answer in time.
        """
        ids = [thread_id for thread_id in thread_ids if _is_uuid(thread_id)]
        titles: dict[ThreadId, str] = {}
        for start in range(0, len(ids), PAGE):
            async with self._request():
                threads = await self._client().threads.search(
                    ids=ids[start : start + PAGE],
                    limit=PAGE,
                    select=["thread_id", "metadata"],
                    headers=self._headers(user_id),
                )
            named = {ThreadId(thread["thread_id"]): (thread["metadata"] or {}).get("title") for thread in threads}
            titles |= {thread_id: title for thread_id, title in named.items() if isinstance(title, str)}
        return titles

    async def threads_of(self, user_id: UserId) -> Sequence[ThreadId]:
        """The user's threads. Without authentication threads belong to nobody, and there are none to tell."""
        return await self._threads(user_id) if self._secret else ()

    async def all_threads(self) -> Sequence[ThreadId]:
        """Every thread that the server has; one with authentication refuses to tell."""
        return await self._threads(None)

    async def latest_configurable(self, thread_id: ThreadId) -> Mapping[str, Json]:
        """The `configurable` of the run that made a thread's latest state, which LangGraph keeps with the state.

        Raises as `thread_metadata` does.
        """
        async with self._request():
            state = await self._client().threads.get_state(thread_id)
        return cast("Mapping[str, Json]", state["metadata"] or {})

    async def delete_thread(self, thread_id: ThreadId, *, user_id: UserId | None) -> None:
        """Delete a thread with its checkpoints. Raises as `thread_metadata` does."""
        if not _is_uuid(thread_id):
            raise NotFound("no such thread")
        async with self._request(seconds=DELETE_SECONDS):
            await self._client().threads.delete(thread_id, headers=self._headers(user_id, purpose="erase"))

    async def _threads(self, user_id: UserId | None) -> Sequence[ThreadId]:
        found: list[ThreadId] = []
        while True:
            async with self._request():
                page = await self._client().threads.search(
                    limit=PAGE, offset=len(found), select=["thread_id"], headers=self._headers(user_id)
                )
            found += [ThreadId(thread["thread_id"]) for thread in page]
            if len(page) < PAGE:
                # a thread that was made meanwhile has shifted the pages
                return list(dict.fromkeys(found))

    async def stop_runs(self, thread_id: ThreadId, *, authorization: str | None) -> int:
        """Cancel what runs in a thread and wait for its end, in the name of whoever sent the header; how many runs.

        Raises:
            NotFound: there is no such thread for them.
            ServerUnavailable: the server did not answer, or a run did not end, in time.
        """
        headers = {"authorization": authorization} if authorization else {}
        runs = self._client().runs
        async with self._request(seconds=STOP_SECONDS):
            active = [
                run["run_id"]
                for status in ("running", "pending")
                for run in await runs.list(thread_id, status=status, headers=headers)
            ]
            await asyncio.gather(*(runs.cancel(thread_id, run_id, wait=True, headers=headers) for run_id in active))
        return len(active)

    def _client(self) -> LangGraphClient:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = get_client(url=self._url, api_key=None)
        return self._clients[loop]

    def _headers(self, user_id: UserId | None, *, purpose: Purpose = "dispatch") -> dict[str, str]:
        if not self._secret or user_id is None:
            return {}
        token = sign_service_token(user_id, secret=self._secret, now=self._clock(), purpose=purpose)
        return {"authorization": f"Bearer {token}"}

    @asynccontextmanager
    async def _request(self, *, seconds: float | None = None) -> AsyncGenerator[None]:
        try:
            async with asyncio.timeout(seconds or self._timeout_seconds):
                yield
        except NotFoundError:
            raise NotFound("no such thread") from None
        except (TimeoutError, LangGraphError, httpx.HTTPError) as error:
            raise ServerUnavailable(f"the server did not take a request: {type(error).__name__}") from error


def _is_uuid(thread_id: ThreadId) -> bool:
    try:
        UUID(thread_id)
    except ValueError:
        return False
    return True
