"""JSON schemas as strict providers take them: closed, complete, typed, and with few keywords."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_KEPT = ("type", "description", "enum")
_UNIONS = ("anyOf", "oneOf")

_Schema = Mapping[str, Any]


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model, for `response_format` and for tools with `strict`.

    Every object is closed, every key is required even where the model has a default, every property has a type, and
    references are written out. Keywords: type, properties, required, additionalProperties, items, enum, anyOf,
    description. Limits such as lengths and ranges are left to the validation of the answer.

    Raises:
        TypeError: the model cannot be said this way: open objects (`dict[str, int]`), untyped values (`Any`), tuples,
            models that contain themselves. The message names the place.
    """
    document = schema.model_json_schema()
    return _strict(document, document.get("$defs", {}), (schema.__name__,))


def _strict(node: _Schema, definitions: _Schema, path: tuple[str, ...]) -> dict[str, Any]:
    if "$ref" in node:
        return _written_out(node, definitions, path)
    kept = {keyword: node[keyword] for keyword in _KEPT if keyword in node}
    union = next((node[keyword] for keyword in _UNIONS if keyword in node), None)
    if union is not None:
        return {**kept, "anyOf": [_strict(variant, definitions, (*path, "anyOf")) for variant in union]}
    if "type" not in node:
        raise TypeError(f"{'.'.join(path)} has no type, which strict providers refuse")
    if "const" in node:
        return {**kept, "enum": [node["const"]]}
    if node["type"] == "object":
        return {**kept, **_closed(node, definitions, path)}
    if node["type"] == "array":
        return {**kept, "items": _items(node, definitions, path)}
    return kept


def _written_out(node: _Schema, definitions: _Schema, path: tuple[str, ...]) -> dict[str, Any]:
    name = node["$ref"].removeprefix("#/$defs/")
    if f"<{name}>" in path:
        raise TypeError(f"{'.'.join(path)} contains itself, which cannot be written out")
    target = _strict(definitions[name], definitions, (*path, f"<{name}>"))
    return {**target, **({"description": node["description"]} if "description" in node else {})}


def _closed(node: _Schema, definitions: _Schema, path: tuple[str, ...]) -> dict[str, Any]:
    if node.get("additionalProperties") not in (None, False) or "patternProperties" in node:
        raise TypeError(f"{'.'.join(path)} is an object with any keys, which strict providers refuse")
    properties: _Schema = node.get("properties", {})
    return {
        "properties": {key: _strict(value, definitions, (*path, key)) for key, value in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


def _items(node: _Schema, definitions: _Schema, path: tuple[str, ...]) -> dict[str, Any]:
    if "prefixItems" in node or not isinstance(node.get("items"), Mapping):
        raise TypeError(f"{'.'.join(path)} is an array without one type of item, which strict providers refuse")
    return _strict(node["items"], definitions, (*path, "items"))
