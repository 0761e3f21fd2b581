"""GET /api/health: whether the parts work, without a secret and without asking who is there."""

import platform
from importlib.metadata import version
from typing import Literal, Protocol

from fastapi import FastAPI, Response
from pydantic import BaseModel

from backend import __version__
from backend.errors import StorageUnavailable
from backend.llm.offline import OFFLINE_NOTICE
from backend.settings import Role, Settings

PACKAGES = ("langgraph", "langgraph-sdk", "langchain-core", "langchain-openai", "psycopg")
ROLES: tuple[Role, ...] = ("chat", "router", "title", "summary")


class Database(Protocol):
    """What health asks of storage."""

    async def server_version(self) -> str:
        """PostgreSQL's version. Raises StorageUnavailable within a few seconds when it does not answer."""
        ...


class DatabaseHealth(BaseModel):
    ok: bool
    version: str | None = None
    embedded: bool
    problem: str | None = None


class ModelHealth(BaseModel):
    offline: bool
    names: dict[str, str]
    notice: str | None = None


class Health(BaseModel):
    status: Literal["ok", "degraded"]
    database: DatabaseHealth
    model: ModelHealth
    auth_mode: str
    versions: dict[str, str]


def add_health_route(app: FastAPI, *, settings: Settings, database: Database) -> None:
    """503 while the database does not answer, so that a load balancer understands it too.

    Routes stand on the app itself: the server cannot put its authentication in front of an included router.
    """
    embedded = settings.embedded_data is not None

    @app.get("/api/health", tags=["health"], response_model=Health, responses={503: {"model": Health}})
    async def health(response: Response) -> Health:
        reached = await _reach(database, embedded=embedded)
        response.status_code = 200 if reached.ok else 503
        return Health(
            status="ok" if reached.ok else "degraded",
            database=reached,
            model=_model_health(settings),
            auth_mode=settings.auth_mode,
            versions={
                "afterthought": __version__,
                "python": platform.python_version(),
                **{package: version(package) for package in PACKAGES},
            },
        )


async def _reach(database: Database, *, embedded: bool) -> DatabaseHealth:
    try:
        return DatabaseHealth(ok=True, version=await database.server_version(), embedded=embedded)
    except StorageUnavailable as error:
        return DatabaseHealth(ok=False, embedded=embedded, problem=error.message)


def _model_health(settings: Settings) -> ModelHealth:
    return ModelHealth(
        offline=settings.offline,
        names={role: settings.model_for(role) for role in ROLES},
        notice=OFFLINE_NOTICE if settings.offline else None,
    )
