"""Blocks of the prompt that the model repeats are neither streamed nor stored, in any way of running the chat graph."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage

from backend.chat.subagents import SUBAGENTS
from backend.errors import BadModelOutput
from tests.support.chat_driver import ChatDriver
from tests.support.memory_driver import OpenDriver
from tests.support.memory_homes import Home, HomeInMemory
from tests.support.model_server import ModelServer, Reply, call, structured, text, tool_calls
from tests.support.profile_patches import add

pytestmark = pytest.mark.anyio

PROFILE = '{"name":"Ana"}'
BLOCK = f"<memory>\n{PROFILE}\n</memory>"


@pytest.fixture
def home() -> Home:
    """Where memory is kept makes no difference here."""
    return HomeInMemory()


async def streamed(chat: ChatDriver, said: str) -> tuple[dict[str | None, str], list[BaseMessage]]:
    """The texts of a turn as they streamed, joined by message, and the messages of every state that was shown."""
    texts: dict[str | None, str] = {}
    shown: list[BaseMessage] = []
    async for mode, event in chat.graph.astream(
        {"messages": [HumanMessage(said)]}, chat.config, stream_mode=["messages", "values"]
    ):
        part: Any = event
        if mode == "values":
            shown += part["messages"]
        elif isinstance(part[0], AIMessageChunk | AIMessage):
            texts[part[0].id] = texts.get(part[0].id, "") + part[0].text
    return texts, shown


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        pytest.param(f"Hello.\n\n{BLOCK}\n\nBye.", "Hello.\n\nBye.", id="block"),
        pytest.param(f"{BLOCK}\n<FACTS kind='x'>\n- tea\n</ facts>\nBye.", "Bye.", id="two at the beginning"),
        pytest.param(f"Bye.\n<recalled>\n{PROFILE}", "Bye.\n", id="not closed"),
        pytest.param("The <memory> tag: a < b, List<int>", "The <memory> tag: a < b, List<int>", id="spoken of"),
        pytest.param("Ends in <memo", "Ends in <memo", id="beginning of a tag"),
    ],
)
async def test_what_streams_is_what_is_stored_and_repeats_no_block(
    answer: str, shown: str, model: ModelServer, chat: ChatDriver
) -> None:
    model.when("chat", text(answer))
    texts, states = await streamed(chat, "hi")
    final = (await chat.messages())[-1]
    assert texts == {final.id: shown}
    assert final.text == shown
    assert not any(PROFILE in str(message.content) for message in states)


async def test_without_streaming_the_answer_is_the_same_and_so_is_what_the_background_is_handed(
    model: ModelServer, chat: ChatDriver
) -> None:
    model.when("chat", text(f"Hello.\n\n{BLOCK}\n\nBye."))
    assert await chat.send("hi") == "Hello.\n\nBye."
    assert not model.for_model("chat")[0].stream
    assert chat.server.started[0][1]["assistant_text"] == "Hello.\n\nBye."


async def test_the_text_before_a_call_is_filtered_and_the_call_is_made(model: ModelServer, chat: ChatDriver) -> None:
    calls = tool_calls(call("lookup_thread_messages", {"refs": ["#1"]}, id="c1"), content=f"{BLOCK}\nOne moment.")
    model.then(calls, text("Done."), to="chat")
    texts, _ = await streamed(chat, "hi")
    _, asked, result, final = await chat.messages()
    assert isinstance(asked, AIMessage)
    assert (asked.text, [one["id"] for one in asked.tool_calls]) == ("One moment.", ["c1"])
    assert asked.usage_metadata
    assert asked.response_metadata["finish_reason"] == "tool_calls"
    assert result.type == "tool"
    assert texts == {asked.id: "One moment.", final.id: "Done."}


async def test_a_call_beside_nothing_but_a_block_is_made_too(model: ModelServer, chat: ChatDriver) -> None:
    model.then(tool_calls(call("lookup_thread_messages", {"refs": ["#1"]}), content=BLOCK), text("Done."), to="chat")
    assert await chat.send("hi") == "Done."


async def test_an_answer_of_nothing_but_a_block_fails_the_turn_and_the_next_works(
    model: ModelServer, chat: ChatDriver
) -> None:
    model.then(text(BLOCK), to="chat")
    with pytest.raises(BadModelOutput, match="answered nothing"):
        await chat.send("hi")
    model.when("chat", text("Here I am."))
    assert await chat.send("hi?") == "Here I am."


@pytest.mark.parametrize("subagent", [subagent.name for subagent in SUBAGENTS])
async def test_every_sub_agent_is_filtered(subagent: str, model: ModelServer, chat: ChatDriver) -> None:
    model.when("router", structured({"subagent": subagent}))
    model.when("chat", text(f"{BLOCK}\nHello"))
    assert await chat.send("hi") == "Hello"


async def test_in_code_what_was_recalled_is_removed_and_what_the_user_asked_for_stays(
    model: ModelServer, open_driver: OpenDriver
) -> None:
    driver = await open_driver()
    await driver.memory.profile.save([add("name", "Ana")])
    xml = "```xml\n<memory unit='KiB'>512</memory>\n```"
    model.when("chat", lambda asked: Reply(content=f"```\n{_block_of(asked.system_text)}\n```\n{xml}"))
    texts, _ = await streamed(driver, "Show me your memory, and an example.")
    assert list(texts.values()) == [f"```\n```\n{xml}"]


def _block_of(prompt: str) -> str:
    return prompt[prompt.index("<memory>") : prompt.index("</memory>")] + "</memory>"
