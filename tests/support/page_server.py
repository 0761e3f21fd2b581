"""The server as delivered, for the tests of its page: each test is a visitor of its own, whose memory it can fill.

A visitor's requests go over HTTP as any client's do, so what a test prepares is what the page would find.
"""

import json
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from langgraph_sdk.client import LangGraphClient

from tests.support.conditions import eventually
from tests.support.langgraph_server import running_server
from tests.support.model_server import ModelServer, Reply, call, structured, text, tool_calls
from tests.support.postgres import TestServer
from tests.support.product import PRODUCT, Product
from tests.support.sdk_chat import messages_of, stream_turn
from tests.support.service_tokens import SERVICE_SECRET
from tests.support.two_users import client, http

VISITORS: Final = 200
TURNS_A_SUMMARY: Final = 2
ENTRIES: Final = structured({"entries": [{"question": "What?", "answer": "That.", "refs": ["#1", "#2"]}]})
TITLE: Final = "A fine title"
HELLO: Final = "Hello there."


def token_of(number: int) -> str:
    return f"token-of-visitor-{number:03}-0123456789"


def _owners() -> dict[str, dict[str, str]]:
    """Each has a name and an address from the sign-in."""
    return {
        token_of(number): {"user_id": f"visitor-{number:03}", "name": "Ana López", "email": "ana@example.org"}
        for number in range(VISITORS)
    }


class PageServer(Product):
    """A server that asks for a sign-in."""

    def reset_script(self) -> None:
        """The models say hello, name every thread alike, and summarize every two turns."""
        self.model.reset()
        self.model.when("router", structured({"subagent": "chat_agent"}))
        self.model.when("title", text(TITLE))
        self.model.when("chat", text(HELLO))
        self.model.when("summary", ENTRIES)


@contextmanager
def page_server(directory: Path, postgres: TestServer) -> Generator[PageServer]:
    database_url = postgres.create_database()
    with ModelServer() as model:
        variables = {
            **model.environment,
            "DATABASE_URL": database_url,
            "AUTH_MODE": "tokens",
            "AUTH_TOKENS": json.dumps(_owners()),
            "SERVICE_SECRET": SERVICE_SECRET,
            "MEMORY_THREAD_SUMMARY_KEEP_RECENT": str(TURNS_A_SUMMARY),
            "MEMORY_FACTS_MAX": "600",
            "MEMORY_FACTS_MAX_CHARS": "200000",
        }
        with running_server(directory, files=PRODUCT, env=variables) as server:
            yield PageServer(server, model)
        model.reset()
    postgres.drop_database(database_url)


def saves(**profile: Any) -> Reply:
    """The model's call that puts these keys into the profile."""
    patches = [{"op": "add", "path": f"/{key}", "value": value} for key, value in profile.items()]
    return tool_calls(call("save_memory", {"patches": patches}))


@dataclass(frozen=True)
class Visitor:
    """Somebody who is signed in, as other clients of theirs see them."""

    server: PageServer
    token: str
    user_id: str

    @property
    def model(self) -> ModelServer:
        return self.server.model

    @asynccontextmanager
    async def _api(self) -> AsyncGenerator[httpx.AsyncClient]:
        async with http(self.server.server, self.token) as api:
            yield api

    @asynccontextmanager
    async def _sdk(self) -> AsyncGenerator[LangGraphClient]:
        async with client(self.server.server, self.token) as sdk:
            yield sdk

    async def get(self, path: str) -> Any:
        async with self._api() as api:
            return _json_of(await api.get(path))

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        async with self._api() as api:
            return _json_of(await api.post(path, json=body))

    async def note(self, content: str, **fields: Any) -> dict[str, Any]:
        return await self.post("/api/memory/facts", {"content": content, **fields})

    async def note_all(self, contents: Iterable[str]) -> None:
        async with self._api() as api:
            for content in contents:
                _json_of(await api.post("/api/memory/facts", json={"content": content}))

    async def notes(self) -> list[str]:
        return [fact["content"] for fact in (await self.get("/api/memory/facts"))["facts"]]

    async def change_note(self, note: Mapping[str, Any], content: str) -> None:
        """As another tab of the same person would."""
        body = {"version": note["version"], "content": content}
        async with self._api() as api:
            _json_of(await api.patch(f"/api/memory/facts/{note['id']}", json=body))

    async def profile(self) -> dict[str, Any]:
        return (await self.get("/api/memory/profile"))["memory"]

    async def saved(self, **profile: Any) -> str:
        """A thread in which the model saved these keys; its id."""
        self.model.then(saves(**profile), text("Noted."), to="chat")
        return await self.chat("Keep this.")

    async def thread(self, title: str | None = None) -> str:
        metadata = {"graph_id": "agent", **({"title": title} if title else {})}
        return (await self.post("/threads", {"metadata": metadata}))["thread_id"]

    async def chat(self, *said: str, thread_id: str | None = None) -> str:
        """Turns in a thread; its id."""
        thread_id = thread_id or await self.thread()
        async with self._sdk() as sdk:
            for one in said:
                turn = await stream_turn(sdk, thread_id, one)
                assert turn.errors == []
        return thread_id

    async def summarized(self) -> str:
        """A thread with a summary; its id."""
        thread_id = await self.chat("What is there to see in Oslo?", "And in Bergen?")
        await self.when(lambda: self.has_summary(thread_id))
        return thread_id

    async def has_summary(self, thread_id: str) -> bool:
        threads = (await self.get("/api/memory/threads"))["threads"]
        return thread_id in {thread["thread_id"] for thread in threads}

    async def episodes(self) -> list[dict[str, Any]]:
        return (await self.get("/api/memory/episodes"))["episodes"]

    async def thread_ids(self) -> list[str]:
        """Of chats: a background run has a thread too, while it lasts."""
        found = await self.post("/threads/search", {"limit": 100, "metadata": {"graph_id": "agent"}})
        return [thread["thread_id"] for thread in found]

    async def title_of(self, thread_id: str) -> Any:
        return ((await self.get(f"/threads/{thread_id}"))["metadata"]).get("title")

    async def messages(self, thread_id: str) -> Sequence[Mapping[str, Any]]:
        async with self._sdk() as sdk:
            return await messages_of(sdk, thread_id)

    async def filled_thread(self, messages: Sequence[Mapping[str, Any]], title: str) -> str:
        """A thread that has these messages without a model having been asked; its id."""
        thread_id = await self.thread(title)
        await self.post(
            f"/threads/{thread_id}/state", {"values": {"messages": list(messages)}, "as_node": "chat_agent"}
        )
        return thread_id

    async def when(self, condition: Callable[[], Any]) -> None:
        """As soon as it holds; background runs have up to half a minute."""
        await eventually(condition, timeout_seconds=30)


def _json_of(response: httpx.Response) -> Any:
    assert response.is_success, f"{response.status_code}: {response.text}"
    return response.json() if response.content else None
