import pytest

from backend.cli.conversation import Called, Failed, Piece, Said, ToolFailed, read_part, shorten
from backend.ids import Json

CALL: Json = {"name": "get_weather", "args": {"place": "東京", "days": 2}, "id": "c1"}


@pytest.mark.parametrize(
    ("event", "data", "pieces"),
    [
        pytest.param("messages", [{"type": "AIMessageChunk", "content": "Hell"}, {}], [Said("Hell")], id="a chunk"),
        pytest.param("messages", [{"type": "ai", "content": "Hello"}, {}], [Said("Hello")], id="a whole message"),
        pytest.param(
            "messages",
            [
                {
                    "type": "AIMessageChunk",
                    "content": [{"type": "text", "text": " a "}, {"type": "thinking", "thinking": "b"}],
                }
            ],
            [Said(" a ")],
            id="blocks",
        ),
        pytest.param("messages", [{"type": "AIMessageChunk", "content": ""}, {}], [], id="a chunk without text"),
        pytest.param("messages", [{"type": "human", "content": "my own words"}, {}], [], id="what the user wrote"),
        pytest.param("messages", [{"type": "tool", "content": "12 degrees"}, {}], [], id="a result of a tool"),
        pytest.param("messages", [], [], id="no message"),
        pytest.param(
            "updates",
            {"weather_agent": {"messages": [{"type": "ai", "content": "", "tool_calls": [CALL]}]}},
            [Called("get_weather", 'place="東京", days=2')],
            id="a tool call",
        ),
        pytest.param(
            "updates",
            {"tools": {"messages": [{"type": "tool", "status": "error", "content": "no such place"}]}},
            [ToolFailed("no such place")],
            id="a tool that failed",
        ),
        pytest.param(
            "updates",
            {"tools": {"messages": [{"type": "tool", "status": "success", "content": "12 degrees"}]}},
            [],
            id="a tool that worked",
        ),
        pytest.param("updates", {"router_agent": {"subagent": "chat_agent"}}, [], id="an update without messages"),
        pytest.param("updates", {"trigger_background_agent": None}, [], id="an empty update"),
        pytest.param("error", {"error": "Timeout", "message": "too long"}, [Failed("too long")], id="an error"),
        pytest.param("error", {"error": "Timeout"}, [Failed("Timeout")], id="an error without a message"),
        pytest.param("metadata", {"run_id": "1"}, [], id="metadata"),
        pytest.param("end", None, [], id="the end"),
    ],
)
def test_what_an_event_of_the_stream_says(event: str, data: Json, pieces: list[Piece]) -> None:
    assert read_part(event, data) == pieces


def test_a_long_list_of_arguments_is_cut() -> None:
    call: Json = {"name": "save", "args": {"text": "x" * 500}}

    [called] = read_part("updates", {"chat_agent": {"messages": [{"type": "ai", "tool_calls": [call]}]}})

    assert isinstance(called, Called)
    assert len(called.arguments) == 120
    assert called.arguments.endswith("…")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("short", "short", id="short"),
        pytest.param("two\n lines", "two lines", id="lines"),
        pytest.param("123456789", "123456789", id="just short enough"),
        pytest.param("1234567890", "12345678…", id="too long"),
    ],
)
def test_shortened_text_is_one_line(text: str, line: str) -> None:
    assert shorten(text, 9) == line
