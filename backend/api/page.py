"""/app: the page, which anybody may load; whose memory it shows, its own requests to the API say with a token."""

from collections.abc import Mapping
from http import HTTPMethod, HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.api.errors import error_body, error_response
from backend.errors import CallerError, NotFound

PATH: Final = "/app"
FOLDER: Final = Path(__file__).parents[1] / "web"
INDEX: Final = "index.html"
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    # it may be kept, but is asked for again each time, which costs a few bytes while nothing has changed
    "Cache-Control": "no-cache",
}
PART_HEADERS: Final[Mapping[str, str]] = {name: HEADERS[name] for name in ("X-Content-Type-Options", "Cache-Control")}
"""Of scripts and styles: the other headers say what a document may do, and would be most of what these weigh."""
PARTS: Final = frozenset({".js", ".css"})
TYPES: Final[Mapping[str, str]] = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""Some machines have other ideas about these, and with `nosniff` a browser would then run nothing."""


class Page:
    """ASGI middleware: answers `/app` and what is under it in every mode, and leads browsers there from `/`.

    It stands in front of the server's authentication, which is on every route of ours. Its files name each other by
    absolute addresses, so a server that puts everything under a path of its own (a root path) does not have the page.
    """

    def __init__(self, app: ASGIApp, *, folder: Path = FOLDER) -> None:
        self._app = app
        self._files = StaticFiles(directory=folder, check_dir=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp = self._app
        if scope["type"] == "http" and _is_of_page(scope["path"]):
            answer = GZipMiddleware(await self._answer(scope))
        elif scope["type"] == "http" and _wants_page(scope):
            answer = RedirectResponse(PATH, HTTPStatus.TEMPORARY_REDIRECT, {"Vary": "Accept"})
        await answer(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response:
        name = scope["path"].removeprefix(PATH).removeprefix("/") or INDEX
        try:
            response = await self._files.get_response(name, scope)
        except HTTPException as error:
            response = _refusal(error)
        suffix = PurePosixPath(name).suffix
        is_part = response.status_code < HTTPStatus.BAD_REQUEST and suffix in PARTS
        response.headers.update(PART_HEADERS if is_part else HEADERS)
        if response.status_code < HTTPStatus.MULTIPLE_CHOICES and (known := TYPES.get(suffix)):
            response.headers["Content-Type"] = known
        return response


def _is_of_page(path: str) -> bool:
    return path == PATH or path.startswith(f"{PATH}/")


def _wants_page(scope: Scope) -> bool:
    """A browser at the root; everybody else is told there by the server that it is up."""
    accepted = Headers(scope=scope).get("accept", "")
    return scope["path"] == "/" and scope["method"] == HTTPMethod.GET and "text/html" in accepted.lower()


def _refusal(error: HTTPException) -> Response:
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        body = error_body(CallerError.code, "the page can only be read").model_dump()
        return JSONResponse(body, error.status_code, error.headers)
    return error_response(NotFound("the page has no such file"))
