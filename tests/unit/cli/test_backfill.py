"""`afterthought backfill`, over a database, a server that has threads, and a scripted summary model."""

import asyncio
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest

from backend.cli import Command, backfill
from backend.errors import InvalidInput, ModelUnavailable, ServerUnavailable, StorageUnavailable
from backend.ids import ThreadId, UserId
from tests.support.commands import Surroundings, carry_out, surroundings
from tests.support.langgraph_server import environment, free_port
from tests.support.memory_homes import Process
from tests.support.model_server import ModelServer, error, structured
from tests.support.service_tokens import SERVICE_SECRET
from tests.support.thread_server import ThreadServer

__all__ = ["surroundings"]

BACKFILL = cast("Command", backfill)
ANA, BEN = "ana@example.org", "ben"
ENTRIES = structured({"entries": [{"question": "What?", "answer": "That.", "refs": ["#1"]}]})
TOKENS = {"AUTH_MODE": "tokens", "AUTH_TOKENS": '{"t": {"user_id": "x"}}', "SERVICE_SECRET": SERVICE_SECRET}
K = {"MEMORY_THREAD_SUMMARY_KEEP_RECENT": "2"}

Windows = list[tuple[int, int]]


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as model:
        model.when("summary", ENTRIES)
        yield model


@pytest.fixture
def server(surroundings: Surroundings, model: ModelServer) -> Iterator[ThreadServer]:
    """A server without sign-ins."""
    with ThreadServer() as server:
        surroundings.set({**model.environment, **K, "SELF_URL": server.url})
        yield server


@pytest.fixture
def owned(surroundings: Surroundings, model: ModelServer) -> Iterator[ThreadServer]:
    """A server whose threads belong to users who sign in."""
    with ThreadServer(signs_in=True) as server:
        surroundings.set({**model.environment, **K, **TOKENS, "SELF_URL": server.url})
        yield server


def windows_of(place: Surroundings, user_id: str) -> Mapping[str, Windows]:
    """The windows of a user's summaries by thread."""

    async def act(process: Process) -> dict[str, Windows]:
        found: dict[str, Windows] = {}
        for row in await process.memory_of(user_id).summaries.all():
            found.setdefault(row.thread_id, []).append((row.start_message_index, row.end_message_index))
        return found

    return place.with_memory(act)


def sign_in(place: Surroundings, *users: str) -> None:
    async def act(process: Process) -> None:
        for user_id in users:
            await process.accounts.keep(UserId(user_id), name=None, email=None, avatar=None, socials=[])

    place.with_memory(act)


def test_the_missing_summaries_of_a_user_are_written_and_counted(
    owned: ThreadServer, surroundings: Surroundings
) -> None:
    long, short, bens = owned.add(5, owner=ANA), owned.add(1, owner=ANA), owned.add(4, owner=BEN)

    done = carry_out(BACKFILL, "--user", ANA)

    assert (done.code, done.out, done.err) == (0, "Passes written: 1, in 1 of 2 threads.\n", "")
    assert windows_of(surroundings, ANA) == {long: [(0, 3)]}
    assert windows_of(surroundings, BEN) == {}
    assert {short, bens} <= set(owned.threads)


def test_a_second_run_finds_nothing_to_do_and_asks_no_model(
    owned: ThreadServer, surroundings: Surroundings, model: ModelServer
) -> None:
    owned.add(4, owner=ANA)
    carry_out(BACKFILL, "--user", ANA)
    before = windows_of(surroundings, ANA)

    done = carry_out(BACKFILL, "--user", ANA)

    assert done.out == "Passes written: 0, in 0 of 1 threads.\n"
    assert windows_of(surroundings, ANA) == before
    assert len(model.requests) == 1


def test_what_a_run_that_stopped_has_written_is_not_written_again(
    owned: ThreadServer, surroundings: Surroundings, model: ModelServer
) -> None:
    first, second, third = (owned.add(2, owner=ANA) for _ in range(3))
    model.then(ENTRIES, error(503, "overloaded"), to="summary")

    with pytest.raises(ModelUnavailable):
        carry_out(BACKFILL, "--user", ANA)
    assert windows_of(surroundings, ANA) == {first: [(0, 1)]}
    done = carry_out(BACKFILL, "--user", ANA)

    assert done.out == "Passes written: 2, in 2 of 3 threads.\n"
    assert windows_of(surroundings, ANA) == {thread: [(0, 1)] for thread in (first, second, third)}
    assert len(model.requests) == 4


def test_a_thread_whose_summary_comes_out_wrong_does_not_hold_up_the_others(
    owned: ThreadServer, surroundings: Surroundings, model: ModelServer
) -> None:
    wrong, right = owned.add(2, owner=ANA), owned.add(2, owner=ANA)
    model.then(structured({"entries": "oops"}), to="summary")

    done = carry_out(BACKFILL, "--user", ANA)

    assert (done.code, done.out) == (1, "Passes written: 1, in 1 of 2 threads.\n")
    assert done.err.startswith(f"Thread {wrong}: ")
    assert windows_of(surroundings, ANA) == {right: [(0, 1)]}


def test_all_means_everybody_who_has_signed_in(owned: ThreadServer, surroundings: Surroundings) -> None:
    sign_in(surroundings, ANA, BEN)
    threads = {user_id: owned.add(2, owner=user_id) for user_id in (ANA, BEN, "never seen")}

    done = carry_out(BACKFILL, "--all")

    assert done.out == "Passes written: 2, in 2 of 2 threads.\n"
    for user_id in (ANA, BEN):
        assert windows_of(surroundings, user_id) == {threads[user_id]: [(0, 1)]}


def test_where_users_sign_in_one_has_to_be_named(owned: ThreadServer) -> None:
    with pytest.raises(InvalidInput, match="--user"):
        carry_out(BACKFILL)


def test_without_authentication_a_thread_is_of_who_spoke_in_it_last(
    server: ThreadServer, surroundings: Surroundings
) -> None:
    surroundings.set({"AUTH_DEFAULT_USER": "local"})
    locals_, anas = server.add(2, user_id=" unnamed "), server.add(2, user_id=ANA)
    bens, nobodys = server.add(2, userId=BEN, user_id=" unnamed "), server.add(2, user_id=" ")

    default = carry_out(BACKFILL)
    everybody = carry_out(BACKFILL, "--all")

    assert default.out == "Passes written: 1, in 1 of 1 threads.\n"
    assert everybody.out == "Passes written: 2, in 2 of 3 threads.\n"
    assert windows_of(surroundings, "local") == {locals_: [(0, 1)]}
    assert windows_of(surroundings, ANA) == {anas: [(0, 1)]}
    assert windows_of(surroundings, BEN) == {bens: [(0, 1)]}
    assert nobodys in server.threads


def test_every_thread_is_found_and_one_that_is_deleted_meanwhile_is_passed_over(
    server: ThreadServer, surroundings: Surroundings
) -> None:
    threads = [server.add(0) for _ in range(204)]
    last, gone = server.add(2), threads[7]
    server.is_gone_when_asked.add(gone)

    done = carry_out(BACKFILL)

    assert done.out == "Passes written: 1, in 1 of 204 threads.\n"
    assert windows_of(surroundings, "local") == {last: [(0, 1)]}


def test_what_was_deleted_for_good_stays_away_and_what_was_emptied_comes_back(
    owned: ThreadServer, surroundings: Surroundings
) -> None:
    fenced, emptied = owned.add(2, owner=ANA), owned.add(2, owner=ANA)
    carry_out(BACKFILL, "--user", ANA)

    async def delete(process: Process) -> None:
        summaries = process.memory_of(ANA).summaries
        await summaries.delete(ThreadId(fenced), rebuild=False)
        await summaries.delete(ThreadId(emptied), rebuild=True)

    surroundings.with_memory(delete)
    done = carry_out(BACKFILL, "--user", ANA)

    assert done.out == "Passes written: 1, in 1 of 2 threads.\n"
    assert windows_of(surroundings, ANA) == {emptied: [(0, 1)]}


def test_a_thread_that_a_background_run_is_at_is_left_to_it(
    owned: ThreadServer, surroundings: Surroundings, model: ModelServer
) -> None:
    thread_id = ThreadId(owned.add(2, owner=ANA))

    async def claim(process: Process) -> None:
        assert await process.memory_of(ANA).summaries.claim(thread_id)

    surroundings.with_memory(claim)

    assert carry_out(BACKFILL, "--user", ANA).out == "Passes written: 0, in 0 of 1 threads.\n"
    assert model.requests == []


def test_where_summaries_are_off_it_says_so(server: ThreadServer, surroundings: Surroundings) -> None:
    surroundings.set({"MEMORY_THREAD_SUMMARY_KEEP_RECENT": "0"})

    with pytest.raises(InvalidInput, match="MEMORY_THREAD_SUMMARY_KEEP_RECENT"):
        carry_out(BACKFILL)


def test_without_a_server_it_says_where_one_was_looked_for(surroundings: Surroundings) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"

    with pytest.raises(ServerUnavailable, match=nobody):
        carry_out(BACKFILL, "--url", nobody)


def test_without_a_database_it_says_so(server: ThreadServer, surroundings: Surroundings) -> None:
    surroundings.set({"DATABASE_URL": "postgresql://127.0.0.1:1/nowhere"})

    with pytest.raises(StorageUnavailable):
        carry_out(BACKFILL)


@pytest.mark.anyio
async def test_the_program_may_be_stopped_and_goes_on_where_it_was(
    database_url: str, model: ModelServer, tmp_path: Path
) -> None:
    with ThreadServer() as server:
        _, second = server.add(2), server.add(2)
        gate = model.hold(lambda request: second in request.last_human_text)
        variables = environment({**model.environment, **K, "SELF_URL": server.url, "DATABASE_URL": database_url})
        program = [sys.executable, "-m", "backend.cli", "backfill"]
        stopped = await asyncio.create_subprocess_exec(*program, cwd=tmp_path, env=variables)
        await model.wait_until(lambda: gate.waiting, timeout=60)
        stopped.send_signal(signal.SIGINT)
        assert await stopped.wait() == 130
        gate.release()
        again = await asyncio.create_subprocess_exec(
            *program, cwd=tmp_path, env=variables, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await again.communicate()

    assert (again.returncode, out) == (0, b"Passes written: 1, in 1 of 2 threads.\n")
    assert b"Traceback" not in err
