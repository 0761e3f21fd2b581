"""The model call of a pass: from a transcript to the entries that stand for it."""

from collections.abc import Awaitable, Callable

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage

from backend.llm.prompts import Prompts
from backend.llm.structured import StructuredCalls
from backend.memory.summaries.record import SummaryEntries

SummaryWriter = Callable[[str], Awaitable[SummaryEntries]]


def make_summary_writer(*, model: BaseChatModel, structured: StructuredCalls, prompts: Prompts) -> SummaryWriter:
    """Asks the summary model once for a transcript.

    Raises (when called): ModelUnavailable, BadModelOutput; the pass then writes nothing.
    """
    instructions = SystemMessage(prompts.render("background/summary"))

    async def write(transcript: str) -> SummaryEntries:
        return await structured.call(model, [instructions, HumanMessage(transcript)], SummaryEntries)

    return write
