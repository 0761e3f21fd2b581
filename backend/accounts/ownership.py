"""Who may do what with the server's own resources: the decisions behind the authorization handlers.

A resource belongs to the user in whose name it was made; its metadata say so under `owner`. The answer to a request
is a filter on metadata: what does not pass it is, for this caller, not there.
"""

from collections.abc import Callable, Mapping
from typing import Final, cast
from uuid import UUID, uuid5

from backend.accounts.identity import Identity
from backend.errors import Forbidden, InvalidInput
from backend.ids import UserId

OWNER: Final = "owner"
MAKER: Final = "created_by"
"""The server writes `system` here into the assistants that stand for the graphs themselves."""
BACKGROUND_GRAPH: Final = "background_agent"
BACKGROUND_ASSISTANTS: Final = frozenset(
    {BACKGROUND_GRAPH, str(uuid5(UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8"), BACKGROUND_GRAPH))}
)
"""The background graph's own assistant: LangGraph servers derive its id from the graph's name in this way."""

CONFIG_KEYS: Final = frozenset(
    {"tags", "metadata", "run_name", "run_id", "max_concurrency", "recursion_limit", "configurable"}
)
"""What a client may say in the config of a run; `callbacks`, the only other key that LangGraph knows, is code."""

Request = dict[str, object]
"""What the server is about to do, as it hands it to handlers, to be changed in place."""
Filter = Mapping[str, object]
Rule = Callable[[UserId, Request], Filter]


def authorize(identity: Identity, *, resource: str, action: str, request: Request) -> Filter:
    """The filter for what `identity` may touch; stamps what it makes or changes with its owner.

    The store is not among these resources: its items have no metadata, see `memory.scope`.

    Raises:
        Forbidden: nobody, or not with this kind of token, may do this.
        InvalidInput: the config that comes along would lead the run to another thread or user.
    """
    service_rules = ERASE_RULES if identity.may_erase else SERVICE_RULES
    rules = service_rules if identity.is_service else USER_RULES
    rule = rules.get((resource, action))
    if rule is None or identity.user_id is None:
        raise Forbidden
    refuse_unknown_config(request)
    return rule(identity.user_id, request)


def refuse_unknown_config(request: Request) -> None:
    """Refuse a config of a run, assistant or cron with a key of its own beside `configurable`.

    Servers fix `configurable.thread_id` and the user object, but LangGraph moves unknown keys of the config over them:
    a run with `config.thread_id` would read and write that thread, whoever owns it.

    Raises:
        InvalidInput: there is such a key.
    """
    for holder in (request, request.get("kwargs"), request.get("payload")):
        config = cast("Request", holder).get("config") if isinstance(holder, dict) else None
        unknown = set(cast("Request", config)) - CONFIG_KEYS if isinstance(config, dict) else set[str]()
        if unknown:
            raise InvalidInput(f"config may not have {', '.join(sorted(unknown))}; put it under configurable")


def own(owner: UserId, request: Request) -> Filter:  # noqa: ARG001
    """What is the caller's."""
    return {OWNER: owner}


def make(owner: UserId, request: Request) -> Filter:
    """A new resource, stamped; the filter keeps an id that exists and is somebody else's from being given out."""
    if not isinstance(request.get("metadata"), dict):
        request["metadata"] = {}
    return change(owner, request)


def change(owner: UserId, request: Request) -> Filter:
    """A change of the caller's own; it can neither be given away nor passed off as the server's."""
    metadata = request.get("metadata")
    if isinstance(metadata, dict):
        stamped = cast("dict[str, object]", metadata)
        stamped.pop(MAKER, None)
        stamped[OWNER] = owner
    return {OWNER: owner}


def own_or_system(owner: UserId, request: Request) -> Filter:  # noqa: ARG001
    """The caller's own and the assistants of the graphs, which belong to nobody and serve everybody."""
    return {"$or": [{OWNER: owner}, {MAKER: "system"}]}


def make_background_run(owner: UserId, request: Request) -> Filter:
    """A run of the background graph and of nothing else."""
    if str(request.get("assistant_id")) not in BACKGROUND_ASSISTANTS:
        raise Forbidden("a service token starts background runs only")
    return make(owner, request)


def change_metadata(owner: UserId, request: Request) -> Filter:
    """Metadata only: changes of a thread's state carry none, and cancelling a run names an action."""
    if "action" in request or not isinstance(request.get("metadata"), dict):
        raise Forbidden("a service token changes metadata of threads only")
    return change(owner, request)


def stop_run(owner: UserId, request: Request) -> Filter:
    """Cancel a run of the caller's, which names an action, and change nothing else."""
    if "action" not in request:
        raise Forbidden("a token for erasing changes nothing")
    return own(owner, request)


def own_background_threads(owner: UserId, request: Request) -> Filter:  # noqa: ARG001
    """The server removes the temporary thread of a stateless run in the name of the run's user."""
    return {OWNER: owner, "graph_id": BACKGROUND_GRAPH}


USER_RULES: Final[Mapping[tuple[str, str], Rule]] = {
    ("threads", "create"): make,
    ("threads", "read"): own,
    ("threads", "update"): change,
    ("threads", "delete"): own,
    ("threads", "search"): own,
    ("threads", "create_run"): make,
    ("runs", "read"): own,
    ("runs", "delete"): own,
    ("assistants", "create"): make,
    ("assistants", "read"): own_or_system,
    ("assistants", "update"): change,
    ("assistants", "delete"): own,
    ("assistants", "search"): own_or_system,
    ("crons", "create"): make,
    ("crons", "read"): own,
    ("crons", "update"): change,
    ("crons", "delete"): own,
    ("crons", "search"): own,
}
SERVICE_RULES: Final[Mapping[tuple[str, str], Rule]] = {
    ("threads", "read"): own,
    ("threads", "update"): change_metadata,
    ("threads", "search"): own,
    ("threads", "delete"): own_background_threads,
    ("threads", "create_run"): make_background_run,
}
ERASE_RULES: Final[Mapping[tuple[str, str], Rule]] = {
    ("threads", "delete"): own,
    ("threads", "read"): own,
    ("threads", "search"): own,
    ("threads", "update"): stop_run,
}
