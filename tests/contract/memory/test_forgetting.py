"""Forgetting a thread or a user, over both stores."""

import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from backend.errors import NotFound, ServerUnavailable
from backend.ids import ThreadId, UserId
from backend.memory.episodes import FinishedWords
from tests.support.kept_words import keep_words
from tests.support.memory_homes import Home, Process
from tests.support.passes import NOW, a_pass, commit, fill, ids
from tests.support.profile_patches import add
from tests.support.threads import RecordedServer

pytestmark = pytest.mark.anyio

ANA, BEN = UserId("ana"), UserId("ben")
THREAD, OTHER = ThreadId(str(uuid4())), ThreadId(str(uuid4()))


@pytest.fixture
def server() -> RecordedServer:
    return RecordedServer(metadata={THREAD: {}, OTHER: {}})


@pytest.fixture
async def process(home: Home, server: RecordedServer) -> AsyncGenerator[Process]:
    async with home.process(server) as process:
        yield process


async def rows(process: Process, user_id: UserId = ANA, thread_id: ThreadId = THREAD) -> int:
    return len((await process.memory_of(user_id).summaries.stored(thread_id)).rows)


async def words(process: Process, user_id: UserId = ANA) -> tuple[int, int]:
    """Facts and episodes."""
    memory = process.memory_of(user_id)
    return len(await memory.facts.stored()), len(await memory.episodes.all())


async def remember(process: Process, user_id: UserId = ANA) -> None:
    memory = process.memory_of(user_id)
    await memory.profile.save([add("city", "Oslo"), add("job", "baker")])
    await fill(memory.summaries, THREAD, 2)
    await fill(memory.summaries, OTHER, 1)
    await keep_words(memory, THREAD)
    await process.accounts.keep(user_id, name="Ana", email=None, avatar=None, socials=["github"])


class TestThread:
    async def test_deleting_removes_it_and_its_summaries_and_keeps_what_was_said(
        self, process: Process, server: RecordedServer
    ) -> None:
        await remember(process)
        await process.services.forgetting.delete_thread(THREAD, user_id=ANA)
        assert list(server.metadata) == [OTHER]
        assert await rows(process) == 0
        assert await words(process) == (2, 3)
        assert await rows(process, thread_id=OTHER) == 1
        assert list(await process.ledger.scopes_of(THREAD)) == []

    async def test_a_pass_under_way_writes_nothing_after_it(self, process: Process) -> None:
        summaries = process.memory_of(ANA).summaries
        claim = await summaries.claim(THREAD)
        assert claim is not None
        await process.services.forgetting.delete_thread(THREAD, user_id=ANA)
        assert await summaries.commit(THREAD, a_pass(0, 1, ids(2)), claim=claim, at=NOW) is None
        assert await rows(process) == 0

    async def test_what_the_server_has_lost_already_is_purged(self, process: Process, server: RecordedServer) -> None:
        await remember(process)
        del server.metadata[THREAD]
        await process.services.forgetting.delete_thread(THREAD, user_id=ANA)
        assert await rows(process) == 0
        with pytest.raises(NotFound):
            await process.services.forgetting.delete_thread(THREAD, user_id=ANA)

    async def test_with_the_server_down_it_fails_and_can_be_repeated(
        self, process: Process, server: RecordedServer
    ) -> None:
        await remember(process)
        server.down = True
        with pytest.raises(ServerUnavailable):
            await process.services.forgetting.delete_thread(THREAD, user_id=ANA)
        server.down = False
        await process.services.forgetting.delete_thread(THREAD, user_id=ANA)
        assert await rows(process) == 0

    async def test_a_thread_deleted_on_the_server_is_purged_for_every_user_who_had_it(self, process: Process) -> None:
        await remember(process)
        await remember(process, BEN)
        assert await process.services.forgetting.thread_gone(THREAD) == 4
        assert await process.services.forgetting.thread_gone(THREAD) == 0
        for user_id in (ANA, BEN):
            assert await rows(process, user_id) == 0
            assert await rows(process, user_id, OTHER) == 1

    async def test_a_new_thread_of_the_same_id_starts_anew(self, process: Process) -> None:
        await remember(process)
        summaries = process.memory_of(ANA).summaries
        await summaries.delete(THREAD, rebuild=False)
        await process.services.forgetting.thread_gone(THREAD)
        row = await commit(summaries, THREAD, a_pass(0, 1, ids(2)))
        assert row is not None
        assert row.sequence == 1


class TestUser:
    async def test_erasing_a_user_counts_and_leaves_nothing(self, process: Process, server: RecordedServer) -> None:
        await remember(process)
        await remember(process, BEN)
        erased = await process.services.forgetting.erase_user(ANA)
        assert erased == {"threads": 2, "profile_keys": 2, "facts": 2, "episodes": 3, "thread_summaries": 3}
        assert server.metadata == {}
        assert await process.accounts.overlay(ANA) == {}
        assert (await process.memory_of(ANA).profile.view()).memory == {}
        assert list(await process.memory_of(ANA).summaries.all()) == []
        assert await words(process) == (0, 0)
        assert await words(process, BEN) == (2, 3)
        assert await process.store.asearch(("ana",), limit=100) == []
        assert len(await process.store.asearch(("ben",), limit=100)) == 4

    async def test_erasing_twice_finds_nothing_more(self, process: Process) -> None:
        await remember(process)
        await process.services.forgetting.erase_user(ANA)
        assert await process.services.forgetting.erase_user(ANA) == {
            "threads": 0,
            "profile_keys": 0,
            "facts": 0,
            "episodes": 0,
            "thread_summaries": 0,
        }

    async def test_erasing_the_memory_leaves_the_threads(self, process: Process, server: RecordedServer) -> None:
        await remember(process)
        erased = await process.services.forgetting.erase_memory(ANA)
        assert erased == {"profile_keys": 2, "facts": 2, "episodes": 3, "thread_summaries": 3}
        assert len(server.metadata) == 2

    async def test_an_erased_user_is_remembered_anew(self, process: Process) -> None:
        await remember(process)
        await process.services.forgetting.erase_user(ANA)
        await remember(process)
        assert await rows(process) == 2
        assert await words(process) == (2, 3)

    async def test_the_turn_of_a_run_that_was_under_way_is_not_recorded_afterwards(self, process: Process) -> None:
        under_way = FinishedWords(
            thread_id=THREAD,
            turn=9,
            message_ids=["h9", "a9"],
            user_text="Where do I live?",
            assistant_text="In Oslo.",
            finished_at=datetime.now(UTC),
        )
        await remember(process)
        await process.services.forgetting.erase_user(ANA)
        assert not await process.memory_of(ANA).episodes.record(under_way)
        assert await words(process) == (0, 0)


async def test_the_export_is_json_and_keeps_apart_what_was_saved_and_what_the_account_says(process: Process) -> None:
    await remember(process)
    exported = json.loads(json.dumps(await process.services.forgetting.export(ANA)))
    assert exported["user_id"] == "ana"
    assert exported["profile"] == {"city": "Oslo", "job": "baker"}
    assert exported["account"] == {"name": "Ana", "email": None, "avatar": None, "socials": ["github"]}
    passes = [(row["thread_id"], row["sequence"]) for row in exported["thread_summaries"]]
    assert [sequence for thread_id, sequence in passes if thread_id == THREAD] == [1, 2]
    assert [sequence for thread_id, sequence in passes if thread_id == OTHER] == [1]
    assert sorted(fact["content"] for fact in exported["facts"]) == [f"Fact {n} of ana in {THREAD}" for n in range(2)]
    assert {fact["thread_id"] for fact in exported["facts"]} == {THREAD}
    said = [episode["content"] for episode in exported["episodes"]]
    assert said == [f"User: Question {n}\nAssistant: Answer {n} for ana" for n in (2, 1, 0)]
