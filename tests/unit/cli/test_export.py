"""`afterthought export`, over a database."""

import json
from pathlib import Path
from typing import cast

import pytest

from backend.cli import Command, export
from backend.errors import InvalidInput, StorageUnavailable
from backend.ids import Json, ThreadId, UserId
from backend.memory.episodes import FinishedWords
from backend.memory.facts.record import ON_THE_PAGE, FactDraft
from tests.support.commands import Surroundings, carry_out, run_program, surroundings
from tests.support.memory_homes import Process
from tests.support.passes import NOW, fill
from tests.support.profile_patches import add
from tests.support.service_tokens import SERVICE_SECRET

__all__ = ["surroundings"]

EXPORT = cast("Command", export)
THREAD = ThreadId("11111111-1111-4111-8111-111111111111")
TOKENS = {"AUTH_MODE": "tokens", "AUTH_TOKENS": '{"t": {"user_id": "x"}}', "SERVICE_SECRET": SERVICE_SECRET}
STEERING = "\x1b[2J\x9b\u202e end"

TURN = FinishedWords(
    thread_id=THREAD,
    turn=0,
    message_ids=["h0", "a0"],
    user_text="I am in Oslo",
    assistant_text="noted",
    finished_at=NOW,
)


def remember(place: Surroundings, user_id: str, **profile: Json) -> None:
    async def act(process: Process) -> None:
        memory = process.memory_of(user_id)
        await memory.profile.save([add(key, value) for key, value in profile.items()])
        await memory.facts.create([FactDraft(content="Takes oat milk 牛乳")], origin=ON_THE_PAGE)
        await memory.episodes.record(TURN)
        await fill(memory.summaries, THREAD, 12)
        await process.accounts.keep(UserId(user_id), name="Ana", email=None, avatar=None, socials=["github"])

    place.with_memory(act)


def test_everything_of_the_user_is_printed_as_json(surroundings: Surroundings) -> None:
    surroundings.set(TOKENS)
    remember(surroundings, "ana@example.org", city="東京")
    remember(surroundings, "ana", city="Rome")

    done = carry_out(EXPORT, "--user", "ana@example.org")

    document = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert set(document) == {"user_id", "profile", "account", "facts", "episodes", "thread_summaries"}
    assert document["user_id"] == "ana@example.org"
    assert document["profile"] == {"city": "東京"}
    assert document["account"] == {"name": "Ana", "email": None, "avatar": None, "socials": ["github"]}
    assert [row["sequence"] for row in document["thread_summaries"]] == list(range(1, 13))
    assert [fact["content"] for fact in document["facts"]] == ["Takes oat milk 牛乳"]
    assert [episode["content"] for episode in document["episodes"]] == ["User: I am in Oslo\nAssistant: noted"]
    assert "東京" in done.out


def test_without_authentication_it_is_the_default_user(surroundings: Surroundings) -> None:
    surroundings.set({"AUTH_DEFAULT_USER": "ana"})
    remember(surroundings, "ana", city="Oslo")

    assert json.loads(carry_out(EXPORT).out)["profile"] == {"city": "Oslo"}


def test_of_a_user_who_is_not_known_there_is_nothing(surroundings: Surroundings) -> None:
    document = json.loads(carry_out(EXPORT, "--user", "nobody").out)

    nothing: dict[str, Json] = {"profile": {}, "account": {}, "facts": [], "episodes": [], "thread_summaries": []}
    assert document == {"user_id": "nobody", **nothing}


@pytest.mark.parametrize("variables", [TOKENS, {"AUTH_DEFAULT_USER": ""}], ids=["users sign in", "nobody speaks"])
def test_where_there_is_no_default_user_one_has_to_be_named(
    variables: dict[str, str], surroundings: Surroundings
) -> None:
    surroundings.set(variables)

    with pytest.raises(InvalidInput, match="--user"):
        carry_out(EXPORT)


@pytest.mark.parametrize("user_id", ["", " ", " ana", "x" * 257])
def test_what_can_be_no_user_id_is_a_wrong_argument(
    user_id: str, surroundings: Surroundings, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        carry_out(EXPORT, "--user", user_id)

    assert end.value.code == 2
    assert "--user" in capsys.readouterr().err


def test_a_file_gets_the_same_and_nothing_is_printed(surroundings: Surroundings) -> None:
    remember(surroundings, "ana", city="東京")

    done = carry_out(EXPORT, "--user", "ana", "--out", "ana.json")

    assert (done.code, done.out, done.err) == (0, "", "")
    assert json.loads((surroundings.cwd / "ana.json").read_text(encoding="utf-8"))["profile"] == {"city": "東京"}


def test_a_file_that_cannot_be_written_is_named(surroundings: Surroundings) -> None:
    with pytest.raises(InvalidInput, match="no/such/folder"):
        carry_out(EXPORT, "--user", "ana", "--out", "no/such/folder/ana.json")


def test_what_would_steer_the_terminal_is_printed_in_a_form_that_does_not_and_loses_nothing(
    surroundings: Surroundings,
) -> None:
    remember(surroundings, "ana", note=STEERING)

    out = carry_out(EXPORT, "--user", "ana").out

    assert out.isascii()
    assert json.loads(out)["profile"] == {"note": STEERING}


def test_an_embedded_database_that_was_never_made_is_said_and_not_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(StorageUnavailable, match="make dev"):
        carry_out(EXPORT, "--user", "ana")

    assert list(tmp_path.iterdir()) == []


def test_a_database_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://127.0.0.1:1/nowhere")

    with pytest.raises(StorageUnavailable):
        carry_out(EXPORT, "--user", "ana")


@pytest.mark.anyio
async def test_the_program_prints_json_and_nothing_else_into_a_pipe(database_url: str, tmp_path: Path) -> None:
    done = await run_program("export", variables={"DATABASE_URL": database_url}, cwd=tmp_path)

    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["user_id"] == "local"


@pytest.mark.anyio
async def test_the_program_says_in_one_line_what_is_missing(tmp_path: Path) -> None:
    done = await run_program("export", variables={}, cwd=tmp_path)

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("There is no database in ")
    assert done.err.count("\n") == 1
