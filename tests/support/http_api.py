"""The HTTP API in this process, over a database, and the server around it: sign-ins and threads that have owners."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID, uuid4

import httpx
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.accounts.identity import Identity
from backend.accounts.server_user import server_user
from backend.app import build
from backend.errors import NotFound
from backend.ids import Json, ThreadId, UserId
from backend.memory.summaries.service import Summaries
from tests.support.memory_homes import Home, Process
from tests.support.passes import fill
from tests.support.profile_patches import add
from tests.support.service_tokens import SERVICE_SECRET
from tests.support.threads import RecordedServer

TOKENS: Final[Mapping[str, object]] = {
    "auth_mode": "tokens",
    "auth_tokens": {"unused": {"user_id": "unused"}},
    "service_secret": SERVICE_SECRET,
}
"""Users sign in; who it is says the stand-in for the server's authentication."""

SPELLINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "as it is": str,
    "capitals": str.upper,
    "without hyphens": lambda text: text.replace("-", ""),
    "braces": lambda text: f"%7B{text}%7D",
    "urn": lambda text: f"urn:uuid:{text}",
}
"""Of the id of a thread in a path; a server takes all of them."""


class OwnedThreads(RecordedServer):
    """A server whose threads belong to users.

    `purge` is what it does on its own where it has deleted a thread, as the real one does by our middleware.
    """

    purge: Callable[[ThreadId], Awaitable[object]] | None = None

    def make_thread(self, owner: str, *, title: str = "A fine title") -> ThreadId:
        thread_id = ThreadId(str(uuid4()))
        self.metadata[thread_id] = {"owner": owner, "title": title}
        return thread_id

    async def thread_titles(self, thread_ids: Iterable[ThreadId], *, user_id: UserId | None) -> Mapping[ThreadId, str]:
        return await super().thread_titles([one for one in thread_ids if self._is_of(one, user_id)], user_id=user_id)

    async def threads_of(self, user_id: UserId) -> Sequence[ThreadId]:
        return [one for one in await super().threads_of(user_id) if self._is_of(one, user_id)]

    async def delete_thread(self, thread_id: ThreadId, *, user_id: UserId | None) -> None:
        if not self._is_of(thread_id, user_id):
            raise NotFound
        await super().delete_thread(thread_id, user_id=user_id)
        if self.purge is not None:
            await self.purge(thread_id)

    def _is_of(self, thread_id: ThreadId, user_id: UserId | None) -> bool:
        return self.metadata.get(thread_id, {}).get("owner") == user_id


@dataclass(frozen=True)
class Api:
    """The app of one process, and what it stands on."""

    app: FastAPI
    process: Process
    server: OwnedThreads

    def client(self, user_id: str | None = None, *permissions: str) -> httpx.AsyncClient:
        """Somebody who signed in; None for nobody. To be entered."""
        identity = Identity(UserId(user_id), permissions=frozenset(permissions)) if user_id is not None else None
        return client_of(SignedIn(self.app, identity))

    def summaries_of(self, user_id: str) -> Summaries:
        return self.process.memory_of(user_id).summaries

    async def remember(self, user_id: str, *, passes: int = 2, **profile: Json) -> ThreadId:
        """Give a user a profile and a thread with summaries."""
        memory = self.process.memory_of(user_id)
        if profile:
            await memory.profile.save([add(key, value) for key, value in profile.items()])
        thread_id = self.server.make_thread(user_id)
        await fill(memory.summaries, thread_id, passes, prefix=f"{user_id}/")
        return thread_id


@asynccontextmanager
async def running_api(home: Home, **settings: object) -> AsyncGenerator[Api]:
    """The app over a process of its own. Settings are those of `TOKENS` unless others are named."""
    server = OwnedThreads()
    async with home.process(server, **{**TOKENS, **settings}) as process:
        app = build(process.services)
        app.router.routes.extend(routes_of_the_server(server))
        yield Api(app, process, server)


def client_of(app: ASGIApp) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


class SignedIn:
    """Says who it is as the server's authentication does: in `scope["user"]`, and not at all without a sign-in."""

    def __init__(self, app: ASGIApp, identity: Identity | None) -> None:
        self._app = app
        self._identity = identity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._identity is not None:
            scope["user"] = SimpleNamespace(**server_user(self._identity, auth_mode="tokens"))
        await self._app(scope, receive, send)


def routes_of_the_server(server: OwnedThreads) -> list[Route]:
    """Those by which the server itself deletes threads; it adds its routes to the app, behind ours."""

    async def delete(request: Request) -> Response:
        return await answer([request.path_params["thread_id"]], request)

    async def prune(request: Request) -> Response:
        body: dict[str, Any] = await request.json()
        return await answer(body["thread_ids"] if body.get("strategy") != "keep_latest" else [], request)

    async def answer(thread_ids: Sequence[str], request: Request) -> Response:
        caller: str = request.scope["user"].identity
        threads = [ThreadId(str(UUID(one))) for one in thread_ids]
        if not set(threads) <= set(await server.threads_of(UserId(caller))):
            return JSONResponse({"detail": "Thread not found"}, 404)
        for thread_id in threads:
            await server.delete_thread(thread_id, user_id=UserId(caller))
        return JSONResponse({"pruned_count": len(threads)})

    async def get(request: Request) -> Response:
        return JSONResponse({"thread_id": request.path_params["thread_id"]})

    return [
        Route("/threads/prune", prune, methods=["POST"]),
        Route("/threads/{thread_id}", delete, methods=["DELETE"]),
        Route("/threads/{thread_id}", get, methods=["GET", "PATCH"]),
    ]
