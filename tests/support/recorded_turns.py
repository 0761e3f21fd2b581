"""Finished turns of earlier threads, as the background graph records them."""

from datetime import UTC, datetime
from uuid import uuid4

from backend.ids import ThreadId
from backend.memory.episodes import FinishedWords
from backend.memory.user_memory import UserMemory


async def record_turns(memory: UserMemory, *turns: tuple[str, str], thread_id: str = "") -> None:
    """What the user and the assistant said, a turn each, in one thread."""
    thread = ThreadId(thread_id or str(uuid4()))
    for number, (user_text, assistant_text) in enumerate(turns):
        said = FinishedWords(
            thread_id=thread,
            turn=number,
            message_ids=[f"{thread}-h{number}", f"{thread}-a{number}"],
            user_text=user_text,
            assistant_text=assistant_text,
            finished_at=datetime.now(UTC),
        )
        assert await memory.episodes.record(said)
