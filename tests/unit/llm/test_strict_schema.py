from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from backend.llm.strict_schema import strict_schema
from tests.support.wire_schema import schema_faults


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = Field(9, ge=1, le=9, description="How many are left.")


class Dog(BaseModel):
    kind: Literal["dog"]


class Everything(BaseModel):
    """All that a response model may use."""

    name: str = Field(max_length=3, pattern="[a-z]+")
    note: str | None = None
    mood: Mood = Mood.GOOD
    size: Literal[1, 2] | float
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    pets: list[Cat] = Field(default_factory=list[Cat], max_length=5, description="The others.")
    cat: Cat = Field(description="The first.")
    words: set[str] = Field(default_factory=set[str])


class WithAny(BaseModel):
    value: Any


class WithOpenObject(BaseModel):
    value: dict[str, int]


class WithUntypedItems(BaseModel):
    value: list[Any]


class WithTuple(BaseModel):
    value: tuple[int, str]


class WithItself(BaseModel):
    value: "list[WithItself]"


def test_a_schema_is_closed_complete_typed_and_has_only_allowed_keywords() -> None:
    schema = strict_schema(Everything)

    assert list(schema_faults(schema)) == []
    assert schema["required"] == list(Everything.model_fields)
    assert schema["description"] == "All that a response model may use."


def test_references_are_written_out_and_constants_become_choices() -> None:
    cat = strict_schema(Everything)["properties"]["cat"]

    assert cat == {
        "type": "object",
        "description": "The first.",
        "properties": {
            "kind": {"type": "string", "enum": ["cat"]},
            "lives": {"type": "integer", "description": "How many are left."},
        },
        "required": ["kind", "lives"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("model", "place"),
    [
        pytest.param(WithAny, "WithAny.value has no type", id="any value"),
        pytest.param(WithOpenObject, "WithOpenObject.value is an object with any keys", id="open object"),
        pytest.param(WithUntypedItems, "WithUntypedItems.value.items has no type", id="list of anything"),
        pytest.param(WithTuple, "WithTuple.value is an array without one type of item", id="tuple"),
        pytest.param(WithItself, "contains itself", id="recursion"),
    ],
)
def test_what_strict_providers_refuse_is_an_error_with_its_place(model: type[BaseModel], place: str) -> None:
    with pytest.raises(TypeError, match=place):
        strict_schema(model)


def test_a_plain_pydantic_schema_has_faults_so_the_check_can_fail() -> None:
    faults = "\n".join(schema_faults(Everything.model_json_schema()))

    for expected in ("'additionalProperties' is required", "'required' is required", "'$ref' is not", "'maxLength'"):
        assert expected in faults
    assert list(schema_faults({"type": "array"})) == ["In context=(), the root must be an object"]
    assert list(
        schema_faults({"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False})
    )
