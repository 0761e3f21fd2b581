"""What a server refuses by itself under `/api` comes out in the form of our errors."""

import json
from collections.abc import Mapping, Sequence

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from backend.api.error_form import ErrorForm
from tests.support.http_api import client_of

pytestmark = pytest.mark.anyio

JSON = {"content-type": "application/json"}


async def ask(
    status: int, *pieces: bytes, path: str = "/api/memory", headers: Mapping[str, str] = JSON
) -> httpx.Response:
    """The answer of a server that sends these pieces, as it comes through."""
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": status, "headers": raw})
        for message in bodies(pieces):
            await send(message)

    async with client_of(ErrorForm(app)) as client:
        return await client.get(path)


def bodies(pieces: Sequence[bytes]) -> list[Message]:
    last = len(pieces) - 1
    return [
        {"type": "http.response.body", "body": piece, "more_body": number < last} for number, piece in enumerate(pieces)
    ]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid"),
        (401, "unauthenticated"),
        (403, "forbidden"),
        (404, "not_found"),
        (405, "invalid"),
        (409, "invalid"),
        (413, "too_large"),
        (422, "invalid"),
        (500, "internal"),
        (502, "internal"),
        (503, "unavailable"),
    ],
)
async def test_a_refusal_keeps_its_status_and_its_reason(status: int, kind: str) -> None:
    response = await ask(status, b'{"detail":"the reason"}')

    assert response.status_code == status
    assert response.json() == {"error": {"kind": kind, "message": "the reason"}}


async def test_headers_stay_and_the_length_fits() -> None:
    body = json.dumps({"detail": "é" * 100}).encode()
    headers = {**JSON, "access-control-allow-origin": "*", "x-request-id": "1", "content-length": str(len(body))}

    response = await ask(401, body[:7], body[7:50], body[50:], b"", headers=headers)

    assert response.json()["error"]["message"] == "é" * 100
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["x-request-id"] == "1"
    assert response.headers.get_list("content-length") == [str(len(response.content))]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(404, b'{"error":{"kind":"not_found","message":"x"}}', id="our own form"),
        pytest.param(503, b'{"status":"degraded"}', id="an answer of another kind"),
        pytest.param(500, b"Internal Server Error", id="text"),
        pytest.param(404, b"", id="nothing"),
        pytest.param(404, b"[1]", id="a list"),
        pytest.param(400, b'{"detail":{"a":1}}', id="a detail that is no text"),
        pytest.param(404, b"\xff", id="no text"),
        pytest.param(200, b'{"detail":"x"}', id="a success"),
        pytest.param(307, b'{"detail":"x"}', id="a redirection"),
    ],
)
async def test_everything_else_passes_as_it_is(status: int, body: bytes) -> None:
    response = await ask(status, body)

    assert (response.status_code, response.content) == (status, body)


@pytest.mark.parametrize("path", ["/threads/x", "/", "/apis/x", "/api"])
async def test_other_paths_are_not_touched(path: str) -> None:
    assert (await ask(404, b'{"detail":"x"}', path=path)).json() == {"detail": "x"}
