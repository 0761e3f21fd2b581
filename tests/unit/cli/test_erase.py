"""`afterthought erase`, over a database and a server that has threads."""

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from backend.cli import Command, erase
from backend.errors import InvalidInput, ServerUnavailable
from backend.ids import Json, ThreadId, UserId
from backend.memory.episodes import FinishedWords
from backend.memory.facts.record import ON_THE_PAGE, FactDraft
from tests.support.commands import Surroundings, carry_out, run_program, surroundings
from tests.support.langgraph_server import free_port
from tests.support.memory_homes import Process
from tests.support.passes import NOW, fill
from tests.support.profile_patches import add
from tests.support.service_tokens import SERVICE_SECRET
from tests.support.thread_server import ThreadServer

__all__ = ["surroundings"]

ERASE = cast("Command", erase)
ANA, BEN = "ana@example.org", "ben"
TOKENS = {"AUTH_MODE": "tokens", "AUTH_TOKENS": '{"t": {"user_id": "x"}}', "SERVICE_SECRET": SERVICE_SECRET}
NOTHING: Mapping[str, Json] = {
    "user_id": ANA,
    "profile": {},
    "account": {},
    "facts": [],
    "episodes": [],
    "thread_summaries": [],
}
NONE = "threads 0\nprofile_keys 0\nfacts 0\nepisodes 0\nthread_summaries 0\n"
TURN = FinishedWords(
    thread_id=ThreadId("11111111-1111-4111-8111-111111111111"),
    turn=0,
    message_ids=["h0", "a0"],
    user_text="I am in Oslo",
    assistant_text="noted",
    finished_at=NOW,
)


def remember(place: Surroundings, *threads: str, user_id: str) -> None:
    async def act(process: Process) -> None:
        memory = process.memory_of(user_id)
        await memory.profile.save([add("city", "Oslo"), add("pet", "Al")])
        await memory.facts.create([FactDraft(content="likes tea")], origin=ON_THE_PAGE)
        await memory.episodes.record(TURN)
        await process.accounts.keep(UserId(user_id), name="x", email=None, avatar=None, socials=[])
        for thread_id in threads:
            await fill(memory.summaries, ThreadId(thread_id), 3)

    place.with_memory(act)


def kept_of(place: Surroundings, user_id: str) -> Mapping[str, Json]:
    async def act(process: Process) -> Mapping[str, Json]:
        return await process.services.forgetting.export(UserId(user_id))

    return place.with_memory(act)


def test_everything_of_the_user_goes_and_is_counted_and_others_stay(surroundings: Surroundings) -> None:
    with ThreadServer(signs_in=True) as server:
        surroundings.set({**TOKENS, "SELF_URL": server.url})
        anas = [server.add(1, owner=ANA) for _ in range(2)]
        bens = server.add(1, owner=BEN)
        remember(surroundings, *anas, user_id=ANA)
        remember(surroundings, bens, user_id=BEN)
        bens_before = kept_of(surroundings, BEN)

        done = carry_out(ERASE, "--user", ANA, "--yes")
        again = carry_out(ERASE, "--user", ANA, "--yes")

    assert (done.code, done.out, done.err) == (
        0,
        "threads 2\nprofile_keys 2\nfacts 1\nepisodes 1\nthread_summaries 6\n",
        "",
    )
    assert again.out == NONE
    assert list(server.threads) == [bens]
    assert kept_of(surroundings, ANA) == NOTHING
    assert kept_of(surroundings, BEN) == bens_before


def test_without_authentication_threads_stay_and_no_server_is_needed(surroundings: Surroundings) -> None:
    surroundings.set({"SELF_URL": f"http://127.0.0.1:{free_port()}"})
    remember(surroundings, "11111111-1111-4111-8111-111111111111", user_id=ANA)

    done = carry_out(ERASE, "--user", ANA, "--yes")

    assert done.out == "threads 0\nprofile_keys 2\nfacts 1\nepisodes 1\nthread_summaries 3\n"
    assert kept_of(surroundings, ANA) == NOTHING


def test_without_the_server_that_has_the_threads_nothing_is_erased(surroundings: Surroundings) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    surroundings.set(TOKENS)
    remember(surroundings, user_id=ANA)

    with pytest.raises(ServerUnavailable, match=nobody):
        carry_out(ERASE, "--user", ANA, "--yes", "--url", nobody)

    assert kept_of(surroundings, ANA)["profile"] == {"city": "Oslo", "pet": "Al"}


def test_a_server_that_refuses_the_service_token_stops_it(surroundings: Surroundings) -> None:
    with ThreadServer(signs_in=True) as server:
        surroundings.set({**TOKENS, "SERVICE_SECRET": "another-secret-of-these-tests-012345", "SELF_URL": server.url})
        remember(surroundings, user_id=ANA)

        with pytest.raises(ServerUnavailable):
            carry_out(ERASE, "--user", ANA, "--yes")

    assert kept_of(surroundings, ANA)["profile"] == {"city": "Oslo", "pet": "Al"}


class Keyboard(io.StringIO):
    """A terminal at which somebody types."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("typed", ["yes\n", "\n", "ben\n", f"{ANA} \n", f"{ANA.upper()}\n", ""])
def test_anything_but_the_id_erases_nothing(
    typed: str, surroundings: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(surroundings, user_id=ANA)
    monkeypatch.setattr(sys, "stdin", Keyboard(typed))

    done = carry_out(ERASE, "--user", ANA)

    assert (done.code, done.out, done.err) == (1, "", "Nothing was erased.\n")
    assert kept_of(surroundings, ANA)["profile"] == {"city": "Oslo", "pet": "Al"}


def test_typing_the_id_erases(
    surroundings: Surroundings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    remember(surroundings, user_id=ANA)
    monkeypatch.setattr(sys, "stdin", Keyboard(f"{ANA}\n"))

    assert carry_out(ERASE, "--user", ANA).code == 0

    assert ANA in capsys.readouterr().out
    assert kept_of(surroundings, ANA) == NOTHING


def test_where_nobody_can_be_asked_it_wants_to_be_told(surroundings: Surroundings) -> None:
    remember(surroundings, user_id=ANA)

    with pytest.raises(InvalidInput, match="--yes"):
        carry_out(ERASE, "--user", ANA)

    assert kept_of(surroundings, ANA)["profile"] == {"city": "Oslo", "pet": "Al"}


@pytest.mark.anyio
async def test_the_program_erases_in_a_script_and_asks_for_a_user(database_url: str, tmp_path: Path) -> None:
    variables = {"DATABASE_URL": database_url}
    done = await run_program("erase", "--user", ANA, "--yes", variables=variables, cwd=tmp_path)
    unnamed = await run_program("erase", "--yes", variables=variables, cwd=tmp_path)

    assert (done.code, done.out, done.err) == (0, NONE, "")
    assert (unnamed.code, unnamed.out) == (2, "")
    assert "--user" in unnamed.err
