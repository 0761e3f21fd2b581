"""How errors leave the HTTP API: `{"error": {"kind", "message"}}` with a fitting status."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from pydantic import BaseModel

from backend.errors import AfterthoughtError, InvalidInput

API: str = "/api/"
"""Where our routes are. The server's own keep the server's form of errors."""


class ErrorBody(BaseModel):
    """What went wrong and what to do about it."""

    kind: str
    message: str


class ErrorResponse(BaseModel):
    """The body of every error response."""

    error: ErrorBody


def install_error_handlers(app: FastAPI) -> None:
    """Give the app's own errors, FastAPI's complaints about a request, and what nobody expected the same form."""
    app.add_exception_handler(AfterthoughtError, _ours)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(Exception, _unexpected)


def error_response(error: AfterthoughtError) -> JSONResponse:
    """The response that tells a client about `error`."""
    return JSONResponse(error_body(error.code, error.message).model_dump(), status_code=error.status)


def error_body(kind: str, message: str) -> ErrorResponse:
    return ErrorResponse(error=ErrorBody(kind=kind, message=message))


async def _ours(_: Request, error: Exception) -> JSONResponse:
    return error_response(error if isinstance(error, AfterthoughtError) else AfterthoughtError())


async def _validation(_: Request, error: Exception) -> JSONResponse:
    problems: list[dict[str, Any]] = list(error.errors()) if isinstance(error, RequestValidationError) else []
    return error_response(InvalidInput("; ".join(_sentence(problem["loc"], problem["msg"]) for problem in problems)))


async def _unexpected(request: Request, _: Exception) -> Response:
    """A mistake of ours, which the server logs: clients learn nothing of it, and on the server's routes as ever."""
    if request.url.path.startswith(API):
        return error_response(AfterthoughtError())
    return PlainTextResponse("Internal Server Error", status_code=500)


def _sentence(location: tuple[int | str, ...], message: str) -> str:
    where = ".".join(str(part) for part in location[1:]) or str(location[0])
    return f"{where}: {message}"
