"""Embeddings of the scripted model server: vectors of a text's words, so that texts that share words are near.

server.when("small-embedder", vectors(64))
server.then(vectors(values=[[1.0, 0.0]]))      # these, whatever was asked
server.then(error(503, "overloaded"))          # errors, delays and gates as for chats
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack, cast

from tests.support.model_replies import Pace, Reply
from tests.support.model_requests import ModelRequest, Violation

MAX_INPUTS = 2048


@dataclass(frozen=True, kw_only=True)
class EmbeddingsRequest(ModelRequest):
    """One POST to `/v1/embeddings`."""

    @property
    def inputs(self) -> Sequence[str]:
        asked: Any = self.body.get("input")
        return [asked] if isinstance(asked, str) else cast("Sequence[str]", asked or [])

    def __str__(self) -> str:
        return f"request {self.number} to model {self.model!r} for vectors of {len(self.inputs)} texts"


@dataclass(frozen=True, kw_only=True)
class Vectors(Reply):
    """`values` are sent as they are, whether or not they are vectors."""

    dimension: int
    values: Sequence[Any] | None = None


def vectors(dimension: int = 64, *, values: Sequence[Any] | None = None, **pace: Unpack[Pace]) -> Vectors:
    return Vectors(dimension=dimension, values=values, **pace)


def vector_of(text: str, dimension: int) -> list[float]:
    """Each word adds to a few of the numbers; never all zeros."""
    numbers = [0.0] * dimension
    numbers[0] = 0.1
    for word in re.findall(r"\w+", text.casefold()):
        digest = hashlib.sha256(word.encode()).digest()
        for place, sign in zip(digest[:8], digest[8:16], strict=True):
            numbers[place % dimension] += 1.0 if sign % 2 else -1.0
    return numbers


def embeddings_of(request: EmbeddingsRequest, reply: Reply) -> dict[str, Any]:
    """The answer in OpenAI's form."""
    assert isinstance(reply, Vectors), f"{request} has to be answered with vectors(...), not with {reply}"
    values = reply.values
    if values is None:
        values = [vector_of(text, reply.dimension) for text in request.inputs]
    data = [{"object": "embedding", "index": index, "embedding": value} for index, value in enumerate(values)]
    usage = {"prompt_tokens": len(request.inputs), "total_tokens": len(request.inputs)}
    return {"object": "list", "data": data, "model": request.model, "usage": usage}


def input_faults_of(request: EmbeddingsRequest) -> Iterator[Violation]:
    """What a real provider refuses."""
    if not 0 < len(request.inputs) <= MAX_INPUTS:
        yield Violation(f"Invalid 'input': expected 1 to {MAX_INPUTS} texts, got {len(request.inputs)}.", "input")
    if not all(isinstance(text, str) and text for text in request.inputs):  # pyright: ignore[reportUnnecessaryIsInstance]
        yield Violation("Invalid 'input': every text must be a string and not empty.", "input")
