"""A user with a past: a profile of 10 keys, 50 facts, 200 episodes."""

from datetime import UTC, datetime, timedelta
from typing import Final

from backend.bootstrap import Services
from backend.ids import ThreadId, UserId
from backend.memory.episodes import FinishedWords
from backend.memory.facts.record import ON_THE_PAGE, FactDraft
from backend.memory.profile.patch import ProfilePatch
from bench.turns.talk import answer, fact_text, said

FACTS: Final = 50
EPISODES: Final = 200
AT_ONCE: Final = 5
PAST: Final = ThreadId("00000000-0000-0000-0000-00000000000a")
PROFILE: Final = {
    "name": "Ana", "city": "Porto", "job": "stage carpenter", "language": "English", "partner": "Rui",
    "children": "two, Clara and Tomas", "diet": "no shellfish", "instrument": "viola", "car": "none, a cargo bike",
    "birthday": "the third of May",
}  # fmt: skip


async def give_a_past(services: Services, user_id: str) -> None:
    """Write it all as the product does."""
    memory = services.memories.of(UserId(user_id))
    await memory.profile.save([ProfilePatch(op="add", path=f"/{key}", value=value) for key, value in PROFILE.items()])
    facts = [fact(number) for number in range(FACTS)]
    for start in range(0, FACTS, AT_ONCE):
        await memory.facts.create(facts[start : start + AT_ONCE], origin=ON_THE_PAGE)
    for turn in range(EPISODES):
        await memory.episodes.record(episode(turn))


def fact(number: int) -> FactDraft:
    return FactDraft(content=fact_text(number), categories=("plans",))


def episode(turn: int) -> FinishedWords:
    return FinishedWords(
        thread_id=PAST,
        turn=turn,
        message_ids=[f"past-{turn}-human", f"past-{turn}-ai"],
        user_text=said(-1 - turn),
        assistant_text=answer(said(-1 - turn)),
        finished_at=datetime.now(UTC) - timedelta(days=30) + timedelta(minutes=turn),
    )
