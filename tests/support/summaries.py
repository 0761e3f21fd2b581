"""What the scripted model answers, and was asked, in conversations that are summarized."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.model_server import ModelRequest, ModelServer, Reply, structured, text


def turns_of(request: ModelRequest) -> list[Mapping[str, Any]]:
    """The lines of the transcript in a request to the summary model."""
    return [json.loads(line) for line in request.last_human_text.split("\n")]


def labels_of(request: ModelRequest) -> list[str]:
    return [turn["id"] for turn in turns_of(request)]


def windows_asked(model: ModelServer) -> list[list[str]]:
    """The labels of the turns in each request to the summary model, in order."""
    return [labels_of(request) for request in model.for_model("summary")]


def said(turn: Mapping[str, Any], role: str) -> str:
    """All that one side says in a turn of a transcript."""
    return " ".join(one.get("content", "") for one in turn["messages"] if one["role"] == role)


def answer(request: ModelRequest) -> Reply:
    """An answer of the chat model that tells which question it belongs to."""
    return text(f"answer to {request.last_human_text}")


def summary(request: ModelRequest) -> Reply:
    """A faithful summary: one entry a turn, in the words of both sides."""
    return structured(
        {
            "entries": [
                {"question": f"summary of: {said(turn, 'human')}", "answer": said(turn, "ai"), "refs": [turn["id"]]}
                for turn in turns_of(request)
            ]
        }
    )


def short_summary(request: ModelRequest) -> Reply:
    """One short entry for the whole window."""
    labels = labels_of(request)
    return structured({"entries": [{"question": f"{labels[0]} to {labels[-1]}", "answer": "done", "refs": labels[:1]}]})


def labels(first: int, last: int) -> Sequence[str]:
    return [f"#{number}" for number in range(first, last + 1)]
