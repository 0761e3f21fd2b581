"""A client of a real server: sends turns over the SDK and keeps what streamed."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.schema import ThreadState

HUMAN = "human"


@dataclass
class StreamedTurn:
    """What one turn sent: the texts of streamed messages by id, errors, and when the first token came."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    errors: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    first_token_seconds: float | None = None
    seconds: float = 0.0

    @property
    def text(self) -> str:
        return "".join(self.texts.values())


async def stream_turn(
    client: LangGraphClient, thread_id: str, message: str | Mapping[str, Any], **run: Any
) -> StreamedTurn:
    """One turn in `messages-tuple` mode, as a chat page would send it."""
    sent = {"role": HUMAN, "content": message} if isinstance(message, str) else dict(message)
    turn, started = StreamedTurn(), time.monotonic()
    streaming: Callable[..., AsyncIterator[Any]] = client.runs.stream
    async for event in streaming(thread_id, "agent", input={"messages": [sent]}, stream_mode="messages-tuple", **run):
        data: Any = event.data
        if event.event == "error":
            turn.errors.append(data)
        elif event.event == "messages" and data[0]["type"] == "AIMessageChunk":
            chunk = data[0]
            turn.first_token_seconds = turn.first_token_seconds or time.monotonic() - started
            turn.texts[chunk["id"]] = turn.texts.get(chunk["id"], "") + str(chunk["content"])
    turn.seconds = time.monotonic() - started
    return turn


async def messages_of(client: LangGraphClient, thread_id: str) -> Sequence[Mapping[str, Any]]:
    return values_of(await client.threads.get_state(thread_id)).get("messages", [])


def values_of(state: ThreadState) -> Mapping[str, Any]:
    """What a state holds, of which the SDK says too little."""
    return cast("Mapping[str, Any]", state["values"])


async def metadata_when(
    client: LangGraphClient, thread_id: str, key: str, timeout_seconds: float = 15.0
) -> Mapping[str, Any]:
    """The thread's metadata as soon as they have `key`: background runs write them after the answer."""
    async with asyncio.timeout(timeout_seconds):
        while key not in (metadata := (await client.threads.get(thread_id))["metadata"] or {}):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return metadata
