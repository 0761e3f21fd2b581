"""The JSON object in the text of a model's answer."""

import json
from typing import Any, NoReturn, cast

MAX_STARTS = 100
"""So many opening braces are tried; text in front of the object rarely has any."""

_FENCE = "```"
_THOUGHTS = "<think>"
_END_OF_THOUGHTS = "</think>"


def json_object_in(text: str) -> dict[str, Any] | None:
    """The JSON object in which a text ends; None when there is none.

    Thoughts, other text and a fence in front of the object are skipped. After it only a closing fence may follow: an
    object that is cut off, several objects, text behind the object, or thoughts without an end give None. So do NaN
    and infinities.
    """
    try:
        return _object(text)
    except (ValueError, RecursionError):
        pass
    answer = text.rpartition(_END_OF_THOUGHTS)[2].strip().removesuffix(_FENCE)
    if answer.startswith(_THOUGHTS):
        return None
    try:
        return _object_at_end(answer)
    except (ValueError, RecursionError):
        return None


def _object_at_end(text: str) -> dict[str, Any]:
    start = text.find("{")
    for _ in range(MAX_STARTS):
        try:
            return _object(text[start:])
        except json.JSONDecodeError as error:
            if _began_as_object(error):
                raise
        start = text.find("{", start + 1)
        if start < 0:
            break
    raise ValueError("no object")


def _began_as_object(error: json.JSONDecodeError) -> bool:
    """Whether this was the object, cut off or followed by more; an object inside of it must not be taken for it."""
    return error.msg == "Extra data" or error.msg.startswith("Unterminated") or error.pos >= len(error.doc.rstrip())


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text, parse_constant=_refuse)
    if not isinstance(value, dict):
        raise ValueError("not an object")  # noqa: TRY004 (the caller asks one question of all that can be wrong)
    return cast("dict[str, Any]", value)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
