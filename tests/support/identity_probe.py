"""A graph and an app that tell whom they take the caller for, to be served by a real server."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TypedDict

from fastapi import Depends, FastAPI
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from backend.accounts.identity import Identity
from backend.accounts.run_context import run_context
from backend.api.caller import make_read_caller
from backend.api.closed_paths import ClosedPaths
from backend.api.errors import install_error_handlers
from backend.api.sign_in_check import require_sign_in
from backend.settings import load_settings

settings = load_settings()


class Seen(TypedDict, total=False):
    hold: bool
    user_id: str | None
    thread_id: str | None
    server_info_user: str | None
    permissions: list[str]
    config_keys: list[str]


async def look(state: Seen, runtime: Runtime[None]) -> Seen:
    """What a node of ours would see; with `hold`, a run that goes on until it is cancelled."""
    if state.get("hold"):
        await asyncio.Event().wait()
    config = get_config()
    context = run_context(config, auth_mode=settings.auth_mode, default_user=settings.auth_default_user)
    user = runtime.server_info.user if runtime.server_info else None
    return {
        "user_id": context.user_id,
        "thread_id": context.thread_id,
        "server_info_user": user.identity if user else None,
        "permissions": list(getattr(user, "permissions", [])),
        "config_keys": sorted(config.get("configurable", {})),
    }


builder = StateGraph(Seen)
builder.add_node("look", look)
builder.add_edge(START, "look")
builder.add_edge("look", END)
graph = builder.compile()
background_graph = builder.compile()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    if settings.auth_mode != "none":
        await require_sign_in(app)
    yield


app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
app.add_middleware(ClosedPaths)
install_error_handlers(app)
read_caller = make_read_caller(auth_mode=settings.auth_mode, default_user=settings.auth_default_user)


@app.get("/api/whoami")
async def whoami(caller: Identity = Depends(read_caller)) -> dict[str, object]:  # noqa: B008
    return {"user_id": caller.user_id, "permissions": sorted(caller.permissions)}


@app.get("/api/health")
async def health() -> dict[str, bool]:
    return {"ok": True}
