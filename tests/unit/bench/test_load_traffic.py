"""What a client makes of what it hears, and who has which thread."""

from collections.abc import Mapping
from typing import Any

import pytest

from bench.load.traffic import Heard, make_chats


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
    chats = make_chats([lambda: "one", lambda: "other"], clients=4, threads=10, users=2)
    assert [len(own) for own in chats] == [3, 3, 2, 2]
    assert [{chat.user for chat in own} for own in chats] == [{"user0"}, {"user1"}, {"user0"}, {"user1"}]
    assert [own[0].url() for own in chats] == ["one", "other", "one", "other"]
    assert len({chat.name for own in chats for chat in own}) == 10
