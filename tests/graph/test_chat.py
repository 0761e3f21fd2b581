import asyncio

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from backend.chat.kept_answer import TOO_MANY_CALLS
from backend.chat.model_node import MAX_TOOL_ROUNDS
from backend.errors import ModelUnavailable
from tests.support.chat_driver import ChatDriver, make_chat_driver
from tests.support.conditions import until
from tests.support.model_server import (
    ModelServer,
    Reply,
    call,
    error,
    refusal,
    structured,
    text,
    tool_calls,
)
from tests.support.public_apis import GEOCODING, Canned, PublicApis, public_apis

pytestmark = pytest.mark.anyio


def where(apis: PublicApis) -> dict[str, object]:
    """The settings that make the tools ask the stub."""
    return {
        "weather_geocoding_url": apis.geocoding_url,
        "weather_forecast_url": apis.forecast_url,
        "crypto_url": apis.crypto_url,
    }


async def test_a_turn_is_answered_by_the_sub_agent_that_the_router_chose(model: ModelServer, chat: ChatDriver) -> None:
    model.then(structured({"subagent": "code_agent"}), to="router")
    model.when("chat", text("Use a set."))
    assert await chat.send("How do I make a list unique in Python?") == "Use a set."
    assert "program code" in model.for_model("chat")[0].system_text


@pytest.mark.parametrize(
    "route",
    [
        pytest.param(refusal("I will not"), id="refusal"),
        pytest.param(structured({"subagent": "tax_agent"}), id="unknown name"),
        pytest.param(structured({}), id="nothing"),
        pytest.param(text("weather, I suppose"), id="prose"),
        pytest.param(error(500, "out of order"), id="server error"),
    ],
)
async def test_without_a_usable_route_the_default_sub_agent_answers(
    route: Reply, model: ModelServer, chat: ChatDriver
) -> None:
    model.when("router", route)
    model.when("chat", text("Hello"))
    assert await chat.send("hi") == "Hello"
    assert "go on for weeks" in model.for_model("chat")[0].system_text


async def test_a_route_in_upper_case_is_understood(model: ModelServer, chat: ChatDriver) -> None:
    model.when("router", structured({"subagent": " CODE_AGENT "}))
    model.when("chat", text("Use a set."))
    await chat.send("unique list?")
    assert "program code" in model.for_model("chat")[0].system_text


async def test_the_router_sees_the_turn_before_so_that_a_follow_up_finds_its_way(
    model: ModelServer, chat: ChatDriver
) -> None:
    model.when("chat", text("It is sunny."))
    await chat.send("Weather in Oslo?")
    await chat.send("and tomorrow?")
    asked = model.for_model("router")[-1]
    assert [(message["role"], message["content"]) for message in asked.messages[1:]] == [
        ("user", "Weather in Oslo?"),
        ("assistant", "It is sunny."),
        ("user", "and tomorrow?"),
    ]


async def test_a_picture_without_words_goes_to_the_default_sub_agent_unasked(
    model: ModelServer, chat: ChatDriver
) -> None:
    model.when("chat", text("A red bus"))
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    assert await chat.send(HumanMessage([picture])) == "A red bus"


class TestTools:
    async def test_a_tool_is_called_and_its_result_answered_from(self, model: ModelServer) -> None:
        model.when("router", structured({"subagent": "weather_agent"}))
        model.then(tool_calls(call("get_weather", {"place": "Paris", "days": 1})), text("Snow."), to="chat")
        with public_apis() as apis:
            async with make_chat_driver(model, InMemorySaver(), **where(apis)) as chat:
                assert await chat.send("Weather in Paris?") == "Snow."
                kinds = [message.type for message in await chat.messages()]
        assert kinds == ["human", "ai", "tool", "ai"]
        assert "Paris" in str(model.for_model("chat")[1].messages[-1]["content"])

    async def test_a_failing_service_is_told_to_the_model_and_the_turn_goes_on(self, model: ModelServer) -> None:
        model.when("router", structured({"subagent": "crypto_agent"}))
        model.then(tool_calls(call("get_crypto_price", {"coin": "btc", "currency": "usd"})), to="chat")
        model.then(text("I could not look it up."), to="chat")
        async with make_chat_driver(model, InMemorySaver(), crypto_url="http://127.0.0.1:9/") as chat:
            assert await chat.send("Price of bitcoin?") == "I could not look it up."
            result = (await chat.messages())[2]
        assert isinstance(result, ToolMessage)
        assert result.status == "error"

    async def test_a_tool_that_the_sub_agent_was_not_offered_does_not_run(
        self, model: ModelServer, chat: ChatDriver
    ) -> None:
        model.then(tool_calls(call("get_weather", {"place": "Oslo", "days": 1})), text("I cannot."), to="chat")
        assert await chat.send("hi") == "I cannot."
        result = (await chat.messages())[2]
        assert isinstance(result, ToolMessage)
        assert result.status == "error"

    async def test_endless_tool_calls_end_in_an_answer(self, model: ModelServer, chat: ChatDriver) -> None:
        model.when("router", structured({"subagent": "weather_agent"}))
        model.when(lambda asked: bool(asked.tools), tool_calls(call("get_weather", {"place": "", "days": 1})))
        model.when(lambda asked: asked.model == "chat" and not asked.tools, text("I give up."))
        assert await chat.send("Weather?") == "I give up."
        assert len(model.for_model("chat")) == MAX_TOOL_ROUNDS + 1


class TestTitle:
    async def test_the_first_turn_names_the_thread_and_later_turns_leave_it(
        self, model: ModelServer, chat: ChatDriver
    ) -> None:
        model.when("chat", text("Nice."))
        await chat.send("I want to see Oslo")
        assert chat.title == "A fine title"
        for _ in range(2):
            await chat.send("and more")
        assert len(model.for_model("title")) == 1

    async def test_a_title_that_is_there_already_is_kept(self, model: ModelServer, chat: ChatDriver) -> None:
        model.when("chat", text("Nice."))
        chat.server.metadata[chat.thread_id]["title"] = "My own"
        await chat.send("I want to see Oslo")
        assert chat.title == "My own"
        assert model.for_model("title") == []

    async def test_a_title_that_the_user_sets_while_the_model_thinks_is_kept(
        self, model: ModelServer, chat: ChatDriver
    ) -> None:
        model.when("chat", text("Nice."))
        gate = model.hold("title")
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(chat.send("I want to see Oslo"))
            await model.wait_until(lambda: gate.waiting)
            chat.server.metadata[chat.thread_id]["title"] = "My own"
            gate.release()
        assert chat.title == "My own"

    async def test_a_failing_title_model_leaves_the_title_to_the_second_turn(
        self, model: ModelServer, chat: ChatDriver
    ) -> None:
        model.when("chat", text("Nice."))
        model.then(error(500, "out of order"), to="title")
        assert await chat.send("I want to see Oslo") == "Nice."
        assert chat.title is None
        await chat.send("and more")
        assert chat.title == "A fine title"

    async def test_a_title_model_that_fails_twice_leaves_the_users_own_words(
        self, model: ModelServer, chat: ChatDriver
    ) -> None:
        model.when("chat", text("Nice."))
        model.when("title", error(500, "out of order"))
        await chat.send("I want to see Oslo")
        await chat.send("and more")
        assert chat.title == "I want to see Oslo"

    async def test_after_a_cancelled_first_turn_the_second_names_the_thread(
        self, model: ModelServer, chat: ChatDriver
    ) -> None:
        model.when("chat", text("Nice."))
        gate = model.hold(lambda asked: asked.model in {"router", "title"})
        first = asyncio.create_task(chat.send("I want to see Oslo"))
        await model.wait_until(lambda: gate.waiting == 2)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        gate.release()
        assert await chat.send("Are you there?") == "Nice."
        assert chat.title == "A fine title"

    async def test_a_first_turn_without_text_is_named_by_the_second(self, model: ModelServer, chat: ChatDriver) -> None:
        model.when("chat", text("A red bus"))
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
        await chat.send(HumanMessage([picture]))
        await chat.send("What colour is it?")
        assert chat.title == "A fine title"

    async def test_a_message_that_the_framework_made_does_not_name_the_thread(
        self, model: ModelServer, chat: ChatDriver
    ) -> None:
        model.when("chat", text("Nice."))
        hidden = HumanMessage("<context>date</context>", additional_kwargs={"hide_from_ui": True})
        await chat.send(hidden, "I want to see Oslo")
        assert model.for_model("title")[0].last_human_text == "I want to see Oslo"

    async def test_a_server_that_cannot_be_reached_costs_the_title_and_not_the_answer(
        self, model: ModelServer, chat: ChatDriver
    ) -> None:
        model.when("chat", text("Nice."))
        chat.server.down = True
        assert await chat.send("I want to see Oslo") == "Nice."


class TestStreaming:
    async def test_only_the_answer_streams_and_its_chunks_make_up_the_answer_once(
        self, model: ModelServer, chat: ChatDriver
    ) -> None:
        model.when("router", structured({"subagent": "chat_agent"}))
        model.when("title", text("Recognisable title"))
        model.when("chat", text("The answer is forty-two, as always."))
        streamed: dict[str | None, AIMessageChunk] = {}
        async for message, _ in chat.graph.astream(
            {"messages": [HumanMessage("What is it?")]}, chat.config, stream_mode="messages"
        ):
            if isinstance(message, AIMessageChunk):
                streamed[message.id] = streamed[message.id] + message if message.id in streamed else message  # pyright: ignore[reportArgumentType]
        final = (await chat.messages())[-1]
        assert {key: chunk.text for key, chunk in streamed.items()} == {final.id: "The answer is forty-two, as always."}


class TestDispatch:
    async def test_the_finished_turn_is_handed_over(self, model: ModelServer, chat: ChatDriver) -> None:
        model.when("chat", text("Nice."))
        await chat.send("I want to see Oslo")
        (user, turn), stored = chat.server.started[0], await chat.messages()
        assert user == "ana"
        assert turn["thread_id"] == chat.thread_id
        assert turn["message_ids"] == [message.id for message in stored]
        assert (turn["human_count"], turn["user_text"], turn["assistant_text"]) == (1, "I want to see Oslo", "Nice.")

    async def test_the_texts_handed_over_are_capped(self, model: ModelServer, chat: ChatDriver) -> None:
        model.when("chat", text("a" * 20_000))
        await chat.send("u" * 20_000)
        turn = chat.server.started[0][1]
        assert len(str(turn["user_text"])) <= 4_000
        assert len(str(turn["assistant_text"])) <= 8_000

    async def test_a_failed_dispatch_does_not_fail_the_answer(self, model: ModelServer, chat: ChatDriver) -> None:
        model.when("chat", text("Nice."))
        chat.server.down = True
        assert await chat.send("hi") == "Nice."
        assert chat.server.started == []


class TestWhatIsSent:
    """The model server refuses what a provider would refuse, and its fixture fails the test when it had to."""

    async def test_a_turn_cancelled_in_the_middle_of_a_tool_call_does_not_kill_the_thread(
        self, model: ModelServer
    ) -> None:
        model.when("router", structured({"subagent": "weather_agent"}))
        model.then(tool_calls(call("get_weather", {"place": "Oslo", "days": 1}, id="c1")), to="chat")
        model.when("chat", text("Here I am."))
        with public_apis() as apis:
            apis.fail(GEOCODING, Canned(pace="hang"))
            async with make_chat_driver(model, InMemorySaver(), **where(apis)) as chat:
                first = asyncio.create_task(chat.send("Weather in Oslo?"))
                await until(lambda: apis.asked)
                first.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await first
                assert await chat.send("Never mind") == "Here I am."
        sent = model.for_model("chat")[-1].messages
        assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool", "user"]

    async def test_there_is_one_system_message_and_it_comes_first(self, model: ModelServer, chat: ChatDriver) -> None:
        model.when("chat", text("Nice."))
        await chat.send(SystemMessage("stray"), "hi", SystemMessage("stray"), "there")
        assert [message["role"] for message in model.for_model("chat")[0].messages] == ["system", "user", "user"]

    async def test_names_are_made_safe_and_empty_answers_are_left_out(
        self, model: ModelServer, chat: ChatDriver
    ) -> None:
        model.when("chat", text("Nice."))
        await chat.send(HumanMessage("hi", name="Ana María <ops>"), AIMessage(""), "there")
        sent = model.for_model("chat")[0].messages
        assert [message["role"] for message in sent] == ["system", "user", "user"]

    async def test_two_messages_with_one_id_do_not_kill_the_thread(self, model: ModelServer, chat: ChatDriver) -> None:
        model.when("chat", text("Nice."))
        assert await chat.send(HumanMessage("first", id="same"), HumanMessage("second", id="same")) == "Nice."
        stored = [message.text for message in await chat.messages() if message.type == "human"]
        assert chat.server.started[0][1]["human_count"] == len(stored)

    async def test_the_state_keeps_what_came_in(self, model: ModelServer, chat: ChatDriver) -> None:
        model.when("chat", text("Nice."))
        await chat.send(SystemMessage("stray"), HumanMessage("hi", name="Ana María <ops>"))
        kept = await chat.messages()
        assert [message.type for message in kept] == ["system", "human", "ai"]
        assert kept[1].name == "Ana María <ops>"


class TestFailure:
    async def test_a_failing_model_fails_the_run_with_a_message_and_the_next_turn_works(
        self, model: ModelServer, chat: ChatDriver
    ) -> None:
        model.then(error(503, "overloaded"), to="chat")
        with pytest.raises(ModelUnavailable):
            await chat.send("hi")
        model.when("chat", text("Back again."))
        assert await chat.send("Are you there?") == "Back again."

    async def test_without_a_user_the_chat_works(self, model: ModelServer, chat: ChatDriver) -> None:
        model.when("chat", text("Nice."))
        chat.user_id = None
        assert await chat.send("hi") == "Nice."
        assert chat.server.started[0][0] is None


class TestOddities:
    @pytest.mark.parametrize("content", ["", [], [{"type": "text", "text": ""}]], ids=["text", "list", "block"])
    async def test_an_empty_human_message_does_not_kill_the_thread(
        self, content: str | list[str | dict[str, str]], model: ModelServer, chat: ChatDriver
    ) -> None:
        model.when("chat", text("Yes?"))
        assert await chat.send(HumanMessage(content)) == "Yes?"
        assert await chat.send("hi") == "Yes?"

    async def test_a_call_without_an_id_is_carried_out(self, model: ModelServer, chat: ChatDriver) -> None:
        model.then(tool_calls(call("lookup_thread_messages", {"refs": ["#1"]}, id="")), text("Done."), to="chat")
        assert await chat.send("hi") == "Done."

    async def test_a_model_that_calls_tools_without_end_is_stopped(self, model: ModelServer, chat: ChatDriver) -> None:
        model.when("chat", tool_calls(call("lookup_thread_messages", {"refs": ["#1"]})))
        assert await chat.send("hi") == TOO_MANY_CALLS
        assert len(model.for_model("chat")) == MAX_TOOL_ROUNDS + 1
