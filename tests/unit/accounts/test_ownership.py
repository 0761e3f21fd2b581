"""Who may touch which of the server's resources."""

from typing import Any
from uuid import UUID

import pytest
from langgraph_sdk import Auth

from backend.accounts.identity import Identity
from backend.accounts.ownership import USER_RULES, authorize
from backend.errors import Forbidden, InvalidInput
from backend.ids import UserId

ANA = Identity(UserId("ana"))
SERVICE = Identity(UserId("ana"), permissions=frozenset({"service"}))
ERASER = Identity(UserId("ana"), permissions=frozenset({"service", "erase"}))
OWN = {"owner": "ana"}
CHANGING = [
    *(("threads", action) for action in ("create", "update", "create_run")),
    *(("assistants", action) for action in ("create", "update")),
    *(("crons", action) for action in ("create", "update")),
]
AGENT_ASSISTANT = UUID("fe096781-5601-53d2-b2f6-0d3403f7e9ca")
BACKGROUND_ASSISTANT = UUID("2ae5e58c-83d8-5385-ba02-2dcb2fa3c0c4")
"""These two ids are what a server shows for the assistants of the two graphs."""


@pytest.mark.parametrize(("resource", "action"), sorted(USER_RULES))
def test_a_user_reaches_their_own_and_nobody_elses(resource: str, action: str) -> None:
    reached = authorize(ANA, resource=resource, action=action, request={})

    shared = {"$or": [OWN, {"created_by": "system"}]}
    assert reached == (shared if (resource, action) in [("assistants", "read"), ("assistants", "search")] else OWN)


@pytest.mark.parametrize(("resource", "action"), CHANGING)
def test_what_a_user_makes_or_changes_is_stamped_over_what_they_claim(resource: str, action: str) -> None:
    request: dict[str, Any] = {"metadata": {"owner": "bo", "created_by": "system", "title": "Oslo"}}
    metadata = request["metadata"]

    authorize(ANA, resource=resource, action=action, request=request)

    assert request["metadata"] is metadata
    assert metadata == {"owner": "ana", "title": "Oslo"}


@pytest.mark.parametrize("metadata", [None, "text", []])
def test_what_comes_without_metadata_is_stamped_when_it_is_made(metadata: Any) -> None:
    request: dict[str, Any] = {"metadata": metadata}

    authorize(ANA, resource="threads", action="create", request=request)

    assert request == {"metadata": OWN}


def test_a_change_without_metadata_stays_without() -> None:
    request: dict[str, Any] = {}

    authorize(ANA, resource="crons", action="update", request=request)

    assert request == {}


@pytest.mark.parametrize("holder", [None, "kwargs", "payload"])
@pytest.mark.parametrize("key", ["thread_id", "checkpoint_ns", "langgraph_auth_user", "user_id", "callbacks"])
def test_a_config_that_would_lead_elsewhere_is_refused(key: str, holder: str | None) -> None:
    config: dict[str, Any] = {"config": {key: "t", "configurable": {}}}

    with pytest.raises(InvalidInput, match=key):
        authorize(ANA, resource="threads", action="create_run", request={holder: config} if holder else config)


def test_a_config_of_what_langgraph_knows_is_let_through() -> None:
    config = {"tags": ["a"], "recursion_limit": 5, "configurable": {"thread_id": "t"}, "metadata": {}}

    assert authorize(ANA, resource="assistants", action="create", request={"config": config}) == OWN


@pytest.mark.parametrize(
    ("resource", "action"), [("threads", "export"), ("webhooks", "create"), ("store", "get"), ("*", "*")]
)
def test_what_no_rule_allows_is_refused(resource: str, action: str) -> None:
    with pytest.raises(Forbidden):
        authorize(ANA, resource=resource, action=action, request={})


def test_nobody_may_do_nothing() -> None:
    with pytest.raises(Forbidden):
        authorize(Identity(None), resource="threads", action="read", request={})


def test_there_is_a_rule_for_everything_that_the_sdk_knows_but_the_store() -> None:
    on = Auth().on
    offered = {"threads": on.threads, "assistants": on.assistants, "crons": on.crons}
    known = {
        (resource, action)
        for resource, actions in offered.items()
        for action in ("create", "read", "update", "delete", "search", "create_run")
        if hasattr(actions, action)
    }

    assert known <= set(USER_RULES)


@pytest.mark.parametrize(
    "assistant",
    [pytest.param("background_agent", id="by name"), pytest.param(BACKGROUND_ASSISTANT, id="by the server's id")],
)
def test_a_service_starts_background_runs(assistant: object) -> None:
    request: dict[str, Any] = {"assistant_id": assistant}

    assert authorize(SERVICE, resource="threads", action="create_run", request=request) == OWN
    assert request["metadata"] == OWN


@pytest.mark.parametrize(
    ("resource", "action", "request_"),
    [
        pytest.param("threads", "create_run", {"assistant_id": AGENT_ASSISTANT}, id="a run of the chat graph"),
        pytest.param("threads", "create_run", {}, id="a run of nothing"),
        pytest.param("threads", "create", {}, id="a thread"),
        pytest.param("threads", "update", {"thread_id": "t"}, id="a change of state"),
        pytest.param("threads", "update", {"action": "interrupt", "metadata": {}}, id="cancelling a run"),
        pytest.param("assistants", "read", {}, id="an assistant"),
        pytest.param("crons", "create", {}, id="a cron"),
        pytest.param("store", "get", {}, id="the store"),
    ],
)
def test_a_service_is_refused_everything_else(resource: str, action: str, request_: dict[str, Any]) -> None:
    with pytest.raises(Forbidden):
        authorize(SERVICE, resource=resource, action=action, request=request_)


def test_a_service_lists_its_users_threads() -> None:
    assert authorize(SERVICE, resource="threads", action="search", request={}) == OWN


def test_a_service_that_erases_finds_and_deletes_its_users_threads_and_stops_their_runs() -> None:
    stops: dict[str, object] = {"thread_id": "t", "run_id": "r", "action": "interrupt"}
    assert authorize(ERASER, resource="threads", action="delete", request={"thread_id": "t"}) == OWN
    assert authorize(ERASER, resource="threads", action="read", request={"thread_id": "t"}) == OWN
    assert authorize(ERASER, resource="threads", action="search", request={}) == OWN
    assert authorize(ERASER, resource="threads", action="update", request=stops) == OWN


def test_a_service_that_erases_does_nothing_else() -> None:
    allowed = {("threads", action) for action in ("delete", "read", "search")}
    for resource, action in set(USER_RULES) - allowed:
        with pytest.raises(Forbidden):
            authorize(ERASER, resource=resource, action=action, request={"thread_id": "t", "metadata": {}})


def test_to_be_allowed_to_erase_means_nothing_for_a_user() -> None:
    user = Identity(UserId("ana"), permissions=frozenset({"erase"}))

    assert authorize(user, resource="threads", action="read", request={}) == OWN


def test_a_service_reads_threads_and_changes_their_metadata() -> None:
    request: dict[str, Any] = {"thread_id": "t", "metadata": {"title": "Oslo", "owner": "bo"}}

    assert authorize(SERVICE, resource="threads", action="read", request={"thread_id": "t"}) == OWN
    assert authorize(SERVICE, resource="threads", action="update", request=request) == OWN
    assert request["metadata"] == {"title": "Oslo", "owner": "ana"}


def test_a_service_removes_temporary_background_threads_only() -> None:
    reached = authorize(SERVICE, resource="threads", action="delete", request={"thread_id": "t"})

    assert reached == {"owner": "ana", "graph_id": "background_agent"}
