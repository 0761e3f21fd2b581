"""`save_memory` as a model calls it: every call ends in one result, and the model gets a further turn."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from backend.errors import StorageUnavailable
from backend.ids import UserId
from tests.support.memory_driver import MemoryDriver, OpenDriver
from tests.support.memory_homes import Home, HomeInMemory
from tests.support.model_server import ModelServer, call, text, tool_calls
from tests.support.profile_patches import add

pytestmark = pytest.mark.anyio

Patches = Sequence[Mapping[str, Any]]

EMAIL = "ana@example.org"
STORED = {"city": "Oslo"}
MERGED = {"email": EMAIL, **STORED}


async def sign_in(driver: MemoryDriver, **said: Any) -> None:
    values: dict[str, Any] = {"name": None, "email": None, "avatar": None, "socials": [], **said}
    await driver.process.accounts.keep(UserId("ana"), **values)


async def results(driver: MemoryDriver) -> list[ToolMessage]:
    return [message for message in await driver.messages() if isinstance(message, ToolMessage)]


async def ask(model: ModelServer, driver: MemoryDriver, arguments: Mapping[str, Any] | str) -> ToolMessage:
    """A turn in which the model calls `save_memory` once and then answers; the one result of the call."""
    model.then(tool_calls(call("save_memory", arguments)), text("That is done."), to="chat")
    before = len(model.for_model("chat"))
    assert await driver.send("remember it") == "That is done."
    assert len(model.for_model("chat")) == before + 2
    [result] = await results(driver)
    last = model.for_model("chat")[-1].messages[-1]
    assert (last["role"], last["content"]) == ("tool", result.text)
    return result


async def stored(driver: MemoryDriver) -> Mapping[str, Any]:
    view = await driver.memory.profile.view()
    return {key: view.memory[key] for key in view.store_keys}


@pytest.fixture
async def ana(driver: MemoryDriver) -> MemoryDriver:
    """Ana, who lives in Oslo and whose account has an e-mail address."""
    await sign_in(driver, email=EMAIL)
    await driver.memory.profile.save([add("city", "Oslo")])
    return driver


def patch(op: str, path: str, *value: Any) -> dict[str, Any]:
    return {"op": op, "path": path, **({"value": value[0]} if value else {})}


class TestTable:
    """CASES 21, on `{"city": "Oslo"}` and an account with an e-mail address."""

    @pytest.mark.parametrize(
        ("patches", "after"),
        [
            pytest.param([patch("add", "/city", "Bergen")], {"city": "Bergen"}, id="add what is there"),
            pytest.param([patch("add", "/dog", None)], {**STORED, "dog": None}, id="add null"),
            pytest.param([patch("replace", "/email", "a@b.example")], {**STORED, "email": "a@b.example"}, id="email"),
            pytest.param([patch("remove", "/city")], {}, id="remove without a value"),
            pytest.param([patch("remove", "/city", None)], {}, id="remove with null"),
            pytest.param(
                [patch("add", "/a", 1), patch("replace", "/a", [2]), patch("remove", "/city")], {"a": [2]}, id="three"
            ),
            pytest.param([patch("add", "/a-b_C9", {"x": [1]})], {**STORED, "a-b_C9": {"x": [1]}}, id="object"),
        ],
    )
    async def test_it_is_saved_and_the_result_tells_what_changed(
        self, model: ModelServer, ana: MemoryDriver, patches: Patches, after: Mapping[str, Any]
    ) -> None:
        result = await ask(model, ana, {"patches": patches})
        told = json.loads(result.text)
        assert result.status == "success"
        assert await stored(ana) == after
        assert (told["ok"], told["before"], told["after"]) == (True, MERGED, {"email": EMAIL, **after})
        assert told["key_count"] == len(after)
        assert told["bytes"] == len(json.dumps(after, separators=(",", ":"), ensure_ascii=False).encode())
        assert [one["op"] for one in told["patches"]] == [one["op"] for one in patches]


class TestRefusals:
    """CASES 21: what does not fit is told to the model before anything is written."""

    @pytest.fixture
    def home(self) -> Home:
        return HomeInMemory()

    @pytest.mark.parametrize(
        ("patches", "code", "hint"),
        [
            pytest.param([patch("replace", "/town", "x")], "PATCH_FAILED", "town", id="replace what is not there"),
            pytest.param([patch("remove", "/town")], "PATCH_FAILED", "town", id="remove what is not there"),
            pytest.param([patch("remove", "/email")], "PATCH_FAILED", "account", id="remove what the account says"),
            pytest.param([patch("add", "/town")], "INVALID_ARGUMENTS", "value", id="add without a value"),
            pytest.param([patch("replace", "/city")], "INVALID_ARGUMENTS", "value", id="replace without a value"),
            *(
                pytest.param([patch("add", path, "x")], "INVALID_ARGUMENTS", "path", id=f"path {path!r}")
                for path in ("", "/", "city", "/a/b", "/tags/-", "/0", "/~0a", "/~1a", "/city\n", "//city")
            ),
            *(
                pytest.param([patch(op, "/city", "x")], "INVALID_ARGUMENTS", "op", id=op)
                for op in ("move", "copy", "test", "ADD")
            ),
            pytest.param([], "INVALID_ARGUMENTS", "1 to", id="no patches"),
            pytest.param(
                [patch("add", "/a", 1), patch("replace", "/city", "x"), patch("remove", "/town")],
                "PATCH_FAILED",
                "patch 3",
                id="the third of three fails",
            ),
            pytest.param([patch("add", "/note", "x" * 9_000)], "PROFILE_TOO_LARGE", "8192", id="too large"),
        ],
    )
    async def test_it_is_refused_with_a_reason_and_nothing_changes(
        self, model: ModelServer, ana: MemoryDriver, patches: Patches, code: str, hint: str
    ) -> None:
        result = await ask(model, ana, {"patches": patches})
        assert result.status == "error"
        assert result.text.startswith(f"{code}: ")
        assert hint in result.text
        assert "Correct the arguments" in result.text
        assert await stored(ana) == STORED


class TestNumbers:
    """CASES 22: refused with a message that the model can act on, or kept exactly; the run goes on in either case."""

    @pytest.mark.parametrize(
        "written",
        [
            pytest.param("NaN", id="NaN"),
            pytest.param("Infinity", id="Infinity"),
            pytest.param("-Infinity", id="minus Infinity"),
            pytest.param("1e400", id="1e400"),
            pytest.param('[1, [2, {"deep": NaN}]]', id="NaN in a list"),
        ],
    )
    async def test_what_is_no_number_is_refused(self, model: ModelServer, ana: MemoryDriver, written: str) -> None:
        arguments = f'{{"patches": [{{"op": "add", "path": "/n", "value": {written}}}]}}'
        result = await ask(model, ana, arguments)
        assert result.status == "error"
        assert "write it as text" in result.text
        assert await stored(ana) == STORED
        assert await ana.send("and now?"), "the thread goes on"

    @pytest.mark.parametrize("nested", [False, True])
    async def test_a_number_with_too_many_digits_is_kept_exactly_as_text(
        self, model: ModelServer, ana: MemoryDriver, nested: bool
    ) -> None:
        digits = str(2**70)
        value = f'[1, {{"deep": [-{digits}]}}]' if nested else digits
        result = await ask(model, ana, f'{{"patches": [{{"op": "add", "path": "/n", "value": {value}}}]}}')
        assert result.status == "success"
        assert (await stored(ana))["n"] == ([1, {"deep": [f"-{digits}"]}] if nested else digits)
        assert await ana.send("and now?"), "the thread goes on"

    async def test_a_number_that_a_reader_would_round_is_refused(self, model: ModelServer, ana: MemoryDriver) -> None:
        result = await ask(model, ana, {"patches": [patch("add", "/n", 2**53 + 1)]})
        assert "write it as text" in result.text
        assert await stored(ana) == STORED

    async def test_other_numbers_are_kept_exactly(self, model: ModelServer, ana: MemoryDriver) -> None:
        values = [0, -1, 2**53 - 1, 1.5, -0.25, True]
        await ask(model, ana, {"patches": [patch("add", "/n", values)]})
        assert (await stored(ana))["n"] == values


class TestWithoutSaving:
    """CASES 23: one result, and the model gets a further turn."""

    async def test_arguments_that_are_json_text_are_parsed(self, model: ModelServer, ana: MemoryDriver) -> None:
        patches = json.dumps([patch("add", "/city", "Bergen")])
        result = await ask(model, ana, {"patches": patches})
        assert result.status == "success"
        assert await stored(ana) == {"city": "Bergen"}

    @pytest.mark.parametrize(
        "arguments",
        [
            pytest.param('{"patches": [{"op": "add", "pa', id="cut off"),
            pytest.param('{"patches": "[{oops"}', id="text that is no JSON"),
            pytest.param("{}", id="nothing"),
            pytest.param('{"patches": {"op": "add", "path": "/a", "value": 1}}', id="no list"),
        ],
    )
    async def test_arguments_that_cannot_be_read_are_refused(
        self, model: ModelServer, ana: MemoryDriver, arguments: str
    ) -> None:
        result = await ask(model, ana, arguments)
        assert result.status == "error"
        assert result.text.startswith("INVALID_ARGUMENTS: ")
        assert await stored(ana) == STORED

    @pytest.mark.parametrize(
        ("failure", "code"),
        [
            pytest.param(StorageUnavailable(), "STORAGE_UNAVAILABLE", id="database away"),
            pytest.param(ConnectionError("no such host: db.internal"), "TOOL_FAILED", id="an error nobody foresaw"),
        ],
    )
    async def test_a_store_that_is_away_is_told_and_the_answer_comes(
        self, model: ModelServer, ana: MemoryDriver, failure: Exception, code: str
    ) -> None:
        ana.process.watch.error = failure
        result = await ask(model, ana, {"patches": [patch("add", "/city", "Bergen")]})
        ana.process.watch.error = None
        assert result.status == "error"
        assert result.text.startswith(f"{code}: ")
        assert "a later try may work" in result.text
        assert "internal" not in result.text
        assert await stored(ana) == STORED

    async def test_without_a_user_nothing_is_saved_for_anybody(self, model: ModelServer, driver: MemoryDriver) -> None:
        nobody = driver.elsewhere(user_id=None)
        result = await ask(model, nobody, {"patches": [patch("add", "/city", "Oslo")]})
        assert result.status == "error"
        assert result.text.startswith("MISSING_USER_ID: ")
        assert await driver.process.store.asearch((), limit=10) == []


class TestTogether:
    async def test_two_saves_in_one_answer_both_survive(self, model: ModelServer, ana: MemoryDriver) -> None:
        model.then(
            tool_calls(
                call("save_memory", {"patches": [patch("add", "/job", "baker")]}),
                call("save_memory", {"patches": [patch("add", "/dog", "Al")]}),
                call("save_memory", {"patches": [patch("remove", "/town")]}),
            ),
            text("Noted."),
            to="chat",
        )
        await ana.send("I am a baker and my dog is Al")
        assert [result.status for result in await results(ana)] == ["success", "success", "error"]
        assert await stored(ana) == {"city": "Oslo", "job": "baker", "dog": "Al"}

    async def test_saves_in_two_threads_in_two_processes_at_once_both_survive(
        self, model: ModelServer, ana: MemoryDriver, open_driver: OpenDriver
    ) -> None:
        other = (await open_driver()).elsewhere()
        model.when(
            lambda asked: asked.model == "chat" and asked.messages[-1]["role"] == "user",
            lambda asked: tool_calls(
                call("save_memory", {"patches": [patch("add", f"/{asked.last_human_text}", "yes")]})
            ),
        )
        model.when(lambda asked: asked.model == "chat" and asked.messages[-1]["role"] == "tool", text("Noted."))
        words = [f"k{number}" for number in range(6)]
        await asyncio.gather(*((ana, other)[number % 2].elsewhere().send(word) for number, word in enumerate(words)))
        ana.process.forget_cached()
        assert await stored(ana) == {"city": "Oslo", **dict.fromkeys(words, "yes")}


class TestNextCall:
    async def test_what_was_saved_is_in_the_very_next_call(self, model: ModelServer, ana: MemoryDriver) -> None:
        await ask(model, ana, {"patches": [patch("add", "/city", "Bergen")]})
        before, after = model.for_model("chat")[-2:]
        assert '"city":"Oslo"' in before.system_text
        assert '"city":"Bergen"' in after.system_text

    async def test_what_the_account_says_is_shown_and_a_saved_value_wins(
        self, model: ModelServer, ana: MemoryDriver
    ) -> None:
        await ask(model, ana, {"patches": [patch("replace", "/email", "a@b.example")]})
        first, second = model.for_model("chat")[-2:]
        assert f'"email":"{EMAIL}"' in first.system_text
        assert '"email":"a@b.example"' in second.system_text
        assert EMAIL not in second.system_text
        await ana.memory.profile.remove("email")
        await ana.send("and now?")
        assert f'"email":"{EMAIL}"' in model.for_model("chat")[-1].system_text

    async def test_in_another_thread_it_is_known_too_and_to_nobody_else(
        self, model: ModelServer, ana: MemoryDriver
    ) -> None:
        await ana.elsewhere().send("hi")
        assert '"city":"Oslo"' in model.for_model("chat")[-1].system_text
        await ana.elsewhere(user_id="ben").send("hi")
        assert "Oslo" not in model.for_model("chat")[-1].system_text


async def test_a_credential_is_not_saved(model: ModelServer, ana: MemoryDriver) -> None:
    result = await ask(model, ana, {"patches": [patch("add", "/wifi_password", "correct-horse-9")]})
    assert (await stored(ana))["wifi_password"] == "[redacted: password]"
    assert "horse" not in result.text
