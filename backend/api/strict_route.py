"""A route of ours: takes what it declares and nothing else, and is described with every error it may answer."""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.routing import APIRoute

from backend.api.errors import ErrorResponse
from backend.errors import (
    AfterthoughtError,
    Forbidden,
    InvalidInput,
    NotFound,
    ServerUnavailable,
    StorageUnavailable,
    TooLarge,
    Unauthenticated,
)

Responses = dict[int | str, dict[str, Any]]


def described(*errors: type[AfterthoughtError]) -> Responses:
    """What `responses=` of a route takes, for these errors; those of one status share a description."""
    texts: dict[int | str, list[str]] = {}
    for error in errors:
        texts.setdefault(error.status, []).append(f"`{error.code}`: {error().message}")
    return {status: {"model": ErrorResponse, "description": " ".join(text)} for status, text in texts.items()}


EVERYWHERE: Final[Responses] = {
    **described(InvalidInput, Unauthenticated, Forbidden, NotFound, TooLarge, StorageUnavailable, ServerUnavailable),
    # without a default FastAPI adds a 422 of a form that is never sent
    "default": {"model": ErrorResponse, "description": "Any other error"},
}


class StrictRoute(APIRoute):
    """What a misspelled parameter, or a body where none is expected, was meant to say must not be ignored."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        options["responses"] = {**EVERYWHERE, **(options.get("responses") or {})}
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        known = {parameter.alias for parameter in self.dependant.query_params}

        async def strict(request: Request) -> Response:
            unknown = sorted(set(request.query_params) - known)
            if unknown:
                raise InvalidInput(f"there is no query parameter {', '.join(unknown)} here")
            if self.body_field is None and await request.body():
                raise InvalidInput("there is no request body here")
            return await handle(request)

        return strict


def make_strict(app: FastAPI) -> None:
    """Every route that is added from now on is a `StrictRoute`."""
    app.router.route_class = StrictRoute
