from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding

from backend.chat.filtered_model import FilteredModel, sent_blocks
from backend.llm.models import Models
from backend.settings import Settings
from tests.support.model_server import ModelServer, call, text, tool_calls

pytestmark = pytest.mark.anyio

PROFILE = '{"name":"Ana"}'
BLOCK = f"<memory>\n{PROFILE}\n</memory>"
H0 = HumanMessage("hi")
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
]


class ChunkModel(BaseChatModel):
    """Streams the given chunks as they are; as a whole answer it gives them joined."""

    chunks: list[AIMessageChunk]

    @property
    def _llm_type(self) -> str:
        return "chunks"

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        [first, *rest] = [chunk.model_copy(deep=True) for chunk in self.chunks]
        whole: Any = first
        for chunk in rest:
            whole += chunk
        message = AIMessage(whole.content, id=whole.id, additional_kwargs=whole.additional_kwargs)
        info = {"finish_reason": "stop"}
        return ChatResult(
            generations=[ChatGeneration(message=message, generation_info=info)], llm_output={"model": "m"}
        )

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return self._generate(messages, stop, None, **kwargs)

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self.chunks:
            yield ChatGenerationChunk(message=chunk.model_copy(deep=True))

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages, stop, None, **kwargs):
            yield chunk


class Tokens(AsyncCallbackHandler):
    """What a callback is told of a stream."""

    def __init__(self) -> None:
        self.said: list[str] = []

    async def on_llm_new_token(self, token: Any, **_: Any) -> None:
        self.said.append(token)


def model_of(*contents: Any, **last: Any) -> FilteredModel:
    chunks = [AIMessageChunk(content=content, id="a1") for content in contents[:-1]]
    return FilteredModel.around(ChunkModel(chunks=[*chunks, AIMessageChunk(content=contents[-1], id="a1", **last)]))


async def streamed(
    model: Runnable[Any, AIMessage], messages: Sequence[BaseMessage] = (H0,), callbacks: Sequence[Any] = ()
) -> tuple[list[AIMessageChunk], AIMessageChunk]:
    chunks: list[AIMessageChunk] = []
    async for chunk in model.astream(list(messages), {"callbacks": list(callbacks)}):
        assert isinstance(chunk, AIMessageChunk)
        chunks.append(chunk)
    joined: Any = chunks[0]
    for chunk in chunks[1:]:
        joined += chunk
    return chunks, joined


class TestChunks:
    async def test_a_block_over_several_chunks_is_removed_and_its_chunks_still_come(self) -> None:
        chunks, joined = await streamed(model_of("Hi.\n", "<mem", 'ory>\n{"a', '":1}\n</mem', "ory>", "\nBye"))
        assert [chunk.text for chunk in chunks] == ["Hi.\n", "", "", "", "", "Bye", ""]
        assert (joined.text, joined.id) == ("Hi.\nBye", "a1")

    async def test_what_is_still_held_comes_in_a_chunk_of_its_own_with_the_same_id(self) -> None:
        chunks, joined = await streamed(model_of("a ", "<mem"))
        assert [chunk.text for chunk in chunks if chunk.text] == ["a ", "<mem"]
        assert {chunk.id for chunk in chunks if chunk.text} == {"a1"}
        assert joined.text == "a <mem"

    async def test_behind_the_last_chunk_comes_no_other(self) -> None:
        chunks, joined = await streamed(model_of("a ", "<mem", chunk_position="last"))
        assert [(chunk.text, chunk.chunk_position) for chunk in chunks] == [("a ", None), ("<mem", "last")]
        assert joined.text == "a <mem"

    async def test_all_but_the_text_passes_unchanged(self) -> None:
        usage = UsageMetadata(input_tokens=1, output_tokens=2, total_tokens=3)
        parts: dict[str, Any] = {
            "tool_call_chunks": [tool_call_chunk(name="look", args='{"q":"<memory>"}', id="c1", index=0)],
            "usage_metadata": usage,
            "response_metadata": {"finish_reason": "tool_calls", "model_name": "m"},
            "additional_kwargs": {"reasoning_content": BLOCK},
        }
        chunks, joined = await streamed(model_of("<memory>", "</memory>", **parts))
        kept = chunks[1]
        assert kept.text == ""
        assert [(one["name"], one["args"], one["id"]) for one in joined.tool_calls] == [
            ("look", {"q": "<memory>"}, "c1")
        ]
        assert (kept.usage_metadata, kept.additional_kwargs) == (usage, {"reasoning_content": BLOCK})
        assert kept.response_metadata == {"finish_reason": "tool_calls", "model_name": "m"}

    async def test_content_in_blocks_is_filtered_in_its_texts(self) -> None:
        thought = {"type": "thinking", "thinking": BLOCK, "index": 0}
        spoken = [[{"type": "text", "text": piece, "index": 1}] for piece in ("Hi <mem", "ory>x</me", "mory> there <")]
        _, joined = await streamed(model_of([thought], *spoken))
        assert joined.content == [thought, {"type": "text", "text": "Hi  there <", "index": 1}]

    async def test_content_in_blocks_without_places_and_bare_strings(self) -> None:
        contents = [
            ["Hi <mem"],
            [{"type": "text", "text": "ory>x</memory> there"}],
            [{"type": "image_url", "u": 1}],
            ["<"],
        ]
        whole = await model_of(*contents).ainvoke([H0])
        _, joined = await streamed(model_of(*contents))
        assert joined.text == whole.text == "Hi  there<"
        assert {"type": "image_url", "u": 1} in list(joined.content)

    async def test_callbacks_are_told_the_filtered_text_only(self) -> None:
        tokens = Tokens()
        await streamed(model_of(*f"Hi.\n{BLOCK}\nBye <"), callbacks=[tokens])
        assert "".join(tokens.said) == "Hi.\nBye <"

    async def test_events_of_a_stream_carry_the_filtered_text_only(self) -> None:
        said = ""
        async for event in model_of(*f"Hi.\n{BLOCK}\nBye").astream_events([H0], version="v2"):
            assert "Ana" not in str(event)
            said += event["data"].get("chunk", AIMessage("")).text if event["event"] == "on_chat_model_stream" else ""
        assert said == "Hi.\nBye"

    def test_without_an_event_loop_it_is_the_same(self) -> None:
        model = model_of(*f"Hi.\n{BLOCK}\nBye <")
        assert "".join(chunk.text for chunk in model.stream([H0])) == model.invoke([H0]).text == "Hi.\nBye <"


class TestWholeAnswers:
    async def test_an_answer_that_is_not_streamed_is_filtered_and_keeps_the_rest(self) -> None:
        answer = await model_of(f"{BLOCK}\nBye <", additional_kwargs={"reasoning_content": BLOCK}).ainvoke([H0])
        assert (answer.text, answer.id) == ("Bye <", "a1")
        assert answer.additional_kwargs == {"reasoning_content": BLOCK}
        assert answer.response_metadata == {"model": "m", "finish_reason": "stop"}

    async def test_a_model_that_does_not_stream_is_not_made_to(self) -> None:
        inner = ChunkModel(chunks=[AIMessageChunk(content=f"{BLOCK}\nBye")], disable_streaming=True)
        answers = [answer async for answer in FilteredModel.around(inner).astream([H0])]
        assert [answer.text for answer in answers] == ["Bye"]


class TestWhatWasSent:
    async def test_in_code_a_block_of_the_prompt_is_removed_and_the_users_own_stays(self) -> None:
        answer = f"```\n{BLOCK}\n```\n```xml\n<memory>\n  <slot/>\n</memory>\n```"
        _, joined = await streamed(model_of(*answer), [SystemMessage(f"Data:\n\n{BLOCK}"), H0])
        assert joined.text == "```\n```\n```xml\n<memory>\n  <slot/>\n</memory>\n```"

    def test_of_what_the_user_wrote_only_the_blocks_sent_with_it_count(self) -> None:
        human = HumanMessage(f"Mend this:\n{BLOCK}\n\n<recalled>\n[fact] tea\n</recalled>")
        system = SystemMessage("<facts>\n- likes tea\n</facts>")
        assert list(sent_blocks([system, human, AIMessage(BLOCK)])) == ["- likes tea", "[fact] tea"]


class TestTheRealClient:
    def model(self, server: ModelServer) -> BaseChatModel:
        values: dict[str, Any] = {name.lower(): value for name, value in server.environment.items()}
        return Models(Settings(**values)).for_role("chat")

    @pytest.mark.parametrize("stream", [False, True])
    async def test_it_sends_the_same_request(self, stream: bool) -> None:
        with ModelServer() as server:
            server.when("chat", tool_calls(call("look", {}, id="c1"), content=f"Hi {BLOCK}"))
            inner = self.model(server)
            answers: list[AIMessage] = []
            for model in (inner, FilteredModel.around(inner)):
                bound = model.bind_tools(TOOLS, tool_choice="look")
                answers.append((await streamed(bound))[1] if stream else await bound.ainvoke([H0]))
        raw, filtered = server.requests
        assert filtered.body == raw.body
        assert filtered.tools == TOOLS
        bare, ours = answers
        assert (bare.text, ours.text) == (f"Hi {BLOCK}", "Hi ")
        assert ours.tool_calls == bare.tool_calls
        assert ours.usage_metadata == bare.usage_metadata
        assert {**ours.response_metadata, "id": ""} == {**bare.response_metadata, "id": ""}

    async def test_traces_see_the_other_model(self) -> None:
        with ModelServer() as server:
            server.when("chat", text("Hi"))
            inner = self.model(server)
            seen: list[Any] = []
            for model in (inner, FilteredModel.around(inner)):
                events = [event async for event in model.astream_events([H0], version="v2")]
                seen.append([(event["event"], event["name"], event.get("metadata")) for event in events])
        assert seen[0] == seen[1]

    async def test_the_offline_model_answers_through_it_with_its_tools(self) -> None:
        offline: dict[str, Any] = {}
        inner = Models(Settings(**offline)).for_role("chat")
        asked = [HumanMessage("hello")]
        bound = FilteredModel.around(inner).bind_tools(TOOLS)
        assert isinstance(bound, RunnableBinding)
        assert (await bound.ainvoke(asked)).text == (await inner.ainvoke(asked)).text
        assert (await streamed(bound, asked))[1].text == (await inner.ainvoke(asked)).text

    async def test_a_model_that_binds_tools_in_another_way_is_refused(self) -> None:
        class Other(ChunkModel):
            def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
                return self

        with pytest.raises(TypeError, match="Other does not bind tools"):
            FilteredModel.around(Other(chunks=[])).bind_tools(TOOLS)
