"""What a client makes of what it hears, and who has which thread."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from bench.load.traffic import Heard, Traffic, make_chats
from tests.support.conditions import until


def message(kind: str, **values: Any) -> list[Mapping[str, Any]]:
    return [{"type": kind, "content": "", **values}, {}]


def test_the_text_of_an_answer_comes_in_pieces() -> None:
    heard = Heard()
    for piece in ("I heard ", "[a]."):
        heard.take("messages", message("AIMessageChunk", content=piece))
    assert (heard.text, heard.error) == ("I heard [a].", "")


def test_an_error_is_kept() -> None:
    heard = Heard()
    heard.take("error", {"error": "StorageUnavailable"})
    assert "StorageUnavailable" in heard.error


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ({"name": "save_memory", "content": '{"ok": true}'}, {"save_memory"}),
        ({"name": "manage_memory", "content": '{"facts": []}'}, {"manage_memory"}),
        ({"name": "manage_memory", "content": '{"error": {"kind": "duplicate"}}', "status": "error"}, set[str]()),
        ({"name": "save_memory", "content": "The database does not answer.", "status": "error"}, set[str]()),
        ({"name": "get_weather", "content": '{"ok": true}'}, set[str]()),
    ],
    ids=["profile", "fact", "refused", "failed", "another tool"],
)
def test_a_save_is_acknowledged_by_its_tool(told: Mapping[str, str], kept: set[str]) -> None:
    heard = Heard()
    heard.take("messages", message("tool", **told))
    assert heard.kept == kept


def test_threads_users_and_servers_are_dealt_out_to_the_clients() -> None:
    chats = make_chats(clients=4, threads=10, users=2, servers=2)
    assert [len(own) for own in chats] == [3, 3, 2, 2]
    assert [{chat.user[-1] for chat in own} for own in chats] == [{"0"}, {"1"}, {"0"}, {"1"}]
    assert [{chat.server for chat in own} for own in chats] == [{0}, {1}, {0}, {1}]
    assert len({chat.name for own in chats for chat in own}) == 10


def test_chats_with_two_graphs_have_nothing_in_common() -> None:
    ours, plain = (make_chats(clients=1, threads=1, users=1, graph=graph)[0][0] for graph in ("agent", "plain"))
    assert ours.user != plain.user
    assert ours.name != plain.name


@pytest.mark.anyio
async def test_a_turn_that_fails_is_written_down_with_its_reason() -> None:
    traffic = Traffic(lambda _: "http://127.0.0.1:9")
    [[chat]] = make_chats(clients=1, threads=1, users=1)
    sent = await traffic.turn(chat)
    await traffic.close()
    assert traffic.sent == [sent]
    assert not sent.answered
    assert "ConnectError" in sent.error


@pytest.mark.anyio
async def test_clients_wait_while_they_may_not_go() -> None:
    traffic, ending = Traffic(lambda _: "http://127.0.0.1:9"), asyncio.Event()
    traffic.may_go.clear()
    client = asyncio.ensure_future(traffic.keep_on(make_chats(clients=1, threads=1, users=1)[0], until=ending))
    await asyncio.sleep(0)
    assert traffic.under_way == 0
    traffic.may_go.set()
    await until(lambda: traffic.sent)
    ending.set()
    await client
    await traffic.close()
    assert traffic.under_way == 0
