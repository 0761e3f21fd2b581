"""The HTTP side: our routes, mounted by the server beside LangGraph's own."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from backend import __version__
from backend.api.caller import make_read_caller
from backend.api.callers_memory import make_callers_memory
from backend.api.closed_paths import ClosedPaths
from backend.api.deleted_threads import DeletedThreads
from backend.api.errors import install_error_handlers
from backend.api.health import add_health_route
from backend.api.own_data import add_own_data_routes
from backend.api.profile import add_profile_routes
from backend.api.sign_in_check import require_sign_in
from backend.api.threads import add_thread_routes
from backend.bootstrap import Services, services


def build(services: Services) -> FastAPI:
    """The app over the given services. Its documentation is part of the server's own `/docs`."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        if services.settings.auth_mode != "none":
            await require_sign_in(app)
        async with services.running():
            yield

    app = FastAPI(
        title="Afterthought",
        version=__version__,
        lifespan=lifespan,
        max_body_size=services.settings.max_body_bytes,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
    )
    app.add_middleware(ClosedPaths)
    install_error_handlers(app)
    app.add_middleware(DeletedThreads, purge=services.forgetting.thread_gone)
    _add_routes(app, services)
    return app


def _add_routes(app: FastAPI, services: Services) -> None:
    settings = services.settings
    read_caller = make_read_caller(auth_mode=settings.auth_mode, default_user=settings.auth_default_user)
    callers_memory = make_callers_memory(read_caller=read_caller, memory_of=services.memories.of)
    add_health_route(app, settings=settings, database=services.database)
    add_profile_routes(app, callers_memory=callers_memory, titles=services.server)
    add_thread_routes(app, callers_memory=callers_memory, titles=services.server, forgetting=services.forgetting)
    add_own_data_routes(app, callers_memory=callers_memory, read_caller=read_caller, forgetting=services.forgetting)


app = build(services())
