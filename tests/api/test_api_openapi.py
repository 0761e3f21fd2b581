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
    "/api/memory/facts",
    "/api/memory/facts/{fact_id}",
    "/api/memory/episodes",
    "/api/memory/episodes/{episode_id}",
    "/api/memory/search",
    "/api/memory/events",
    "/api/memory/export",
    "/api/threads/{thread_id}",
    "/api/admin/users/{user_id}",
    "/api/health",
}
ERRORS = {"400", "401", "403", "404", "413", "503", "default"}
CONFLICTS = {
    ("/api/memory/facts", "post"): {"duplicate", "limit_reached"},
    ("/api/memory/facts/{fact_id}", "patch"): {"stale_version", "duplicate", "limit_reached"},
    ("/api/memory/facts/{fact_id}", "delete"): {"stale_version"},
    ("/api/memory/events", "get"): {"limit_reached"},
}
BODIES = {("/api/memory/facts", "post"): "NewFactIn", ("/api/memory/facts/{fact_id}", "patch"): "FactChangesIn"}
FACT = {
    "id", "content", "categories", "key", "importance", "version", "said_by", "thread_id", "created_at", "updated_at",
}  # fmt: skip


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
        for method, operation in described["paths"][path].items():
            failures = {status: body for status, body in operation["responses"].items() if not status.startswith("2")}
            assert set(failures) == ERRORS | ({"409"} if (path, method) in CONFLICTS else set())
            assert all(body["content"]["application/json"]["schema"] == error for body in failures.values())
    assert described["components"]["schemas"]["ErrorBody"]["required"] == ["kind", "message"]


def test_the_errors_are_described_by_their_kinds(described: Mapping[str, Any]) -> None:
    failures = described["paths"]["/api/threads/{thread_id}"]["delete"]["responses"]

    assert "`not_found`" in failures["404"]["description"]
    assert "`storage_unavailable`" in failures["503"]["description"]
    assert "`server_unavailable`" in failures["503"]["description"]


@pytest.mark.parametrize(("path", "method"), CONFLICTS)
def test_conflicts_are_described_by_their_kinds(path: str, method: str, described: Mapping[str, Any]) -> None:
    description: str = described["paths"][path][method]["responses"]["409"]["description"]

    assert {
        kind for kind in ("stale_version", "duplicate", "limit_reached") if f"`{kind}`" in description
    } == CONFLICTS[path, method]


@pytest.mark.parametrize(
    ("path", "method", "keys"),
    [
        ("/api/memory/profile", "get", {"memory", "store_keys", "overlay_keys", "summaries"}),
        ("/api/memory/threads", "get", {"threads"}),
        ("/api/memory/export", "get", {"user_id", "profile", "account", "facts", "episodes", "thread_summaries"}),
        ("/api/memory", "delete", {"profile_keys", "facts", "episodes", "thread_summaries"}),
        (
            "/api/admin/users/{user_id}",
            "delete",
            {"threads", "profile_keys", "facts", "episodes", "thread_summaries"},
        ),
        ("/api/memory/threads/{thread_id}", "delete", {"deleted"}),
        ("/api/memory/facts", "get", {"facts", "counts"}),
        ("/api/memory/facts/{fact_id}", "patch", FACT),
        ("/api/memory/episodes", "get", {"episodes", "next"}),
        ("/api/memory/search", "get", {"results"}),
    ],
)
def test_answers_are_described_key_by_key(path: str, method: str, keys: set[str], described: Mapping[str, Any]) -> None:
    assert set(schema_of(described, path, method)["properties"]) == keys


@pytest.mark.parametrize(
    ("schema", "keys"),
    [
        ("FactOut", FACT),
        ("FactCounts", {"total", "limit", "shown"}),
        ("EpisodeOut", {"id", "content", "thread_id", "turn", "created_at"}),
        ("FoundOut", {"id", "kind", "content", "score", "parts"}),
    ],
)
def test_what_answers_hold_is_described_too(schema: str, keys: set[str], described: Mapping[str, Any]) -> None:
    assert set(described["components"]["schemas"][schema]["properties"]) == keys


def test_a_kept_fact_comes_back_as_itself(described: Mapping[str, Any]) -> None:
    assert set(schema_of(described, "/api/memory/facts", "post", "201")["properties"]) == FACT


def test_bodies_are_closed_and_say_what_they_need(described: Mapping[str, Any]) -> None:
    new, changes = [described["components"]["schemas"][name] for name in BODIES.values()]

    assert new["additionalProperties"] is changes["additionalProperties"] is False
    assert set(new["properties"]) == {"content", "categories", "key", "importance"}
    assert set(changes["properties"]) == {*new["properties"], "version"}
    assert (new["required"], changes["required"]) == (["content"], ["version"])
    assert not any("default" in field for field in changes["properties"].values())


def test_the_events_are_described_as_a_stream(described: Mapping[str, Any]) -> None:
    answer = described["paths"]["/api/memory/events"]["get"]["responses"]["200"]

    assert list(answer["content"]) == ["text/event-stream"]
    assert "`ready`" in answer["description"]
    assert "`memory_changed`" in answer["description"]


def test_a_deletion_needs_the_version_that_was_read(described: Mapping[str, Any]) -> None:
    parameters = described["paths"]["/api/memory/facts/{fact_id}"]["delete"]["parameters"]

    assert {parameter["name"] for parameter in parameters if parameter["required"]} == {"fact_id", "version"}


def test_no_route_takes_a_user_from_the_client_but_the_admins(described: Mapping[str, Any]) -> None:
    for path in PATHS - {"/api/admin/users/{user_id}"}:
        for method, operation in described["paths"][path].items():
            assert ("requestBody" in operation) == ((path, method) in BODIES)
            assert not any("user" in parameter["name"] for parameter in operation.get("parameters", []))
