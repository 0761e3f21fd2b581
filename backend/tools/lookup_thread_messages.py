"""`lookup_thread_messages`: the original turns behind the labels of the earlier conversation (S1)."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from backend.errors import ToolRefusal
from backend.llm.messages import human_positions
from backend.memory.summaries.transcript import label, transcript
from backend.memory.summaries.window import Window

MAX_TURNS: Final = 10
MAX_TOKENS: Final = 6_000
DESCRIPTION: Final = (
    "The original messages of earlier turns of this conversation, by the labels that <earlier_conversation> gives, "
    'such as "#3". Use it when the exact words, a number or code of an earlier turn matter.'
)


def _as_list(refs: object) -> object:
    return [refs] if isinstance(refs, str) and not refs.lstrip().startswith("[") else refs


class LookupArguments(BaseModel):
    """What `lookup_thread_messages` is called with."""

    model_config = ConfigDict(frozen=True)

    refs: Annotated[list[str], BeforeValidator(_as_list)] = Field(
        description=f'Labels of turns, such as "#3"; at most {MAX_TURNS}'
    )


def make_lookup_thread_messages_tool() -> BaseTool:
    """The tool `lookup_thread_messages(refs)`, over the messages of the run's own thread and of no other.

    It returns one line of JSON a turn, as a pass of summarization reads them: bounded, without credentials.

    Raises (when it runs): ToolRefusal, for labels that are none of this thread's.
    """

    async def lookup_thread_messages(refs: list[str], runtime: ToolRuntime[Any, Any]) -> str:
        messages: Sequence[BaseMessage] = runtime.state["messages"]
        turns = wanted_turns(refs, human_count=len(human_positions(messages)))
        share = MAX_TOKENS // len(turns)
        return "\n".join(transcript(messages, Window(turn, turn), max_tokens=share) for turn in turns)

    return StructuredTool.from_function(
        coroutine=lookup_thread_messages,
        name="lookup_thread_messages",
        description=DESCRIPTION,
        args_schema=LookupArguments,
    )


def wanted_turns(refs: Sequence[str], *, human_count: int) -> list[int]:
    """The turns, 0-based, that the labels stand for, each once.

    Raises:
        ToolRefusal: no label, too many, or one that no turn has.
    """
    numbers = [ref.strip().removeprefix("#") for ref in refs]
    known = {str(turn + 1): turn for turn in range(human_count)}
    unknown = [ref for ref, number in zip(refs, numbers, strict=True) if number not in known]
    if unknown or not numbers:
        raise ToolRefusal(f"The labels of this conversation are {label(0)} to {label(human_count - 1)}.")
    if len(set(numbers)) > MAX_TURNS:
        raise ToolRefusal(f"Ask for at most {MAX_TURNS} turns at once.")
    return [known[number] for number in dict.fromkeys(numbers)]
