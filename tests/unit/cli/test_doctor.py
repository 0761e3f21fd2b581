"""What `doctor` finds, against servers on loopback."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from backend import __version__
from backend.cli.diagnosis import (
    Finding,
    check_auth,
    check_database,
    check_env_file,
    check_local_embeddings,
    check_models,
    check_packages,
    check_python,
    check_server,
)
from backend.cli.doctor import is_usable, render
from backend.settings import Settings
from tests.support.langgraph_server import environment, free_port
from tests.support.loopback_http import Connection, HttpRequest, LoopbackServer

pytestmark = pytest.mark.anyio

KEY = "sk-a-key-that-nobody-may-see"
SECRET = "a secret of more than thirty-two characters"


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=2) as client:
        yield client


class Provider:
    """Answers every request in one way, and keeps the requests."""

    def __init__(self, status: int, body: Any) -> None:
        self._status = status
        self._body = body
        self._server = LoopbackServer(self._answer)
        self.requests: list[HttpRequest] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.port}"

    def __enter__(self) -> "Provider":
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    async def _answer(self, request: HttpRequest, connection: Connection) -> None:
        self.requests.append(request)
        await connection.send_json(self._status, self._body)


def settings(**values: object) -> Settings:
    return Settings.model_validate(values)


def provided_by(provider: Provider, **values: object) -> Settings:
    base = f"http://name:password@{provider.address}/v1/"
    return settings(openai_api_key=KEY, openai_base_url=base, model="small", **values)


LISTING = {"data": [{"id": "small"}, {"id": "large"}]}


async def test_every_role_has_a_line_with_its_model(client: httpx.AsyncClient) -> None:
    with Provider(200, LISTING) as provider:
        findings = await check_models(provided_by(provider, model_chat="large"), client)

    assert [(finding.subject, finding.status) for finding in findings] == [
        ("model chat", "ok"),
        ("model router", "ok"),
        ("model title", "ok"),
        ("model summary", "ok"),
    ]
    assert findings[0].detail == f"large at http://{provider.address}/v1"
    assert provider.requests[0].path == "/v1/models"
    assert provider.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_model_that_the_provider_does_not_list_is_a_problem(client: httpx.AsyncClient) -> None:
    with Provider(200, LISTING) as provider:
        findings = await check_models(provided_by(provider, model_title="tiny"), client)

    assert [finding.subject for finding in findings if finding.status == "problem"] == ["model title"]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(404, {}, id="none"),
        pytest.param(200, {"data": []}, id="an empty list"),
        pytest.param(200, {"models": []}, id="another shape"),
        pytest.param(200, [1], id="a list"),
        pytest.param(200, {"data": [{"name": "small"}]}, id="no ids"),
    ],
)
async def test_a_provider_that_lists_no_models_is_believed(client: httpx.AsyncClient, status: int, body: Any) -> None:
    with Provider(status, body) as provider:
        assert is_usable(await check_models(provided_by(provider), client))


@pytest.mark.parametrize(
    ("embeddings", "expected"),
    [
        pytest.param("off", [], id="off"),
        pytest.param("large", [("ok", "")], id="listed"),
        pytest.param("tiny", [("note", "check MEMORY_EMBEDDINGS")], id="not listed"),
    ],
)
async def test_an_embedding_model_that_the_provider_does_not_list_is_noted(
    client: httpx.AsyncClient, embeddings: str, expected: list[tuple[str, str]]
) -> None:
    with Provider(200, LISTING) as provider:
        findings = await check_models(provided_by(provider, memory_embeddings=embeddings), client)

    found = [(finding.status, finding.fix) for finding in findings if finding.subject == "embeddings"]
    assert found == expected
    assert is_usable(findings)


def test_packages_that_the_local_embedding_model_lacks_are_a_problem_that_says_how_to_install_them() -> None:
    local = settings(memory_embeddings="local")
    [missing] = check_local_embeddings(local, {"no-such-package-of-ours": "1.0", "openai": ""})
    [there] = check_local_embeddings(local, {"openai": ""})

    assert (missing.status, missing.detail) == ("problem", "not installed: no-such-package-of-ours 1.0")
    assert "requirements/local-embeddings.txt" in missing.fix
    assert there.status == "ok"
    assert check_local_embeddings(settings(), {"no-such-package-of-ours": ""}) == []


async def test_the_local_embedding_model_is_looked_for_with_and_without_a_provider(client: httpx.AsyncClient) -> None:
    with Provider(200, LISTING) as provider:
        provided = await check_models(provided_by(provider, memory_embeddings="local"), client)
    offline = await check_models(settings(memory_embeddings="local"), client)

    assert [finding.subject for finding in provided].count("embeddings") == 1
    assert [finding.subject for finding in offline] == ["model", "embeddings"]


@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_is_refused_is_a_problem(client: httpx.AsyncClient, status: int) -> None:
    with Provider(status, {"error": "no"}) as provider:
        [finding] = await check_models(provided_by(provider), client)

    assert (finding.status, finding.fix) == ("problem", "check OPENAI_API_KEY")


@pytest.mark.parametrize("base", ["http://127.0.0.1:9", "http://127.0.0.1:port", "no address"])
async def test_a_provider_that_does_not_answer_is_a_problem(client: httpx.AsyncClient, base: str) -> None:
    [finding] = await check_models(settings(openai_base_url=base, model="small"), client)

    assert finding.status == "problem"


async def test_without_a_provider_the_offline_model_is_named(client: httpx.AsyncClient) -> None:
    [finding] = await check_models(settings(), client)

    assert finding.status == "note"
    assert "OPENAI_API_KEY" in finding.fix


async def test_no_secret_is_in_any_finding(client: httpx.AsyncClient) -> None:
    with Provider(401, {}) as provider:
        configured = provided_by(
            provider,
            auth_mode="jwt",
            auth_jwt_secret=SECRET,
            service_secret=SECRET,
            database_url="postgresql://someone:password@127.0.0.1:1/db",
        )
        findings = [
            *await check_models(configured, client),
            await check_auth(configured, client),
            *await check_database(configured),
        ]

    text = str(findings)
    assert KEY not in text
    assert SECRET not in text
    assert "password" not in text


@pytest.mark.parametrize(
    ("values", "status", "detail"),
    [
        pytest.param({}, "note", "speaker local", id="none"),
        pytest.param({"auth_default_user": ""}, "note", "without memory", id="none, and nobody speaks"),
        pytest.param(
            {"auth_mode": "tokens", "auth_tokens": {"t": {"user_id": "ana"}}, "service_secret": SECRET},
            "ok",
            "1 in AUTH_TOKENS",
            id="tokens",
        ),
        pytest.param(
            {"auth_mode": "jwt", "auth_jwt_secret": SECRET, "service_secret": SECRET}, "ok", "HS256", id="a secret"
        ),
    ],
)
async def test_who_may_speak_is_said(
    client: httpx.AsyncClient, values: dict[str, object], status: str, detail: str
) -> None:
    finding = await check_auth(settings(**values), client)

    assert finding.status == status
    assert detail in finding.detail


@pytest.mark.parametrize(
    ("status", "body", "found"),
    [
        pytest.param(200, {"keys": [{"kid": "1"}, {"kid": "2"}]}, "ok", id="keys"),
        pytest.param(200, {}, "problem", id="something else"),
        pytest.param(500, {"keys": [{"kid": "1"}]}, "problem", id="an error"),
    ],
)
async def test_the_keys_at_a_jwks_url_are_looked_for(
    client: httpx.AsyncClient, status: int, body: Any, found: str
) -> None:
    with Provider(status, body) as provider:
        url = f"http://{provider.address}/keys"
        finding = await check_auth(settings(auth_mode="jwt", auth_jwks_url=url, service_secret=SECRET), client)

    assert finding.status == found


async def test_a_database_that_does_not_answer_is_a_problem_that_says_why() -> None:
    [finding] = await check_database(settings(database_url=f"postgresql://127.0.0.1:{free_port()}/db"))

    assert finding.status == "problem"
    assert "refused" in finding.detail


async def test_an_address_that_is_none_is_a_problem_that_names_the_setting() -> None:
    [finding] = await check_database(settings(database_url="not an address"))

    assert finding.status == "problem"
    assert "DATABASE_URL" in finding.detail


async def test_the_embedded_database_is_not_made_by_looking(tmp_path: Path) -> None:
    [finding] = await check_database(settings(data_dir=tmp_path))

    assert finding.status == "ok"
    assert [path async for path in anyio.Path(tmp_path).iterdir()] == []


async def test_a_database_is_described_with_its_version_extensions_and_migrations(database_url: str) -> None:
    findings = await check_database(settings(database_url=database_url))

    assert [(finding.subject, finding.status) for finding in findings] == [("database", "ok"), ("extensions", "ok")]
    assert findings[0].detail.startswith("PostgreSQL ")
    assert findings[0].detail.endswith("; up to date")
    assert "pg_trgm" in findings[1].detail


async def test_a_server_that_runs_is_found_and_one_that_does_not_is_no_problem(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    with Provider(200, {"ok": True}) as provider:
        running = await check_server(settings(data_dir=tmp_path, self_url=f"http://{provider.address}"), client)
    stopped = await check_server(settings(data_dir=tmp_path, port=free_port()), client)

    assert (running.status, stopped.status) == ("ok", "note")


@pytest.mark.parametrize(("python", "status"), [("3.11.7", "ok"), ("3.13.0", "ok"), ("3.15.1", "note")])
def test_a_python_that_was_not_tested_is_noted(python: str, status: str) -> None:
    assert check_python(python).status == status


def test_a_package_that_is_missing_is_a_problem_with_a_way_out() -> None:
    [there, missing] = check_packages(["langgraph-cli", "no-such-package-of-ours"])

    assert there.status == "ok"
    assert (missing.status, missing.fix) == ("problem", "make setup")


def test_a_misspelled_setting_in_the_env_file_is_noted(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("DATABSE_URL=x\nLANGSMITH_API_KEY=y\nPORT=2024\nmodel=z\n")

    assert check_env_file(file) == [
        Finding("settings", "note", "DATABSE_URL in .env is no setting", "did you mean DATABASE_URL?")
    ]


def test_a_report_shows_what_to_do_below_each_finding() -> None:
    findings = [Finding("python", "ok", "3.11.7"), Finding("model", "problem", "refused", "check the key")]

    assert render(findings) == [
        "ok       python  3.11.7",
        "PROBLEM  model   refused",
        "                 → check the key",
        "",
        "Not usable yet: see PROBLEM above",
    ]


async def run_program(*arguments: str, variables: dict[str, str], cwd: Path) -> tuple[int, str]:
    done = await anyio.run_process(
        [sys.executable, "-m", "backend.cli", *arguments], cwd=cwd, env=environment(variables), check=False
    )
    assert done.stderr == b""
    return done.returncode, done.stdout.decode()


async def test_the_program_ends_with_0_when_the_server_could_start(tmp_path: Path) -> None:
    code, out = await run_program("doctor", "--json", variables={"PORT": str(free_port())}, cwd=tmp_path)

    report = json.loads(out)
    assert code == 0
    assert report["usable"]
    assert {finding["subject"] for finding in report["findings"]} >= {"python", "settings", "database", "model", "auth"}


async def test_the_program_names_every_setting_that_is_wrong_on_a_line_of_its_own(tmp_path: Path) -> None:
    code, out = await run_program("doctor", variables={"LOG_LEVEL": "LOUD", "PORT": "eighty"}, cwd=tmp_path)

    problems = [line for line in out.splitlines() if line.startswith("PROBLEM")]
    assert code == 1
    assert [name for name in ("PORT", "LOG_LEVEL") if any(f"  {name}: " in line for line in problems)] == [
        "PORT",
        "LOG_LEVEL",
    ]
    assert len(problems) == 2


async def test_the_program_says_its_version(tmp_path: Path) -> None:
    assert await run_program("--version", variables={}, cwd=tmp_path) == (0, f"afterthought {__version__}\n")
