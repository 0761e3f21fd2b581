"""Texts as vectors: by a model of the provider or by one on this machine, or not at all (`MEMORY_EMBEDDINGS`)."""

import asyncio
import math
import threading
from collections.abc import Callable, Sequence
from typing import Annotated, Final, Protocol

import openai
import structlog
from langchain_openai import OpenAIEmbeddings
from pydantic import Field, FiniteFloat, TypeAdapter, ValidationError

from backend.errors import BadModelOutput, ModelUnavailable, OutsideFailure, SettingsError
from backend.llm.content import well_formed
from backend.llm.local_embeddings import (
    HOW_TO_INSTALL,
    LOCAL_MODEL,
    TextModel,
    load_local_model,
    missing_packages,
)
from backend.llm.models import (
    NO_KEY,
    OPENAI_URL,
    ProviderClient,
    provider_timeout,
    translate_model_errors,
)
from backend.settings import Settings

log = structlog.stdlib.get_logger(__name__)

QUERY_SECONDS: Final = 1.0
READ_CHARS: Final = (6_000, 1_500, 400)
"""How much of a text the provider is sent; less when it refuses, because small models read little and say only no."""

_VECTORS: Final = TypeAdapter(list[Annotated[list[FiniteFloat], Field(min_length=1)]])


class Embedder(Protocol):
    """Gives rows and questions their vectors, which can be compared with each other only."""

    @property
    def model(self) -> str:
        """The name under which its vectors are stored: vectors of two names have nothing to do with each other."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector of length 1 for each text, in their order and all of one dimension.

        Raises:
            ModelUnavailable: there is no answer; the message says what to do.
            BadModelOutput: the answer is not one usable vector for each text.
        """
        ...


class ConfiguredEmbedder(Embedder, Protocol):
    """The one of the settings, built once."""

    async def close(self) -> None:
        """Close the connections that the running loop opened."""
        ...


def make_embedder(settings: Settings) -> ConfiguredEmbedder | None:
    """What `MEMORY_EMBEDDINGS` names; None when it is `off`. Nothing is opened or loaded yet.

    Raises:
        SettingsError: it is `local`, and packages are missing; the message says how to install them.
    """
    if settings.memory_embeddings == "off":
        return None
    if settings.memory_embeddings != "local":
        return ProviderEmbedder(settings)
    require_local_packages(missing_packages())
    return LocalEmbedder()


def require_local_packages(missing: Sequence[str]) -> None:
    """Raises SettingsError when there is anything in `missing`."""
    if missing:
        raise SettingsError(
            f"MEMORY_EMBEDDINGS: local needs packages that are not installed ({', '.join(missing)}); "
            f"install them with: {HOW_TO_INSTALL}"
        )


async def query_vector(
    embedder: Embedder, text: str, *, timeout_seconds: float = QUERY_SECONDS
) -> Sequence[float] | None:
    """The vector of what is looked for; None when there is none in time, so that words alone have to find it."""
    if not text.strip():
        return None
    try:
        return await _embed_in_time(embedder, text, timeout_seconds)
    except OutsideFailure as error:
        log.warning("query_vector_failed", code=error.code, reason=error.message, model=embedder.model)
        return None


async def _embed_in_time(embedder: Embedder, text: str, seconds: float) -> Sequence[float]:
    try:
        async with asyncio.timeout(seconds):
            [vector] = await embedder.embed([well_formed(text)])
            return vector
    except TimeoutError:
        raise ModelUnavailable(f"There was no vector within {seconds:g} s.") from None


class ProviderEmbedder:
    """A model of the OpenAI-compatible server of the settings."""

    def __init__(self, settings: Settings) -> None:
        key = settings.openai_api_key
        self.model = settings.memory_embeddings
        self._http = ProviderClient(settings)
        self._client = OpenAIEmbeddings(
            model=self.model,
            api_key=key if key.get_secret_value() else NO_KEY,
            base_url=settings.openai_base_url or OPENAI_URL,
            timeout=provider_timeout(settings),
            max_retries=settings.model_max_retries,
            check_embedding_ctx_length=False,
            model_kwargs={"encoding_format": "float"},
            openai_api_type="openai",
            openai_proxy="",
            http_client=self._http.unused_sync_twin(),
            http_async_client=self._http,
        )

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        try:
            async with translate_model_errors():
                vectors = await self._ask(texts, READ_CHARS)
        except ModelUnavailable as error:
            raise ModelUnavailable(f"MEMORY_EMBEDDINGS={self.model}: {error.message}") from None
        return unit_vectors(vectors, count=len(texts))

    async def close(self) -> None:
        await self._http.aclose()

    async def _ask(self, texts: Sequence[str], cuts: Sequence[int]) -> object:
        try:
            return await self._client.aembed_documents([text[: cuts[0]] for text in texts])
        except openai.BadRequestError:
            shorter = [chars for chars in cuts[1:] if chars < max(map(len, texts))]
            if not shorter:
                raise
            return await self._ask(texts, shorter)


class LocalEmbedder:
    """The model on this machine, loaded when it is first used."""

    def __init__(self, load: Callable[[], TextModel] = load_local_model) -> None:
        self.model = LOCAL_MODEL
        self._load = load
        self._loaded: TextModel | None = None
        self._loading = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        vectors = await asyncio.to_thread(self._embed, texts)
        return unit_vectors(vectors, count=len(texts))

    async def close(self) -> None:
        """There are none."""

    def _embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        model = self._ready()
        return [model(text) for text in texts]

    def _ready(self) -> TextModel:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._loaded_now()
            return self._loaded

    def _loaded_now(self) -> TextModel:
        try:
            return self._load()
        except (ImportError, OSError) as error:
            raise ModelUnavailable(
                f"MEMORY_EMBEDDINGS=local: the model cannot be loaded; install it anew with: {HOW_TO_INSTALL}"
            ) from error


def unit_vectors(answer: object, *, count: int) -> Sequence[Sequence[float]]:
    """An answer as vectors of length 1.

    Raises:
        BadModelOutput: it is not `count` vectors of one dimension, of finite numbers, each with a direction.
    """
    try:
        vectors = _VECTORS.validate_python(answer)
    except ValidationError:
        raise BadModelOutput("The embedding model answered something else than vectors of finite numbers.") from None
    if len(vectors) != count:
        raise BadModelOutput(f"The embedding model answered {len(vectors)} vectors for {count} texts.")
    if len({len(vector) for vector in vectors}) > 1:
        raise BadModelOutput("The embedding model answered vectors of several dimensions.")
    return [_unit(vector) for vector in vectors]


def _unit(vector: Sequence[float]) -> Sequence[float]:
    length = math.hypot(*vector)
    if not 0 < length < math.inf:
        raise BadModelOutput("The embedding model answered a vector that has no direction.")
    return [number / length for number in vector]
