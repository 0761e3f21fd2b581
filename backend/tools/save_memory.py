"""`save_memory`: the model changes the user's profile (S1)."""

from typing import Any, Final

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime

from backend.accounts.run_context import ReadContext
from backend.errors import MissingUserId
from backend.memory.profile.patch import ProfilePatch, SaveMemoryArguments
from backend.memory.redaction import compact_json
from backend.memory.user_memory import MemoryOf

DESCRIPTION: Final = (
    "Change what is kept about the user: lasting attributes of the person, such as name, city, job, language, tastes. "
    "Each patch adds, replaces or removes one key of a flat document; all are carried out or none. Save when the user "
    "tells something that will still be true in weeks, and remove when they ask for it. Never save a password or "
    "another secret, what only matters now, or what a tool returned."
)


def make_save_memory_tool(*, memory_of: MemoryOf, read_context: ReadContext) -> BaseTool:
    """The tool `save_memory(patches)`; it returns the change as JSON text, see `SavedProfile`.

    Raises (when it runs): MissingUserId, PatchFailed, ProfileTooLarge, StorageUnavailable.
    """

    async def save_memory(patches: list[ProfilePatch], runtime: ToolRuntime[Any, Any]) -> str:
        memory = memory_of(read_context(runtime.config).user_id, runtime.store)
        if memory is None:
            raise MissingUserId
        return compact_json((await memory.profile.save(patches)).as_json())

    return StructuredTool.from_function(
        coroutine=save_memory, name="save_memory", description=DESCRIPTION, args_schema=SaveMemoryArguments
    )
