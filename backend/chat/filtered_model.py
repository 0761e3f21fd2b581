"""A chat model whose answers go through the reply filter before anyone sees them, streamed or whole."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Self, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LangSmithParams, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding
from langchain_core.tools import BaseTool
from typing_extensions import override

from backend.chat.reply_filter import ReplyFilter, blocks_in
from backend.memory.redaction import BLOCK_NAMES

Tool = dict[str, Any] | type | Callable[..., Any] | BaseTool
Content = str | list[str | dict[str, Any]]

IN_HUMAN_MESSAGES: Final = frozenset({"recalled", "fact_changes"})
"""The blocks that are sent with what the user wrote. Any other tag there is the user's own."""


class FilteredModel(BaseChatModel):
    """Another model, asked in the same words, whose answers repeat no block of the prompt.

    Only the text of its answers changes: calls, thoughts, usage, metadata and ids are the other model's. The chunks of
    a stream joined are the text of the whole answer.
    """

    inner: BaseChatModel

    @classmethod
    def around(cls, model: BaseChatModel) -> Self:
        return cls(
            inner=model,
            disable_streaming=model.disable_streaming,
            output_version=model.output_version,
            callbacks=model.callbacks,
            tags=model.tags,
            metadata=model.metadata,
        )

    @override
    def bind_tools(
        self, tools: Sequence[Tool], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """What the other model makes of the tools, with its answers filtered.

        Raises:
            TypeError: it binds tools in another way than as options of its calls.
        """
        options = {**kwargs, "tool_choice": tool_choice} if tool_choice is not None else kwargs
        bound: Runnable[LanguageModelInput, AIMessage] = self.inner.bind_tools(tools, **options)
        if not isinstance(bound, RunnableBinding) or not isinstance(bound.bound, BaseChatModel):
            raise TypeError(f"{type(self.inner).__name__} does not bind tools as options of its calls")
        return bound.model_copy(update={"bound": type(self).around(bound.bound)})

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _filtered_result(self.inner._generate(messages, stop=stop, **kwargs), messages)  # noqa: SLF001

    @override
    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _filtered_result(await self.inner._agenerate(messages, stop=stop, **kwargs), messages)  # noqa: SLF001

    # The run manager is kept from the other model, which would report its own chunks to it.

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        stream = _FilteredStream(messages)
        for raw in self.inner._stream(messages, stop=stop, **kwargs):  # noqa: SLF001
            yield _told(stream.take(raw), run_manager)
        for chunk in stream.end():
            yield _told(chunk, run_manager)

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        stream = _FilteredStream(messages)
        async for raw in self.inner._astream(messages, stop=stop, **kwargs):  # noqa: SLF001
            yield await _atold(stream.take(raw), run_manager)
        for chunk in stream.end():
            yield await _atold(chunk, run_manager)

    @override
    def _should_stream(self, *, async_api: bool, **kwargs: Any) -> bool:
        return self.inner._should_stream(async_api=async_api, **kwargs)  # noqa: SLF001

    @override
    def _should_use_protocol_streaming(self, *, async_api: bool, **kwargs: Any) -> bool:
        return self.inner._should_use_protocol_streaming(async_api=async_api, **kwargs)  # noqa: SLF001

    # To traces and callbacks it is the other model.

    @property
    def _llm_type(self) -> str:
        return self.inner._llm_type  # noqa: SLF001

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return self.inner._identifying_params  # noqa: SLF001

    @cached_property
    def _serialized(self) -> dict[str, Any]:
        return self.inner._serialized  # noqa: SLF001

    @override
    def _get_invocation_params(self, stop: list[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        return self.inner._get_invocation_params(stop=stop, **kwargs)  # noqa: SLF001

    @override
    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return self.inner._get_ls_params(stop=stop, **kwargs)  # noqa: SLF001


def sent_blocks(messages: Iterable[BaseMessage]) -> Iterator[str]:
    """How the contents of the blocks begin that are sent to a model."""
    for message in messages:
        if isinstance(message, SystemMessage | HumanMessage):
            names = IN_HUMAN_MESSAGES if isinstance(message, HumanMessage) else BLOCK_NAMES
            yield from (content for name, content in blocks_in(message.text) if name in names)


def _told(chunk: ChatGenerationChunk, run_manager: CallbackManagerForLLMRun | None) -> ChatGenerationChunk:
    if run_manager:
        run_manager.on_llm_new_token(chunk.text, chunk=chunk)
    return chunk


async def _atold(chunk: ChatGenerationChunk, run_manager: AsyncCallbackManagerForLLMRun | None) -> ChatGenerationChunk:
    if run_manager:
        await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
    return chunk


def _filtered_result(result: ChatResult, messages: Sequence[BaseMessage]) -> ChatResult:
    sent = list(sent_blocks(messages))
    return result.model_copy(
        update={"generations": [_filtered_generation(one, ReplyFilter(sent)) for one in result.generations]}
    )


def _filtered_generation(generation: ChatGeneration, reply: ReplyFilter) -> ChatGeneration:
    content = _filtered(generation.message.content, reply.feed)
    message = generation.message.model_copy(update={"content": _with_rest(content, reply.finish(), {})})
    return ChatGeneration(message=message, generation_info=generation.generation_info)


class _FilteredStream:
    """The chunks of one answer. What is still held at the end goes into the last chunk, or into one behind it."""

    def __init__(self, messages: Iterable[BaseMessage]) -> None:
        self._reply = ReplyFilter(sent_blocks(messages))
        self._id: str | None = None
        self._like: Content = ""
        self._index: dict[str, Any] = {}

    def take(self, chunk: ChatGenerationChunk) -> ChatGenerationChunk:
        message = chunk.message
        content = _filtered(message.content, self._reply.feed)
        self._remember(message)
        if isinstance(message, AIMessageChunk) and message.chunk_position == "last":
            content = _with_rest(content, self._reply.finish(), self._index)
        if content == message.content:
            return chunk
        return ChatGenerationChunk(
            message=message.model_copy(update={"content": content}), generation_info=chunk.generation_info
        )

    def end(self) -> Iterator[ChatGenerationChunk]:
        """At most one chunk more."""
        rest = self._reply.finish()
        if rest:
            content = _with_rest(self._like, rest, self._index)
            yield ChatGenerationChunk(message=AIMessageChunk(content=content, id=self._id))

    def _remember(self, message: BaseMessage) -> None:
        self._id = message.id or self._id
        if isinstance(message.content, list) and message.content:
            self._like = []
            for block in message.content:
                if isinstance(block, dict) and _is_text(block):
                    self._index = {"index": block["index"]} if "index" in block else {}


def _filtered(content: Content, feed: Callable[[str], str]) -> Content:
    """Content with its text fed through, in order; the blocks of other kinds are the same."""
    return feed(content) if isinstance(content, str) else [_filtered_block(block, feed) for block in content]


def _filtered_block(block: str | dict[str, Any], feed: Callable[[str], str]) -> str | dict[str, Any]:
    if isinstance(block, str):
        return feed(block)
    return {**block, "text": feed(block["text"])} if _is_text(block) else block


def _is_text(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "text" and isinstance(block.get("text"), str)


def _with_rest(content: Content, rest: str, index: Mapping[str, Any]) -> Content:
    """Content with text behind its last text; `index` is the place of that text in a message of several blocks."""
    if isinstance(content, str) or not rest:
        return cast("Content", content + rest) if isinstance(content, str) else content
    texts = [place for place, block in enumerate(content) if isinstance(block, str) or _is_text(block)]
    if not texts:
        return [*content, {"type": "text", "text": rest, **index}]
    last = content[texts[-1]]
    longer = last + rest if isinstance(last, str) else {**last, "text": last["text"] + rest}
    return [*content[: texts[-1]], longer, *content[texts[-1] + 1 :]]
