"""A conversation of 300 turns through the real server: what is sent stays flat, and each turn is compressed once."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from langgraph_sdk import get_client

from tests.support.langgraph_server import running_server
from tests.support.model_requests import ModelRequest
from tests.support.model_server import ModelServer, structured, text
from tests.support.product import PRODUCT
from tests.support.sdk_chat import messages_of, stream_turn

pytestmark = [pytest.mark.anyio, pytest.mark.server, pytest.mark.timeout(900)]

TURNS = 300
K = 10
"""MEMORY_THREAD_SUMMARY_KEEP_RECENT's default."""
SAID = "word " * 80
FLAT = 1.15
"""What the passes themselves add over 200 turns, one short entry each, is all that may come on top."""


def size(request: ModelRequest) -> int:
    return sum(len(str(message["content"])) for message in request.messages)


def heights(requests: Sequence[ModelRequest]) -> list[int]:
    """The largest request of each window: within one, requests grow until the next pass."""
    sizes = [size(request) for request in requests]
    return [max(sizes[start : start + K]) for start in range(0, len(sizes), K)]


async def test_what_is_sent_stays_flat_and_each_turn_is_compressed_once(tmp_path: Path) -> None:
    with ModelServer() as model:
        model.when("router", structured({"subagent": "chat_agent"}))
        model.when("title", text("A long talk"))
        model.when("chat", text(SAID))
        model.when("summary", structured({"entries": [{"question": "Q", "answer": "A", "refs": []}]}))
        with running_server(tmp_path, files=PRODUCT, env=model.environment) as server:
            async with get_client(url=server.url, api_key=None) as client:
                thread_id = (await client.threads.create())["thread_id"]
                for number in range(1, TURNS + 1):
                    turn = await stream_turn(client, thread_id, f"{number}. {SAID}")
                    assert turn.errors == []
                await model.wait_until(lambda: len(model.for_model("summary")) >= TURNS // K, timeout=30)
                kept = await messages_of(client, thread_id)

    chats, passes = model.for_model("chat"), model.for_model("summary")
    assert [message["content"] for message in kept[::2]] == [f"{number}. {SAID}" for number in range(1, TURNS + 1)]
    assert len(chats) == TURNS
    assert len(passes) == TURNS // K
    windows = heights(chats)
    assert max(windows[10:]) <= FLAT * max(windows[2:10])
    assert max(map(size, passes)) <= FLAT * min(map(size, passes))
