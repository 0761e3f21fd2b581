"""Whose turn it is, and in which thread: read once from a run's config by every node and tool."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from langchain_core.runnables import RunnableConfig

from backend.accounts.identity import parse_user_id
from backend.accounts.server_user import UNNAMED, identity_of
from backend.ids import ThreadId, UserId
from backend.settings import AuthMode


@dataclass(frozen=True, slots=True)
class RunContext:
    """The user and the thread of a run."""

    user_id: UserId | None
    """None: nobody, which only `AUTH_MODE=none` allows. The chat works, nothing is remembered."""
    thread_id: ThreadId | None


ReadContext = Callable[[RunnableConfig], RunContext]
"""`run_context` with the settings filled in, as nodes and tools get it."""


def run_context(config: RunnableConfig, *, auth_mode: AuthMode, default_user: str) -> RunContext:
    """The context of the run with this config.

    With `AUTH_MODE=none`: `configurable.user_id`, else `configurable.userId` (S1), else `default_user`; a value that is
    given but names nobody means nobody. Otherwise: the server's own user object and nothing else in the config.

    Raises:
        Unauthenticated: authentication is on and no signed-in user came with the run, which must therefore fail.
    """
    configurable = cast("Mapping[str, object]", config.get("configurable") or {})
    if auth_mode == "none":
        user_id = _named_user(configurable, default_user=default_user)
    else:
        user_id = identity_of(
            configurable.get("langgraph_auth_user"), auth_mode=auth_mode, default_user=default_user
        ).user_id
    return RunContext(user_id=user_id, thread_id=_thread_id(configurable.get("thread_id")))


def _named_user(configurable: Mapping[str, object], *, default_user: str) -> UserId | None:
    for key in ("user_id", "userId"):
        value = configurable.get(key)
        if value is not None and value != UNNAMED:
            return parse_user_id(value)
    return parse_user_id(default_user)


def _thread_id(value: object) -> ThreadId | None:
    text = str(value) if isinstance(value, str | UUID) else ""
    return ThreadId(text) if text.strip() else None


def keep_nobody(request: Mapping[str, object]) -> None:
    """Let an empty `user_id` of a run that is about to be created go on to mean nobody, with `AUTH_MODE=none`.

    The dev server takes an empty value for a missing one and fills in the sign-in's identity; a blank one it leaves.
    """
    configurable: object = request
    for key in ("kwargs", "config", "configurable"):
        configurable = cast("Mapping[str, object]", configurable).get(key) if isinstance(configurable, dict) else None
    if isinstance(configurable, dict):
        named = cast("dict[str, object]", configurable)
        value = named.get("user_id")
        if value is not None and not value:
            named["user_id"] = parse_user_id(value) or " "
