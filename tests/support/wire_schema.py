"""What strict providers accept as a JSON schema, written independently of the code that makes ours."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

ALLOWED = frozenset({"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"})
"""The keywords that every provider with strict schemas takes; all others are refused by at least one of them."""


def schema_faults(schema: Any) -> Iterator[str]:
    """Each thing in a schema that a strict provider refuses, with the place where it is."""
    if not isinstance(schema, Mapping) or cast("Mapping[str, Any]", schema).get("type") != "object":
        yield "In context=(), the root must be an object"
        return
    yield from _faults(cast("Mapping[str, Any]", schema), ())


def _faults(schema: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    for keyword in schema.keys() - ALLOWED:
        yield f"In context={path}, '{keyword}' is not permitted."
    if "type" not in schema and "anyOf" not in schema:
        yield f"In context={path}, schema must have a 'type' key."
    if schema.get("type") == "object":
        yield from _object_faults(schema, path)
    if schema.get("type") == "array" and "items" not in schema:
        yield f"In context={path}, array schema missing items."
    for name, child in _children(schema):
        yield from _faults(child, (*path, name))


def _object_faults(schema: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    if schema.get("additionalProperties") is not False:
        yield f"In context={path}, 'additionalProperties' is required to be supplied and to be false."
    if sorted(schema.get("required", [])) != sorted(schema.get("properties", {})):
        yield f"In context={path}, 'required' is required to be an array including every key in properties."


def _children(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from schema.get("properties", {}).items()
    if "items" in schema:
        yield "items", schema["items"]
    for index, variant in enumerate(schema.get("anyOf", [])):
        yield str(index), variant
