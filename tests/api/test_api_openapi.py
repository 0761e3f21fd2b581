"""The description of the HTTP API, which the server shows under `/docs`."""

from collections.abc import Mapping
from typing import Any

import pytest

from backend.app import build
from backend.bootstrap import assemble
from backend.settings import Settings
from backend.storage.database import Database

SETTINGS: dict[str, Any] = {"database_url": "postgresql://127.0.0.1:1/nowhere"}
PATHS = {
    "/api/memory",
    "/api/memory/profile",
    "/api/memory/profile/{key}",
    "/api/memory/threads",
    "/api/memory/threads/{thread_id}",
    "/api/memory/export",
    "/api/threads/{thread_id}",
    "/api/admin/users/{user_id}",
    "/api/health",
}
ERRORS = {"400", "401", "403", "404", "413", "503", "default"}


@pytest.fixture(scope="module")
def described() -> Mapping[str, Any]:
    settings = Settings(**SETTINGS)
    return build(assemble(settings, database=Database(settings))).openapi()


def schema_of(described: Mapping[str, Any], path: str, method: str = "get", status: str = "200") -> Mapping[str, Any]:
    schema = described["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"]
    return described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]


def test_every_route_is_described(described: Mapping[str, Any]) -> None:
    assert set(described["paths"]) == PATHS
    for path in PATHS - {"/api/health"}:
        for operation in described["paths"][path].values():
            assert operation["description"]
            assert operation["tags"]


def test_every_error_has_our_form(described: Mapping[str, Any]) -> None:
    error = {"$ref": "#/components/schemas/ErrorResponse"}
    for path in PATHS - {"/api/health"}:
        for operation in described["paths"][path].values():
            failures = {status: body for status, body in operation["responses"].items() if not status.startswith("2")}
            assert set(failures) == ERRORS
            assert all(body["content"]["application/json"]["schema"] == error for body in failures.values())
    assert described["components"]["schemas"]["ErrorBody"]["required"] == ["kind", "message"]


def test_the_errors_are_described_by_their_kinds(described: Mapping[str, Any]) -> None:
    failures = described["paths"]["/api/threads/{thread_id}"]["delete"]["responses"]

    assert "`not_found`" in failures["404"]["description"]
    assert "`storage_unavailable`" in failures["503"]["description"]
    assert "`server_unavailable`" in failures["503"]["description"]


@pytest.mark.parametrize(
    ("path", "method", "keys"),
    [
        ("/api/memory/profile", "get", {"memory", "store_keys", "overlay_keys", "summaries"}),
        ("/api/memory/threads", "get", {"threads"}),
        ("/api/memory/export", "get", {"user_id", "profile", "account", "thread_summaries"}),
        ("/api/memory", "delete", {"profile_keys", "thread_summaries"}),
        ("/api/admin/users/{user_id}", "delete", {"threads", "profile_keys", "thread_summaries"}),
        ("/api/memory/threads/{thread_id}", "delete", {"deleted"}),
    ],
)
def test_answers_are_described_key_by_key(path: str, method: str, keys: set[str], described: Mapping[str, Any]) -> None:
    assert set(schema_of(described, path, method)["properties"]) == keys


def test_no_route_takes_a_user_from_the_client_but_the_admins(described: Mapping[str, Any]) -> None:
    for path in PATHS - {"/api/admin/users/{user_id}"}:
        for operation in described["paths"][path].values():
            assert "requestBody" not in operation
            assert not any("user" in parameter["name"] for parameter in operation.get("parameters", []))
