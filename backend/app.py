"""The HTTP side: our routes, mounted by the server beside LangGraph's own."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from fastapi import FastAPI

from backend import __version__
from backend.api.body_limit import BodyLimit
from backend.api.caller import make_read_caller
from backend.api.callers_memory import make_callers_memory
from backend.api.closed_paths import ClosedPaths, refuse_mount_prefix
from backend.api.deleted_threads import DeletedThreads
from backend.api.episodes import add_episode_routes
from backend.api.error_form import ErrorForm
from backend.api.errors import install_error_handlers
from backend.api.events import add_event_route
from backend.api.facts import add_fact_routes
from backend.api.health import add_health_route
from backend.api.local_callers import LocalCallers
from backend.api.own_data import add_own_data_routes
from backend.api.page import Page
from backend.api.profile import add_profile_routes
from backend.api.search import add_search_route
from backend.api.sign_in_check import require_sign_in
from backend.api.stopped_runs import StoppedRuns
from backend.api.strict_route import make_strict
from backend.api.threads import add_thread_routes
from backend.bootstrap import Services, services


def build(services: Services) -> FastAPI:
    """The app over the given services. Its documentation is part of the server's own `/docs`."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        refuse_mount_prefix(os.environ)
        if services.settings.auth_mode != "none":
            await require_sign_in(app)
        async with services.running():
            yield

    app = FastAPI(
        title="Afterthought",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # `DELETE /api/memory/profile/..` would end as `DELETE /api/memory`
    )
    install_error_handlers(app)
    _add_middleware(app, services)
    _add_routes(app, services)
    return app


def _add_middleware(app: FastAPI, services: Services) -> None:
    """The last one stands outermost."""
    app.add_middleware(DeletedThreads, purge=services.thread_gone)
    app.add_middleware(StoppedRuns, runs=services.server)
    app.add_middleware(ErrorForm)
    app.add_middleware(BodyLimit, max_bytes=services.settings.max_body_bytes)
    app.add_middleware(Page)
    app.add_middleware(ClosedPaths)
    if services.settings.auth_mode == "none":
        app.add_middleware(LocalCallers, hosts=_own_host(services.settings.self_url))


def _own_host(self_url: str) -> list[str]:
    host = urlsplit(self_url).hostname
    return [host] if host else []


def _add_routes(app: FastAPI, services: Services) -> None:
    settings = services.settings
    read_caller = make_read_caller(auth_mode=settings.auth_mode, default_user=settings.auth_default_user)
    callers_memory = make_callers_memory(read_caller=read_caller, memory_of=services.memories.of)
    add_health_route(app, settings=settings, database=services.database)
    make_strict(app)
    add_profile_routes(app, callers_memory=callers_memory, titles=services.server)
    add_thread_routes(app, callers_memory=callers_memory, titles=services.server, forgetting=services.forgetting)
    add_fact_routes(app, callers_memory=callers_memory)
    add_episode_routes(app, callers_memory=callers_memory)
    add_search_route(app, callers_memory=callers_memory)
    add_event_route(app, callers_memory=callers_memory, changes=services.memories.changes)
    add_own_data_routes(app, callers_memory=callers_memory, read_caller=read_caller, forgetting=services.forgetting)


app = build(services())
