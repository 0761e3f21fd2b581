"""JSON that somebody wrote: an object or a text, or nothing."""

import json
from collections.abc import Mapping
from typing import Any, cast


def json_object(text: str) -> Mapping[str, Any]:
    """The object that a text holds; empty if it holds none, is no JSON, or is nested too deep to read."""
    try:
        return as_object(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def json_string(text: str) -> str:
    """The text that a JSON string holds; what is none stays as it is."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, str) else text


def as_object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
