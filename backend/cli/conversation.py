"""A chat as the client sees it: a thread on a server, and what comes back while a message is answered."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import cast
from uuid import uuid4

import httpx
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIStatusError, AuthenticationError, NotFoundError, PermissionDeniedError
from langgraph_sdk.schema import Config, RunCreateMetadata, Thread

from backend.errors import InvalidInput, NotFound, ServerUnavailable, Unauthenticated
from backend.ids import Json, ThreadId
from backend.llm.content import parts_of, well_formed

GRAPH = "agent"
CANCEL_SECONDS = 5.0
TIMEOUT = httpx.Timeout(5, read=300)
THREADS_LISTED = 10
MAX_ARGUMENT_CHARS = 120
AI_TYPES = frozenset({"ai", "AIMessageChunk"})
"""What the model says comes in chunks, or whole where it does not stream."""


@dataclass(frozen=True, slots=True)
class Said:
    """The next part of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A tool that the model called."""

    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolFailed:
    """A tool that could not do it; the model has been told and goes on."""

    message: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The run ended without an answer."""

    message: str


Piece = Said | Called | ToolFailed | Failed


def connect(url: str, *, token: str | None) -> LangGraphClient:
    """A client of the server at `url`; nothing is sent yet.

    Not the SDK's `get_client`: it sends a LANGSMITH_API_KEY of the environment to whatever server this is, and tries
    each connection six times, so that a server that went away in the middle of an answer is noticed minutes later.
    """
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return LangGraphClient(httpx.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT))


class Conversation:
    """Messages to one thread, which is made when the first one is sent."""

    def __init__(self, client: LangGraphClient, *, user: str | None) -> None:
        self._client = client
        self._config = cast("Config | None", {"configurable": {"user_id": user}} if user is not None else None)
        self.thread_id: ThreadId | None = None

    async def resume(self, thread_id: ThreadId) -> Sequence[tuple[str, str]]:
        """Go on with a thread; its last exchange, as pairs of role (`human` or `ai`) and text.

        Raises:
            NotFound: there is no such thread, or it is someone else's.
            ServerUnavailable, Unauthenticated: as for every request.
        """
        async with translated_errors():
            thread = await self._client.threads.get(thread_id)
        self.thread_id = ThreadId(thread["thread_id"])
        return _last_exchange(thread)

    def start_over(self) -> None:
        """The next message starts a new thread."""
        self.thread_id = None

    async def threads(self) -> Sequence[Thread]:
        """The latest threads, newest first."""
        async with translated_errors():
            return await self._client.threads.search(
                metadata={"graph_id": GRAPH}, limit=THREADS_LISTED, sort_by="updated_at", sort_order="desc"
            )

    async def ask(self, text: str, *, show: Callable[[Piece], None]) -> None:
        """Send a message and show its answer as it comes. Cancelling this cancels the run on the server too.

        The message has an id, so that a run which a server begins again after a kill does not add it a second time.

        Raises:
            AfterthoughtError: the message was not taken, or the server went away; see `translated_errors`.
        """
        created: list[RunCreateMetadata] = []
        async with translated_errors():
            stream = self._client.runs.stream(
                self.thread_id or await self._new_thread(),
                GRAPH,
                input={"messages": [{"role": "human", "id": str(uuid4()), "content": well_formed(text)}]},
                config=self._config,
                stream_mode=["messages-tuple", "updates"],
                stream_resumable=True,
                on_run_created=created.append,
            )
            try:
                async for part in stream:
                    for piece in read_part(part.event, cast("Json", part.data)):
                        show(piece)
            except asyncio.CancelledError:
                await self._cancel(created)
                raise

    async def _new_thread(self) -> ThreadId:
        thread = await self._client.threads.create(graph_id=GRAPH)
        self.thread_id = ThreadId(thread["thread_id"])
        return self.thread_id

    async def _cancel(self, created: Sequence[RunCreateMetadata]) -> None:
        """End the run, so that the next message does not wait for an answer that nobody reads."""
        if not created or self.thread_id is None:
            return
        with suppress(httpx.HTTPError, TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                await self._client.runs.cancel(self.thread_id, created[0]["run_id"], wait=True)


@asynccontextmanager
async def translated_errors() -> AsyncGenerator[None]:
    """Within the block the SDK's errors become ours.

    Raises:
        Unauthenticated: the server wants another token, or one at all.
        NotFound: there is no such thread or graph, or it is someone else's.
        InvalidInput: the server refused the request; its reason is the message.
        ServerUnavailable: nothing answers.
    """
    try:
        yield
    except (AuthenticationError, PermissionDeniedError) as error:
        raise Unauthenticated(f"The server refuses this token, or asks for one (--token): {error.message}") from error
    except NotFoundError as error:
        raise NotFound(f"Not found: {error.message}") from error
    except APIStatusError as error:
        raise InvalidInput(f"The server answered {error.status_code}: {error.message}") from error
    except httpx.HTTPError as error:
        raise ServerUnavailable(f"The server does not answer any more: {error or type(error).__name__}") from error


def read_part(event: str, data: Json) -> list[Piece]:
    """What one event of the stream says to a person; most say nothing."""
    if event == "messages" and isinstance(data, Sequence) and data:
        return _said(data[0])
    if event == "updates" and isinstance(data, Mapping):
        return [piece for update in data.values() for message in _messages_in(update) for piece in _noted(message)]
    if event == "error":
        return [Failed(_error_message(data))]
    return []


def _said(message: Json) -> list[Piece]:
    if not isinstance(message, Mapping) or message.get("type") not in AI_TYPES:
        return []
    text = _spoken(message)
    return [Said(text)] if text else []


def _noted(message: Json) -> list[Piece]:
    """A message that a step added whole: its tool calls, or a tool's failure. Its text has been streamed."""
    if not isinstance(message, Mapping):
        return []
    calls = message.get("tool_calls")
    if isinstance(calls, Sequence):
        return [_called(call) for call in calls if isinstance(call, Mapping)]
    if message.get("type") == "tool" and message.get("status") == "error":
        return [ToolFailed(_spoken(message))]
    return []


def _called(call: Mapping[str, Json]) -> Called:
    arguments = call.get("args")
    listed = arguments.items() if isinstance(arguments, Mapping) else ()
    text = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in listed)
    return Called(str(call.get("name")), shorten(text, MAX_ARGUMENT_CHARS))


def _messages_in(update: Json) -> Sequence[Json]:
    messages = update.get("messages") if isinstance(update, Mapping) else None
    return messages if isinstance(messages, Sequence) and not isinstance(messages, str) else ()


def _error_message(data: Json) -> str:
    if isinstance(data, Mapping):
        return str(data.get("message") or data.get("error") or "The answer failed.")
    return str(data)


def _spoken(message: Mapping[str, Json]) -> str:
    return "".join(text for is_spoken, text in parts_of(message.get("content")) if is_spoken)


def shorten(text: str, limit: int) -> str:
    """One line of at most `limit` characters, with a mark where it was cut."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _last_exchange(thread: Thread) -> list[tuple[str, str]]:
    values = cast("Json", thread.get("values"))
    spoken = [
        (str(message.get("type")), _spoken(message))
        for message in _messages_in(values)
        if isinstance(message, Mapping) and message.get("type") in {"human", "ai"}
    ]
    return [(role, text) for role, text in spoken if text][-2:]
