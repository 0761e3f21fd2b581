"""Facts and episodes of a user, as a chat leaves them behind."""

from datetime import UTC, datetime, timedelta

from backend.ids import ThreadId
from backend.memory.episodes import FinishedWords
from backend.memory.facts.record import FactDraft, Origin
from backend.memory.user_memory import UserMemory


async def keep_words(memory: UserMemory, thread_id: ThreadId, *, facts: int = 2, episodes: int = 3) -> None:
    """`Fact 0 of ana in <thread_id>` and so on; and turns that have just ended."""
    drafts = [FactDraft(content=f"Fact {number} of {memory.user_id} in {thread_id}") for number in range(facts)]
    await memory.facts.create(drafts, origin=Origin(said_by="user", thread_id=thread_id, turn=0))
    for number in range(episodes):
        await memory.episodes.record(
            FinishedWords(
                thread_id=thread_id,
                turn=number,
                message_ids=[f"{thread_id}/h{number}", f"{thread_id}/a{number}"],
                user_text=f"Question {number}",
                assistant_text=f"Answer {number} for {memory.user_id}",
                finished_at=datetime.now(UTC) + timedelta(microseconds=number),
            )
        )
