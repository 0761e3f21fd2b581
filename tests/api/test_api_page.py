"""/app: the page's files, for anybody, with headers that let nothing else run; `/` leads browsers there."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.api.page import HEADERS, Page
from tests.support.http_api import Api, client_of, running_api
from tests.support.memory_homes import HomeInPostgres

pytestmark = pytest.mark.anyio

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "font-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8"}
FILES = {
    "index.html": "<!doctype html>",
    "favicon.svg": "<svg/>",
    "app/main.js": "export {};",
    "styles/base.css": "a {}",
    "東京.txt": "text",
}
SECRET = "not for anybody"


async def server(scope: Scope, receive: Receive, send: Send) -> None:
    """What is behind the page."""
    await PlainTextResponse(f"the server at {scope['path']}")(scope, receive, send)


class RawPath:
    """Paths as they were sent: httpx tidies them up."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "path": self._path}, receive, send)


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """Over a folder with a few files, beside one that it must not give away."""
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "webby").mkdir()
    (tmp_path / "webby" / "secret.txt").write_text(SECRET)
    folder = tmp_path / "web"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (folder / "leads_out.txt").symlink_to(tmp_path / "secret.txt")
    return Page(server, folder=folder)


@pytest.fixture
async def http(page: Page) -> AsyncGenerator[httpx.AsyncClient]:
    async with client_of(page) as client:
        yield client


@pytest.mark.parametrize("path", ["/app", "/app/", "/app/index.html", "/app/?x=1", "/app?x=1"])
async def test_the_page_is_its_index(path: str, http: httpx.AsyncClient) -> None:
    answer = await http.get(path)

    assert (answer.status_code, answer.text) == (200, FILES["index.html"])
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("app/main.js", "text/javascript; charset=utf-8"),
        ("styles/base.css", "text/css; charset=utf-8"),
        ("favicon.svg", "image/svg+xml"),
        ("東京.txt", "text/plain; charset=utf-8"),
    ],
    ids=["js", "css", "svg", "another"],
)
async def test_its_files_are_under_it_with_their_types(name: str, media_type: str, http: httpx.AsyncClient) -> None:
    answer = await http.get(f"/app/{name}")

    assert (answer.status_code, answer.text) == (200, FILES[name])
    assert answer.headers["content-type"] == media_type


async def test_head_is_get_without_the_body(http: httpx.AsyncClient) -> None:
    got, asked = await http.get("/app/app/main.js"), await http.head("/app/app/main.js")

    assert (asked.status_code, asked.content, asked.headers) == (200, b"", got.headers)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/app", "/app/app/main.js", "/app/nothing"])
async def test_nothing_but_reading_is_allowed(method: str, path: str, http: httpx.AsyncClient) -> None:
    answer = await http.request(method, path)

    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert answer.json()["error"]["kind"] == "invalid"


@pytest.mark.parametrize(
    "path",
    [
        "/app/nothing.js",
        "/app/app",
        "/app/app/",
        "/app/styles/",
        "/app/../secret.txt",
        "/app/app/../../secret.txt",
        "/app/../webby/secret.txt",
        "/app//secret.txt",
        "/app//etc/passwd",
        "/app/\\..\\secret.txt",
        "/app/leads_out.txt",
        "/app/a\0b",
        "/app/\udcff",
        "/app/" + "x" * 5_000,
        "/app/" + "x/" * 5_000,
        "/app/.",
        "/app/..",
        "/app/index.html/x",
    ],
    ids=range(18),
)
async def test_what_is_no_file_of_the_page_is_not_there(path: str, page: Page) -> None:
    async with client_of(RawPath(page, path)) as http:
        answer = await http.get("/")

    assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "not_found")
    assert SECRET not in answer.text
    assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/app/app/main.js", "/app/styles/base.css"])
async def test_scripts_and_styles_have_none_of_the_headers_of_documents(path: str, http: httpx.AsyncClient) -> None:
    """On dozens of small files they would be most of what is sent."""
    headers = (await http.get(path)).headers
    assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-cache")
    assert not {"content-security-policy", "permissions-policy"} & set(headers)


@pytest.mark.parametrize(
    ("method", "path"),
    [(method, path) for method in ("GET", "HEAD", "POST") for path in ("/app", "/app/favicon.svg", "/app/nothing")]
    + [("POST", "/app/app/main.js")],
)
async def test_every_document_and_every_refusal_has_the_headers_that_keep_others_out(
    path: str, method: str, http: httpx.AsyncClient
) -> None:
    headers = (await http.request(method, path)).headers

    directives = (one.split(" ", 1) for one in headers["content-security-policy"].split("; "))
    assert {name: allowed for name, allowed in directives} == POLICY  # noqa: C416
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["permissions-policy"] == "camera=(), microphone=(), geolocation=()"
    assert headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/app", "/app/app/main.js"])
async def test_a_reload_of_what_has_not_changed_sends_nothing(path: str, http: httpx.AsyncClient) -> None:
    tag = (await http.get(path)).headers["etag"]
    again = await http.get(path, headers={"if-none-match": tag})
    other = await http.get(path, headers={"if-none-match": '"another"'})

    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert again.headers["x-content-type-options"] == "nosniff"
    assert "content-type" not in again.headers
    assert other.status_code == 200


async def test_a_changed_file_is_sent_anew(http: httpx.AsyncClient, tmp_path: Path) -> None:
    tag = (await http.get("/app/app/main.js")).headers["etag"]
    (tmp_path / "web" / "app" / "main.js").write_text("export const changed = true;")
    anew = await http.get("/app/app/main.js", headers={"if-none-match": tag})

    assert (anew.status_code, anew.text) == (200, "export const changed = true;")


async def test_the_root_leads_a_browser_to_the_page(http: httpx.AsyncClient) -> None:
    answer = await http.get("/", headers=BROWSER)

    assert (answer.status_code, answer.headers["location"], answer.headers["vary"]) == (307, "/app", "Accept")


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        pytest.param("GET", {"accept": "*/*"}, id="a program"),
        pytest.param("GET", {"accept": "application/json"}, id="JSON"),
        pytest.param("GET", {"accept": ""}, id="nothing"),
        pytest.param("POST", BROWSER, id="a form"),
        pytest.param("HEAD", BROWSER, id="head"),
    ],
)
async def test_everybody_else_has_the_servers_own_answer_there(
    method: str, headers: dict[str, str], http: httpx.AsyncClient
) -> None:
    answer = await http.request(method, "/", headers=headers)

    assert answer.status_code == 200
    assert "content-security-policy" not in answer.headers


@pytest.mark.parametrize("path", ["/apps", "/application", "/api/app", "/App", "/threads", "/appx/main.js"])
async def test_other_paths_are_the_servers(path: str, http: httpx.AsyncClient) -> None:
    assert (await http.get(path, headers=BROWSER)).text == f"the server at {path}"


async def test_a_page_whose_files_are_missing_is_not_there_and_the_server_goes_on(tmp_path: Path) -> None:
    async with client_of(Page(server, folder=tmp_path / "nowhere")) as http:
        assert (await http.get("/app")).status_code == 404
        assert (await http.get("/ok")).status_code == 200


async def test_everybody_may_load_the_page_and_only_users_may_ask_for_memory(api: Api) -> None:
    async with api.client() as nobody:
        assert (await nobody.get("/app")).status_code == 200
        assert (await nobody.get("/", headers=BROWSER)).headers["location"] == "/app"
        assert (await nobody.get("/api/memory/profile")).status_code == 401


async def test_without_authentication_the_page_is_for_names_of_this_machine_only(database_url: str) -> None:
    async with running_api(HomeInPostgres(database_url), auth_mode="none") as api, api.client() as http:
        for path in ("/app", "/app/index.html", "/"):
            refused = await http.get(path, headers={**BROWSER, "host": "evil.example"})
            assert (refused.status_code, refused.json()["error"]["kind"]) == (403, "forbidden")
        assert (await http.get("/app", headers={"host": "localhost:2024"})).status_code == 200
