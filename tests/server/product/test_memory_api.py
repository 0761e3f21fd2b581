"""The HTTP API of memory on a real server, with users who sign in and a summary after every two turns."""

import json
from collections.abc import AsyncIterator, Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient

from tests.support.commands import Done, run_program
from tests.support.conditions import eventually, until
from tests.support.database_look import kept_of_thread, tables_with
from tests.support.http_api import SPELLINGS
from tests.support.langgraph_server import RunningServer, running_server
from tests.support.model_server import ModelServer, call, structured, text, tool_calls
from tests.support.postgres import TestServer
from tests.support.product import PRODUCT, Product
from tests.support.sdk_chat import stream_turn
from tests.support.service_tokens import SERVICE_SECRET
from tests.support.two_users import client as client_of
from tests.support.two_users import http, service_token, status_of

pytestmark = [pytest.mark.anyio, pytest.mark.server]

USERS: Final[dict[str, dict[str, Any]]] = {
    "token-of-ana-0123456789": {
        "user_id": "ana@example.org",
        "name": "Ana López",
        "email": "ana@example.org",
        "avatar": "https://a.example/1.png",
    },
    "token-of-bo-0123456789": {"user_id": "bo"},
    "token-of-cy-0123456789": {"user_id": "cy"},
    "token-of-di-0123456789": {"user_id": "di", "name": "Di"},
    "token-of-ed-0123456789": {"user_id": "ed", "name": "Ed"},
    "token-of-root-0123456789": {"user_id": "root", "permissions": ["admin"]},
}
ANA, BO, CY, DI, ED, ROOT = USERS
ENTRIES = structured({"entries": [{"question": "What?", "answer": "That.", "refs": ["#1", "#2"]}]})
MAX_BODY_BYTES = 100_000


@dataclass(frozen=True)
class Memory:
    """A running server, the models that it talks to, and its database."""

    server: RunningServer
    model: ModelServer
    database_url: str
    variables: dict[str, str]

    def own(self, token: str) -> httpx.AsyncClient:
        return http(self.server, token)

    async def chat(self, token: str, *texts: str, thread_id: str | None = None) -> str:
        """Turns of a user in a thread of theirs; its id."""
        async with client_of(self.server, token) as user:
            thread_id = thread_id or (await user.threads.create())["thread_id"]
            for said in texts:
                turn = await stream_turn(user, thread_id, said)
                assert turn.errors == []
        return thread_id

    async def summarized(self, token: str) -> str:
        """A thread with a summary; its id."""
        thread_id = await self.chat(token, "one", "two")
        await eventually(lambda: self.has_summary(token, thread_id), timeout_seconds=30)
        return thread_id

    async def has_summary(self, token: str, thread_id: str) -> bool:
        async with self.own(token) as own:
            threads = (await own.get("/api/memory/threads")).json()["threads"]
        return thread_id in [thread["thread_id"] for thread in threads]

    async def profile(self, token: str) -> dict[str, Any]:
        async with self.own(token) as own:
            response = await own.get("/api/memory/profile")
            assert response.status_code == 200, response.text
            return response.json()

    async def exists(self, token: str, thread_id: str) -> bool:
        async with client_of(self.server, token) as user:
            return await status_of(user.threads.get(thread_id)) == 200

    async def run(self, *arguments: str, cwd: Path) -> Done:
        """The program, with the server's settings."""
        variables = {**self.variables, "SELF_URL": self.server.url}
        return await run_program(*arguments, variables=variables, cwd=cwd)


@pytest.fixture(scope="module")
def shared(postgres_server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[Memory]:
    database_url = postgres_server.create_database()
    with ModelServer() as model:
        variables = {
            **model.environment,
            "DATABASE_URL": database_url,
            "AUTH_MODE": "tokens",
            "AUTH_TOKENS": json.dumps(USERS),
            "SERVICE_SECRET": SERVICE_SECRET,
            "MEMORY_THREAD_SUMMARY_KEEP_RECENT": "2",
            "MAX_BODY_BYTES": str(MAX_BODY_BYTES),
        }
        with running_server(tmp_path_factory.mktemp("memory"), files=PRODUCT, env=variables) as server:
            yield Memory(server, model, database_url, variables)
            assert "Blocking call" not in server.log
        model.reset()
    postgres_server.drop_database(database_url)


@pytest.fixture
def memory(shared: Memory) -> Generator[Memory]:
    model = shared.model
    model.reset()
    model.when("router", structured({"subagent": "chat_agent"}))
    model.when("title", text("A fine title"))
    model.when("chat", text("Hello there."))
    model.when("summary", ENTRIES)
    yield shared
    model.assert_nothing_unexpected()


def saves(**profile: str) -> dict[str, Any]:
    return {"patches": [{"op": "add", "path": f"/{key}", "value": value} for key, value in profile.items()]}


async def test_what_a_chat_saved_appears_under_what_the_sign_in_said(memory: Memory) -> None:
    memory.model.then(tool_calls(call("save_memory", saves(city="Oslo"))), text("Noted."), to="chat")
    await memory.chat(ANA, "I live in Oslo")

    profile = await memory.profile(ANA)

    assert profile["memory"] == {
        "name": "Ana López",
        "email": "ana@example.org",
        "avatar": "https://a.example/1.png",
        "city": "Oslo",
    }
    assert profile["store_keys"] == ["city"]
    assert profile["overlay_keys"] == ["name", "email", "avatar"]
    assert (await memory.profile(BO))["memory"] == {}


async def test_a_key_that_is_removed_on_the_page_is_not_in_the_next_prompt(memory: Memory) -> None:
    memory.model.then(tool_calls(call("save_memory", saves(pet="Al the cat"))), text("Noted."), to="chat")
    thread_id = await memory.chat(BO, "my cat is Al", "hello")
    assert "Al the cat" in memory.model.for_model("chat")[-1].system_text

    async with memory.own(BO) as bo:
        assert (await bo.delete("/api/memory/profile/pet")).status_code == 204
    await memory.chat(BO, "hello again", thread_id=thread_id)

    assert "Al the cat" not in memory.model.for_model("chat")[-1].system_text


async def test_summaries_are_listed_with_the_title_that_the_server_keeps(memory: Memory) -> None:
    thread_id = await memory.summarized(ANA)

    async with memory.own(ANA) as ana:
        threads = (await ana.get("/api/memory/threads")).json()["threads"]
        export = (await ana.get("/api/memory/export")).json()

    [thread] = [thread for thread in threads if thread["thread_id"] == thread_id]
    assert thread["title"] == "A fine title"
    [row] = thread["summaries"]
    assert (row["start_message_index"], row["end_message_index"], len(row["message_ids"])) == (0, 1, 2)
    assert row["summary"] == {"entries": [{"question": "What?", "answer": "That.", "refs": ["#1", "#2"]}]}
    assert row in export["thread_summaries"]


Delete = Callable[[Memory, str, str], Any]


async def by_the_server(memory: Memory, token: str, thread_id: str) -> int:
    async with client_of(memory.server, token) as user:
        return await status_of(user.threads.delete(thread_id))


async def by_us(memory: Memory, token: str, thread_id: str) -> int:
    async with memory.own(token) as own:
        return (await own.delete(f"/api/threads/{thread_id}")).status_code


async def by_pruning(memory: Memory, token: str, thread_id: str) -> int:
    async with memory.own(token) as own:
        return (await own.post("/threads/prune", json={"thread_ids": [thread_id]})).status_code


WAYS: Final[dict[str, Delete]] = {"the server's": by_the_server, "ours": by_us, "pruning": by_pruning}


class TestDeletedThread:
    @pytest.mark.parametrize("delete", WAYS.values(), ids=WAYS)
    async def test_nothing_of_it_is_left_whoever_deletes_it(self, delete: Delete, memory: Memory) -> None:
        thread_id, other = await memory.summarized(CY), await memory.summarized(CY)
        before = kept_of_thread(memory.database_url, other)
        assert set(kept_of_thread(memory.database_url, thread_id)) >= {"checkpoints", "store", "summarized_threads"}

        assert await delete(memory, CY, thread_id) < 300

        assert kept_of_thread(memory.database_url, thread_id) == {}
        assert not await memory.exists(CY, thread_id)
        assert not await memory.has_summary(CY, thread_id)
        assert kept_of_thread(memory.database_url, other) == before
        assert await delete(memory, CY, thread_id) == 404

    @pytest.mark.parametrize("delete", WAYS.values(), ids=WAYS)
    async def test_a_pass_that_is_in_the_model_meanwhile_writes_nothing(self, delete: Delete, memory: Memory) -> None:
        gate, ended = memory.model.hold("summary"), ends_of_passes(memory)
        thread_id = await memory.chat(CY, "one", "two")
        await memory.model.wait_until(lambda: gate.waiting, timeout=30)

        assert await delete(memory, CY, thread_id) < 300
        gate.release()
        await until(lambda: ends_of_passes(memory) > ended, timeout_seconds=30)

        assert kept_of_thread(memory.database_url, thread_id) == {}
        assert not await memory.has_summary(CY, thread_id)

    @pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
    @pytest.mark.parametrize("path", ["/threads", "/api/threads"])
    async def test_it_is_meant_in_every_spelling_of_its_id(
        self, path: str, spell: Callable[[str], str], memory: Memory
    ) -> None:
        thread_id = await memory.summarized(CY)

        async with memory.own(CY) as cy:
            response = await cy.delete(f"{path}/{spell(thread_id)}")

        assert response.status_code == 204
        assert kept_of_thread(memory.database_url, thread_id) == {}

    @pytest.mark.parametrize("delete", WAYS.values(), ids=WAYS)
    async def test_somebody_elses_is_not_found_and_keeps_everything(self, delete: Delete, memory: Memory) -> None:
        thread_id = await memory.summarized(ANA)
        before = kept_of_thread(memory.database_url, thread_id)

        assert await delete(memory, BO, thread_id) == 404

        assert kept_of_thread(memory.database_url, thread_id) == before
        assert await memory.has_summary(ANA, thread_id)

    async def test_a_new_thread_of_the_same_id_is_summarized_like_any_other(self, memory: Memory) -> None:
        thread_id = await memory.summarized(CY)
        await by_us(memory, CY, thread_id)

        async with client_of(memory.server, CY) as cy:
            await cy.threads.create(thread_id=thread_id)
        await memory.chat(CY, "three", "four", thread_id=thread_id)
        await eventually(lambda: memory.has_summary(CY, thread_id), timeout_seconds=30)


def ends_of_passes(memory: Memory) -> int:
    """How many passes ended without a row because of what happened meanwhile."""
    return memory.server.log.count("covered or removed meanwhile")


class TestErasing:
    async def test_an_admin_erases_a_user_with_all_threads(self, memory: Memory) -> None:
        thread_id = await memory.summarized(DI)
        kept = await memory.summarized(ANA)
        memory.model.then(tool_calls(call("save_memory", saves(city="Oslo"))), text("Noted."), to="chat")
        await memory.chat(DI, "I live in Oslo")

        async with memory.own(BO) as bo:
            assert (await bo.delete("/api/admin/users/di")).status_code == 403
        async with memory.own(ROOT) as root:
            erased = (await root.delete("/api/admin/users/di")).json()

        assert erased.pop("threads") >= 2  # a background run has a thread too, while it lasts
        assert erased.pop("episodes") in {2, 3}  # that of the last turn may not have come to it
        assert erased == {"profile_keys": 1, "facts": 0, "thread_summaries": 1}
        assert kept_of_thread(memory.database_url, thread_id) == {}
        assert not await memory.exists(DI, thread_id)
        assert await memory.has_summary(ANA, kept)
        assert await memory.profile(DI) == {
            "memory": {"name": "Di"},
            "store_keys": [],
            "overlay_keys": ["name"],
            "summaries": [],
        }

    async def test_the_program_erases_a_user_under_the_running_server(self, memory: Memory, tmp_path: Path) -> None:
        thread_id = await memory.summarized(ED)
        assert (await memory.profile(ED))["memory"] == {"name": "Ed"}

        done = await memory.run("erase", "--user", "ed", "--yes", cwd=tmp_path)

        assert (done.code, done.err) == (0, "")
        assert done.out.endswith("\nprofile_keys 0\nfacts 0\nepisodes 2\nthread_summaries 1\n")
        assert kept_of_thread(memory.database_url, thread_id) == {}
        assert not await memory.exists(ED, thread_id)
        await eventually(lambda: is_signed_in_again(memory))


async def is_signed_in_again(memory: Memory) -> bool:
    """Whether what the sign-in says is kept anew, as of a user who was never there."""
    profile = await memory.profile(ED)
    assert profile["summaries"] == []
    return profile["memory"] == {"name": "Ed"}


async def test_the_program_writes_summaries_again_that_were_emptied(memory: Memory, tmp_path: Path) -> None:
    thread_id = await memory.summarized(BO)
    async with memory.own(BO) as bo:
        assert (await bo.delete(f"/api/memory/threads/{thread_id}")).json() == {"deleted": 1}
    assert not await memory.has_summary(BO, thread_id)
    asked = len(memory.model.for_model("summary"))

    done = await memory.run("backfill", "--all", cwd=tmp_path)
    again = await memory.run("backfill", "--user", "bo", cwd=tmp_path)

    assert done.code == 0, done.err
    assert done.out.startswith("Passes written: 1, in 1 of ")
    assert again.out.startswith("Passes written: 0, in 0 of ")
    assert await memory.has_summary(BO, thread_id)
    assert len(memory.model.for_model("summary")) == asked + 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("method", "path"),
        [("GET", "/api/memory/profile"), ("DELETE", "/api/memory"), ("DELETE", "/api/admin/users/ana@example.org")],
    )
    async def test_without_a_sign_in_the_refusal_has_our_form(self, method: str, path: str, memory: Memory) -> None:
        async with http(memory.server) as nobody:
            response = await nobody.request(method, path, headers={"origin": "http://127.0.0.1:3000"})

        assert response.status_code == 401
        assert response.json()["error"]["kind"] == "unauthenticated"
        assert "Bearer" in response.json()["error"]["message"]

    async def test_a_service_token_is_refused(self, memory: Memory) -> None:
        async with http(memory.server, service_token("bo", "erase")) as service:
            response = await service.get("/api/memory/profile")

        assert (response.status_code, response.json()["error"]["kind"]) == (403, "forbidden")

    async def test_what_is_not_there_has_our_form_under_api_only(self, memory: Memory) -> None:
        async with memory.own(BO) as bo:
            ours, theirs = await bo.get("/api/nothing"), await bo.get("/nothing")

        assert ours.json() == {"error": {"kind": "not_found", "message": "Not Found"}}
        assert theirs.json() == {"detail": "Not Found"}

    @pytest.mark.parametrize("path", ["/api/memory", "/threads"])
    async def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(
        self, path: str, memory: Memory
    ) -> None:
        method = "DELETE" if path.startswith("/api") else "POST"
        async with memory.own(BO) as bo:
            declared = await bo.request(method, path, content=b"x" * (MAX_BODY_BYTES + 1))
            undeclared = await bo.request(method, path, content=pieces(MAX_BODY_BYTES + 1))

        assert declared.status_code == undeclared.status_code == 413
        assert declared.json()["error"]["kind"] == "too_large"
        assert path == "/threads" or undeclared.json()["error"]["kind"] == "too_large"

    async def test_the_documentation_of_the_server_describes_our_routes(self, memory: Memory) -> None:
        async with memory.own(BO) as bo:
            described = (await bo.get("/openapi.json")).json()

        failures = described["paths"]["/api/memory/threads/{thread_id}"]["delete"]["responses"]
        assert failures["404"]["content"]["application/json"]["schema"]["$ref"].endswith("ErrorResponse")
        assert "422" not in failures


async def pieces(size: int) -> AsyncIterator[bytes]:
    for start in range(0, size, 10_000):
        yield b"x" * min(10_000, size - start)


async def test_no_token_is_kept_anywhere_in_the_database(memory: Memory) -> None:
    thread_id = await memory.summarized(ANA)

    assert "checkpoints" in tables_with(memory.database_url, thread_id)
    assert tables_with(memory.database_url, ANA) == []
    assert tables_with(memory.database_url, SERVICE_SECRET) == []


async def test_without_authentication_a_thread_is_summarized_for_who_spoke_in_it_last(
    product: Product, client: LangGraphClient
) -> None:
    """By the program, over the embedded database that the server has started."""
    product.model.when("summary", ENTRIES)
    threads = {user_id: (await client.threads.create())["thread_id"] for user_id in ("zoe", "yan")}
    for user_id, thread_id in threads.items():
        for said in ("one", "two"):
            await stream_turn(client, thread_id, said, config={"configurable": {"user_id": user_id}})
    folder = product.server.log_file.parent
    variables = {
        **product.model.environment,
        "SELF_URL": product.url,
        "MEMORY_THREAD_SUMMARY_KEEP_RECENT": "2",
    }

    done = await run_program("backfill", "--user", "zoe", variables=variables, cwd=folder)
    exported = await run_program("export", "--user", "zoe", variables=variables, cwd=folder)
    others = await run_program("export", "--user", "yan", variables=variables, cwd=folder)

    assert (done.code, done.out) == (0, "Passes written: 1, in 1 of 1 threads.\n"), done.err
    assert [row["thread_id"] for row in json.loads(exported.out)["thread_summaries"]] == [threads["zoe"]]
    assert json.loads(others.out)["thread_summaries"] == []
