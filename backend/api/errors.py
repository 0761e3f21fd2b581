"""How errors leave the HTTP API: `{"error": {"kind", "message"}}` with a fitting status."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from backend.errors import AfterthoughtError, InvalidInput


class ErrorBody(BaseModel):
    """What went wrong and what to do about it."""

    kind: str
    message: str


class ErrorResponse(BaseModel):
    """The body of every error response."""

    error: ErrorBody


def install_error_handlers(app: FastAPI) -> None:
    """Give the app's own errors and FastAPI's complaints about a request the same form."""
    app.add_exception_handler(AfterthoughtError, _ours)
    app.add_exception_handler(RequestValidationError, _validation)


def error_response(error: AfterthoughtError) -> JSONResponse:
    """The response that tells a client about `error`."""
    body = ErrorResponse(error=ErrorBody(kind=error.code, message=error.message))
    return JSONResponse(body.model_dump(), status_code=error.status)


async def _ours(_: Request, error: Exception) -> JSONResponse:
    return error_response(error if isinstance(error, AfterthoughtError) else AfterthoughtError())


async def _validation(_: Request, error: Exception) -> JSONResponse:
    problems: list[dict[str, Any]] = list(error.errors()) if isinstance(error, RequestValidationError) else []
    return error_response(InvalidInput("; ".join(_sentence(problem["loc"], problem["msg"]) for problem in problems)))


def _sentence(location: tuple[int | str, ...], message: str) -> str:
    where = ".".join(str(part) for part in location[1:]) or str(location[0])
    return f"{where}: {message}"
