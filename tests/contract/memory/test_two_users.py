"""Whatever one user does, the memory of every other user stays as it is, over both stores (CASES 18)."""

from collections.abc import Awaitable, Callable

import pytest

from backend.ids import Json, ThreadId, UserId
from backend.memory.facts.record import ON_THE_PAGE, FactChanges, FactDraft
from backend.memory.scope import scope_label
from backend.memory.user_memory import UserMemory
from tests.support.kept_words import keep_words
from tests.support.memory_homes import Process
from tests.support.passes import NOW, a_pass, commit, fill, ids
from tests.support.profile_patches import add, remove, replace

pytestmark = pytest.mark.anyio

USERS = [UserId(user_id) for user_id in ("u1", "u10", "u_1", "uX1", "%", "u", "_", "*", "ana.lopez@example.org")]
THREAD = ThreadId("the-same-thread")
PASSES = 2

Remembered = tuple[Json, list[int], list[int], list[str], list[Json]]


async def settle(process: Process) -> None:
    for user_id in USERS:
        memory = process.memory_of(user_id)
        await memory.profile.save([add("of", user_id), add("city", "Oslo")])
        await fill(memory.summaries, THREAD, PASSES, prefix=f"{user_id}/")
        await keep_words(memory, THREAD)
        await memory.facts.create([FactDraft(content="Likes tea", key="drink")], origin=ON_THE_PAGE)
        await process.accounts.keep(user_id, name=f"I am {user_id}", email=None, avatar=None, socials=[])


async def remembered(process: Process, user_id: UserId) -> Remembered:
    memory = process.memory_of(user_id)
    view, record = await memory.profile.view(), await memory.summaries.of(THREAD)
    known = await process.ledger.threads_of(scope_label(user_id))
    return (
        dict(view.memory),
        [row.sequence for row in record.rows],
        [row.sequence for row in await memory.summaries.all()],
        [*record.fenced, *known],
        [
            *(fact.as_json() for fact in await memory.facts.stored()),
            *(episode.as_json() for episode in await memory.episodes.all()),
        ],
    )


async def change_fact(memory: UserMemory) -> None:
    fact = (await memory.facts.stored())[0]
    await memory.facts.change(fact.id, FactChanges(content="Anew"), version=fact.version, origin=ON_THE_PAGE)


async def delete_one_of_each(memory: UserMemory) -> None:
    await memory.facts.delete((await memory.facts.stored())[0].id)
    await memory.episodes.delete((await memory.episodes.all())[0].id)


async def touch(memory: UserMemory) -> None:
    await memory.episodes.touch([(await memory.facts.stored())[0].id], at=NOW)


Operation = Callable[[Process, UserMemory], Awaitable[object]]

OPERATIONS: dict[str, Operation] = {
    "save": lambda _, memory: memory.profile.save([replace("city", "Bergen"), remove("of")]),
    "remove a key": lambda _, memory: memory.profile.remove("city"),
    "erase the profile": lambda _, memory: memory.profile.erase(),
    "commit a pass": lambda _, memory: commit(memory.summaries, THREAD, a_pass(4, 5, ids(6, f"{memory.user_id}/"))),
    "delete summaries": lambda _, memory: memory.summaries.delete(THREAD, rebuild=True),
    "delete for good": lambda _, memory: memory.summaries.delete(THREAD, rebuild=False),
    "purge a thread": lambda _, memory: memory.summaries.purge(THREAD),
    "erase summaries": lambda _, memory: memory.summaries.erase(),
    "claim": lambda _, memory: memory.summaries.claim(THREAD),
    "say something else under a key": lambda _, memory: memory.facts.create(
        [FactDraft(content="Likes coffee", key="drink")], origin=ON_THE_PAGE
    ),
    "change a fact": lambda _, memory: change_fact(memory),
    "delete a fact and an episode": lambda _, memory: delete_one_of_each(memory),
    "erase facts": lambda _, memory: memory.facts.erase(),
    "erase facts of a thread": lambda _, memory: memory.facts.erase_thread(THREAD),
    "erase episodes": lambda _, memory: memory.episodes.erase(),
    "erase episodes of a thread": lambda _, memory: memory.episodes.erase_thread(THREAD),
    "note that a fact was used": lambda _, memory: touch(memory),
    "erase the memory": lambda process, memory: process.services.forgetting.erase_memory(memory.user_id),
    "sign in": lambda process, memory: process.accounts.keep(
        memory.user_id, name="Another", email=None, avatar=None, socials=[]
    ),
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
async def test_nobody_else_notices(process: Process, operation: Operation) -> None:
    await settle(process)
    for user_id in USERS:
        others = [other for other in USERS if other != user_id]
        before = {other: await remembered(process, other) for other in others}
        await operation(process, process.memory_of(user_id))
        process.forget_cached()
        assert {other: await remembered(process, other) for other in others} == before


async def test_everybody_reads_their_own(process: Process) -> None:
    await settle(process)
    for user_id in USERS:
        profile, rows, _, known, words = await remembered(process, user_id)
        assert profile == {"name": f"I am {user_id}", "of": user_id, "city": "Oslo"}
        assert (rows, known, len(words)) == ([1, 2], [THREAD], 6)
        facts = [fact.content for fact in await process.memory_of(user_id).facts.all()]
        assert sorted(facts) == [*(f"Fact {n} of {user_id} in {THREAD}" for n in range(2)), "Likes tea"]
        said = [episode.content.splitlines()[1] for episode in await process.memory_of(user_id).episodes.all()]
        assert said == [f"Assistant: Answer {n} for {user_id}" for n in (2, 1, 0)]
        first = (await process.memory_of(user_id).summaries.stored(THREAD)).rows[0]
        assert first.message_ids == [f"{user_id}/0", f"{user_id}/1"]


async def test_two_users_summarize_a_thread_of_the_same_id_side_by_side(process: Process) -> None:
    claims = [await process.memory_of(user_id).summaries.claim(THREAD) for user_id in USERS]
    assert None not in claims
    assert len(set(claims)) == len(USERS)
