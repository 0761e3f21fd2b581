"""What `doctor` looks at: each check gives findings, none changes anything, none shows a secret."""

import difflib
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal, get_args

import httpx
from dotenv import dotenv_values

from backend.cli.model_line import HOW_TO_SET_ONE, OFFLINE, provider_url
from backend.cli.running_server import candidate_urls
from backend.errors import AfterthoughtError, SettingsError
from backend.llm.local_embeddings import HOW_TO_INSTALL, LOCAL_MODEL, PACKAGES, missing_packages
from backend.settings import Role, Settings, load_settings
from backend.storage.database import Database
from backend.storage.inspection import EXTENSIONS, Inspection, inspect

TESTED_PYTHONS = ("3.11", "3.12", "3.13")
SERVER_PACKAGES = ("langgraph-cli", "langgraph-api")
ROLES: Sequence[Role] = get_args(Role)

Status = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    Attributes:
        subject: what was looked at, such as "database".
        status: a `problem` keeps the server from working, a `note` does not.
        detail: what was found.
        fix: what to do about it; empty when nothing is to be done.
    """

    subject: str
    status: Status
    detail: str
    fix: str = ""


def check_python(python: str = platform.python_version()) -> Finding:
    if python.rpartition(".")[0] in TESTED_PYTHONS:
        return Finding("python", "ok", python)
    return Finding(
        "python", "note", f"{python}; tested are {', '.join(TESTED_PYTHONS)}", "PYTHON=python3.12 make setup"
    )


def check_packages(names: Iterable[str] = SERVER_PACKAGES) -> list[Finding]:
    """Whether the server that `dev` starts is installed."""
    return [_check_package(name) for name in names]


def _check_package(name: str) -> Finding:
    try:
        return Finding(name, "ok", version(name))
    except PackageNotFoundError:
        return Finding(name, "problem", "not installed", "make setup")


def check_settings() -> tuple[Settings | None, list[Finding]]:
    """The settings, or None with one finding for each that is wrong."""
    try:
        settings = load_settings()
    except SettingsError as error:
        fix = "correct it in the environment or in .env; .env.example lists all settings"
        return None, [Finding("settings", "problem", problem, fix) for problem in error.problems]
    return settings, [Finding("settings", "ok", "all valid")]


def check_env_file(path: Path = Path(".env")) -> list[Finding]:
    """Names in `.env` that are no setting but look like one; others may be there for other programs."""
    known = [name.upper() for name in Settings.model_fields]
    findings: list[Finding] = []
    for name in dotenv_values(path) if path.is_file() else ():
        similar = difflib.get_close_matches(name.upper(), known, n=1, cutoff=0.85)
        if similar and name.upper() not in known:
            findings.append(Finding("settings", "note", f"{name} in .env is no setting", f"did you mean {similar[0]}?"))
    return findings


async def check_database(settings: Settings) -> list[Finding]:
    where = "embedded" if settings.embedded_data else "at DATABASE_URL"
    if settings.embedded_data and not settings.embedded_data.exists():
        return [Finding("database", "ok", f"embedded; will be made in {settings.embedded_data} by the first start")]
    try:
        return _describe_database(await inspect(Database(settings)), where)
    except AfterthoughtError as error:
        fix = (
            "see the log in DATA_DIR/postgres"
            if settings.embedded_data
            else "correct DATABASE_URL or start that database"
        )
        return [Finding("database", "problem", f"{where}: {error.message}", fix)]


def _describe_database(found: Inspection, where: str) -> list[Finding]:
    if not found.is_new_enough:
        return [Finding("database", "problem", f"PostgreSQL {found.version} {where}", "use PostgreSQL 15 or newer")]
    pending = f"; the next start applies {', '.join(found.pending)}" if found.pending else "; up to date"
    missing = [name for name in EXTENSIONS if name not in found.extensions]
    findings = [Finding("database", "ok", f"PostgreSQL {found.version} {where}{pending}")]
    if missing:
        fix = "install them on the database's machine; search works without, less well"
        findings.append(Finding("extensions", "note", f"not there: {', '.join(missing)}", fix))
    else:
        listed = ", ".join(f"{name} {number}" for name, number in found.extensions.items())
        findings.append(Finding("extensions", "ok", listed))
    return findings


async def check_models(settings: Settings, client: httpx.AsyncClient) -> list[Finding]:
    """Whether the provider answers, takes the key and knows the models; also whether what embeds here is installed."""
    return [*await _check_provider(settings, client), *check_local_embeddings(settings)]


def check_local_embeddings(settings: Settings, packages: Mapping[str, str] = PACKAGES) -> list[Finding]:
    """Whether the packages are installed; nothing when they are not asked for. `packages`: versions by name."""
    if settings.memory_embeddings != "local":
        return []
    if missing := missing_packages(packages):
        return [Finding("embeddings", "problem", f"not installed: {', '.join(missing)}", HOW_TO_INSTALL)]
    return [Finding("embeddings", "ok", f"{LOCAL_MODEL}, on this machine")]


async def _check_provider(settings: Settings, client: httpx.AsyncClient) -> list[Finding]:
    if settings.offline:
        return [Finding("model", "note", OFFLINE, HOW_TO_SET_ONE)]
    provider = provider_url(settings)
    key = settings.openai_api_key.get_secret_value()
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        response = await client.get(f"{provider}/models", headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        fix = "check OPENAI_BASE_URL, and that its server runs"
        return [Finding("model", "problem", f"{provider} does not answer ({type(error).__name__})", fix)]
    if response.status_code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        return [Finding("model", "problem", f"{provider} refuses the key", "check OPENAI_API_KEY")]
    return _describe_models(settings, _listed_models(response), provider)


def _listed_models(response: httpx.Response) -> frozenset[str]:
    """The ids that the provider lists; empty where it lists none, as some do."""
    try:
        entries = response.raise_for_status().json()["data"]
        return frozenset(str(entry["id"]) for entry in entries)
    except (httpx.HTTPStatusError, ValueError, KeyError, TypeError):
        return frozenset()


def _describe_models(settings: Settings, listed: frozenset[str], provider: str) -> list[Finding]:
    findings: list[Finding] = []
    for role in ROLES:
        model = settings.model_for(role)
        if listed and model not in listed:
            fix = f"check MODEL_{role.upper()} or MODEL"
            findings.append(Finding(f"model {role}", "problem", f"{provider} does not list {model}", fix))
        else:
            findings.append(Finding(f"model {role}", "ok", f"{model} at {provider}"))
    return [*findings, *_describe_embeddings(settings.memory_embeddings, listed, provider)]


def _describe_embeddings(model: str, listed: frozenset[str], provider: str) -> list[Finding]:
    """A provider that does not list the model may offer it all the same, and without it words alone find memories."""
    if model in {"off", "local"}:
        return []
    if listed and model not in listed:
        return [Finding("embeddings", "note", f"{provider} does not list {model}", "check MEMORY_EMBEDDINGS")]
    return [Finding("embeddings", "ok", f"{model} at {provider}")]


async def check_auth(settings: Settings, client: httpx.AsyncClient) -> Finding:
    """Who may speak. What `Settings` accepts is complete; only the keys at a JWKS URL may be missing."""
    if settings.auth_mode == "none":
        speaker = settings.auth_default_user or "nobody, hence without memory"
        return Finding("auth", "note", f"AUTH_MODE=none: everyone who reaches the server is trusted; speaker {speaker}")
    if settings.auth_mode == "tokens":
        return Finding("auth", "ok", f"AUTH_MODE=tokens: {len(settings.auth_tokens)} in AUTH_TOKENS")
    if not settings.auth_jwks_url:
        return Finding("auth", "ok", "AUTH_MODE=jwt: HS256 with AUTH_JWT_SECRET")
    try:
        keys = (await client.get(settings.auth_jwks_url)).raise_for_status().json()["keys"]
        return Finding("auth", "ok", f"AUTH_MODE=jwt: {len(keys)} keys at AUTH_JWKS_URL")
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
        return Finding("auth", "problem", f"AUTH_JWKS_URL gives no keys ({type(error).__name__})", "check the URL")


async def check_server(settings: Settings, client: httpx.AsyncClient) -> Finding:
    """Whether a server runs; none has to."""
    for url in candidate_urls(settings):
        try:
            if (await client.get(f"{url}/ok")).is_success:
                return Finding("server", "ok", f"answers at {url}")
        except (httpx.HTTPError, httpx.InvalidURL):
            continue
    return Finding("server", "note", "does not run", "make dev")
