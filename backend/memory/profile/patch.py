"""The change that a model asks for: patches as the tool takes them, and their effect on the merged view."""

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, cast

import jsonpatch
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from backend.errors import PatchFailed
from backend.ids import Json
from backend.memory.profile.record import AppliedPatch, Document
from backend.memory.redaction import redact, redact_json, storable

MAX_PATCHES: Final = 50
MAX_DEPTH: Final = 20
MAX_EXACT_INTEGER: Final = 2**53 - 1
"""Beyond it a number is rounded by every reader that keeps numbers as floating point, such as the page."""
KEYS_NAMED: Final = 30

_PATH: Final = re.compile(r"/[A-Za-z_][A-Za-z0-9_-]*")
_TEXT_OF_JSON: Final = ("{", "[")


def _a_path(path: str) -> str:
    if not _PATH.fullmatch(path):
        raise ValueError('must be "/" and one key of letters, digits, "_" and "-" that starts with a letter or "_"')
    return path


def _from_json_text(value: object) -> object:
    """An object or list that was written as JSON text, as strict schemas make models do; any other text is text."""
    if not isinstance(value, str) or not value.lstrip().startswith(_TEXT_OF_JSON):
        return value
    try:
        return cast("object", json.loads(value))
    except (ValueError, RecursionError):
        return value


def _exact(value: object, depth: int = 0) -> Json:
    """The value with clean text, if any reader of JSON gets back just what was saved."""
    if depth > MAX_DEPTH:
        raise ValueError(f"is nested deeper than {MAX_DEPTH} levels; make it flatter")
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        return {storable(str(key)): _exact(member, depth + 1) for key, member in members.items()}
    if isinstance(value, list | tuple):
        return [_exact(member, depth + 1) for member in cast("Sequence[object]", value)]
    return _exact_scalar(value)


def _exact_scalar(value: object) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("has a number that is infinite or not a number; write it as text")
    # a database writes a large float out in digits, hundreds of them, and gives back an integer that is another number
    if isinstance(value, int | float) and abs(value) > MAX_EXACT_INTEGER:
        raise ValueError("has a number with too many digits to be kept exactly; write it as text")
    if isinstance(value, int | float):
        return value
    raise ValueError("is not JSON")


_VALUE_SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        {"type": "string"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "null"},
        {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}},
    ],
    "description": "The new value; an object or a nested list as JSON text. Null for remove.",
}
"""Strict providers take no object with free keys, so such a value travels as text and is parsed here."""


class ProfilePatch(BaseModel):
    """One change of one key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    op: Literal["add", "replace", "remove"] = Field(description="add also overwrites; replace and remove need the key")
    path: Annotated[str, AfterValidator(_a_path)] = Field(description='"/" and the key, such as "/city"')
    value: Annotated[Any, BeforeValidator(_from_json_text), AfterValidator(_exact), WithJsonSchema(_VALUE_SCHEMA)]

    @model_validator(mode="before")
    @classmethod
    def _remove_needs_no_value(cls, patch: object) -> object:
        # the schema asks for all three keys, as strict providers want; other models leave the value of a remove out
        patch = _from_json_text(patch)
        if not isinstance(patch, Mapping):
            return patch
        given = cast("Mapping[str, object]", patch)
        if given.get("op") == "remove":
            return {**given, "value": None}
        if "value" not in given:
            raise ValueError('needs a "value"; null is a value too')
        return dict(given)


def _some(patches: list[ProfilePatch]) -> list[ProfilePatch]:
    if not 1 <= len(patches) <= MAX_PATCHES:
        raise ValueError(f"must be 1 to {MAX_PATCHES} patches")
    return patches


class SaveMemoryArguments(BaseModel):
    """Changes to what is remembered about the user."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"additionalProperties": False})

    patches: Annotated[list[ProfilePatch], BeforeValidator(_from_json_text), AfterValidator(_some)] = Field(
        description="Changes to the user's profile, carried out in order; all of them or none"
    )


def apply_patches(
    view: Document, patches: Sequence[ProfilePatch], *, from_account: Collection[str] = ()
) -> tuple[dict[str, Json], list[AppliedPatch]]:
    """The view after all patches, and each with what stood at its key just before; the given view is not changed.

    Credentials in values are redacted. `from_account` names keys that only the account fills: removing one changes
    nothing that is stored, so it fails rather than pretend.

    Raises:
        PatchFailed: which patch does not fit and why; none of them counts.
    """
    document: dict[str, Json] = dict(view)
    applied: list[AppliedPatch] = []
    for number, patch in enumerate(patches, start=1):
        key = patch.path.removeprefix("/")
        if patch.op == "remove" and key in from_account and patch.path not in {earlier.path for earlier in applied}:
            raise PatchFailed(f'patch {number}: "{key}" comes from the account; only there can the user remove it')
        if redact(key) != key:
            raise PatchFailed(f"patch {number}: the key is a credential, and those are not saved")
        value = cast("dict[str, Json]", redact_json({key: patch.value}))[key]
        after = _patched(document, patch, value=value, number=number)
        applied.append(AppliedPatch(patch.op, patch.path, value, document.get(key), existed=key in document))
        document = after
    return document, applied


def _patched(document: dict[str, Json], patch: ProfilePatch, *, value: Json, number: int) -> dict[str, Json]:
    operation: dict[str, Any] = {"op": patch.op, "path": patch.path}
    if patch.op != "remove":
        operation["value"] = value
    try:
        return cast("dict[str, Json]", jsonpatch.apply_patch(document, [operation]))
    except jsonpatch.JsonPatchPathNotFound:
        raise PatchFailed(_missing(document, patch, number)) from None
    # jsonpatch lets errors of jsonpointer and of Python itself through, for one when a parent is missing
    except (
        jsonpatch.JsonPatchException,
        jsonpatch.JsonPointerException,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
    ) as error:
        raise PatchFailed(f"patch {number} ({patch.op} {patch.path}) failed: {error}; nothing was changed") from error


def _missing(document: Document, patch: ProfilePatch, number: int) -> str:
    keys = ", ".join(list(document)[:KEYS_NAMED]) or "none"
    hint = 'use "add" to save it' if patch.op == "replace" else "there is nothing to remove"
    return (
        f'patch {number} ({patch.op} {patch.path}): the profile has no key "{patch.path[1:]}", so {hint}. '
        f"Nothing was changed. Keys: {keys}."
    )
