"""What `save_memory` may be asked for and what comes of it (CASES 21 to 25, the parts that need no store)."""

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ValidationError

from backend.errors import PatchFailed, ToolRefusal
from backend.llm.strict_schema import strict_schema
from backend.memory.profile.patch import MAX_EXACT_INTEGER, ProfilePatch, SaveMemoryArguments, apply_patches
from tests.support.wire_schema import schema_faults

VIEW = {"city": "Oslo", "email": "ana@example.org"}


def patches(*given: Mapping[str, Any]) -> list[ProfilePatch]:
    return SaveMemoryArguments.model_validate({"patches": list(given)}).patches


def refusal(value: object) -> str:
    with pytest.raises(ValidationError) as caught:
        SaveMemoryArguments.model_validate({"patches": value})
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "after", "told"),
    [
        pytest.param(
            [{"op": "replace", "path": "/city", "value": "Bergen"}],
            {"city": "Bergen", "email": "ana@example.org"},
            [{"op": "replace", "path": "/city", "old_value": "Oslo", "value": "Bergen"}],
            id="replace",
        ),
        pytest.param(
            [{"op": "add", "path": "/pet", "value": "cat"}],
            {**VIEW, "pet": "cat"},
            [{"op": "add", "path": "/pet", "value": "cat"}],
            id="add a new key",
        ),
        pytest.param(
            [{"op": "add", "path": "/city", "value": "Bergen"}],
            {"city": "Bergen", "email": "ana@example.org"},
            [{"op": "add", "path": "/city", "old_value": "Oslo", "value": "Bergen"}],
            id="add an existing key",
        ),
        pytest.param(
            [{"op": "add", "path": "/pet", "value": None}],
            {**VIEW, "pet": None},
            [{"op": "add", "path": "/pet", "value": None}],
            id="null is a value",
        ),
        pytest.param(
            [{"op": "replace", "path": "/email", "value": "a@b.org"}],
            {"city": "Oslo", "email": "a@b.org"},
            [{"op": "replace", "path": "/email", "old_value": "ana@example.org", "value": "a@b.org"}],
            id="replace what the account says",
        ),
        pytest.param(
            [{"op": "remove", "path": "/city"}],
            {"email": "ana@example.org"},
            [{"op": "remove", "path": "/city", "old_value": "Oslo"}],
            id="remove",
        ),
        pytest.param(
            [{"op": "replace", "path": "/city", "value": "Bergen"}, {"op": "remove", "path": "/city", "value": None}],
            {"email": "ana@example.org"},
            [
                {"op": "replace", "path": "/city", "old_value": "Oslo", "value": "Bergen"},
                {"op": "remove", "path": "/city", "old_value": "Bergen"},
            ],
            id="the old value is the one just before",
        ),
        pytest.param(
            [{"op": "add", "path": "/x", "value": None}, {"op": "replace", "path": "/x", "value": 1}],
            {**VIEW, "x": 1},
            [
                {"op": "add", "path": "/x", "value": None},
                {"op": "replace", "path": "/x", "old_value": None, "value": 1},
            ],
            id="an old value of null is told",
        ),
    ],
)
def test_patches_change_the_view_and_tell_what_was_there(
    given: list[Any], after: dict[str, Any], told: list[dict[str, Any]]
) -> None:
    before = copy.deepcopy(VIEW)
    changed, applied = apply_patches(before, patches(*given))
    assert changed == after
    assert [patch.as_json() for patch in applied] == told
    assert before == VIEW


@pytest.mark.parametrize("op", ["replace", "remove"])
def test_a_key_that_is_not_there_can_be_neither_replaced_nor_removed(op: str) -> None:
    with pytest.raises(PatchFailed) as caught:
        apply_patches(VIEW, patches({"op": op, "path": "/town", "value": "Oslo"}))
    assert caught.value.code == "PATCH_FAILED"
    assert isinstance(caught.value, ToolRefusal)
    assert f"patch 1 ({op} /town)" in caught.value.message
    assert "Keys: city, email" in caught.value.message


def test_one_failing_patch_undoes_all() -> None:
    view: dict[str, Any] = {"city": "Oslo", "tags": ["a"]}
    asked = patches(
        {"op": "add", "path": "/pet", "value": "cat"},
        {"op": "remove", "path": "/tags"},
        {"op": "replace", "path": "/town", "value": "Bergen"},
    )
    with pytest.raises(PatchFailed, match=r"patch 3 \(replace /town\)"):
        apply_patches(view, asked)
    assert view == {"city": "Oslo", "tags": ["a"]}


def test_what_only_the_account_says_cannot_be_removed_and_the_model_is_told() -> None:
    with pytest.raises(PatchFailed, match="comes from the account"):
        apply_patches(VIEW, patches({"op": "remove", "path": "/email"}), from_account={"email"})
    changed, _ = apply_patches(
        VIEW,
        patches({"op": "replace", "path": "/email", "value": "x"}, {"op": "remove", "path": "/email"}),
        from_account={"email"},
    )
    assert changed == {"city": "Oslo"}


def test_an_error_outside_of_the_library_s_tree_is_translated() -> None:
    not_an_object: Any = [("city", "Oslo")]

    class Odd(dict[str, Any]):
        def __deepcopy__(self, memo: Any) -> Any:
            raise KeyError("parent")

    with pytest.raises(PatchFailed, match=r"patch 1 \(add /x\)"):
        apply_patches({"odd": Odd(not_an_object)}, patches({"op": "add", "path": "/x", "value": 1}))


@pytest.mark.parametrize(
    "path", ["", "/", "city", "/a/b", "/tags/-", "/0", "/~0a", "/~1a", "/city\n", "/città", " /city", "/-a", "//"]
)
def test_a_path_is_one_plain_key(path: str) -> None:
    assert 'must be "/" and one key' in refusal([{"op": "add", "path": path, "value": 1}])


@pytest.mark.parametrize("path", ["/city", "/_x", "/a-b_C9"])
def test_a_plain_path_is_accepted(path: str) -> None:
    assert patches({"op": "add", "path": path, "value": 1})[0].path == path


@pytest.mark.parametrize("op", ["move", "copy", "test", "ADD", "", None])
def test_other_operations_are_refused(op: object) -> None:
    assert "'add', 'replace' or 'remove'" in refusal([{"op": op, "path": "/city", "value": 1, "from": "/x"}])


@pytest.mark.parametrize("op", ["add", "replace"])
def test_a_missing_value_is_refused_and_is_not_null(op: str) -> None:
    assert 'needs a "value"' in refusal([{"op": op, "path": "/city"}])


@pytest.mark.parametrize("value", [[], {}, "[]", None, "city", 7, [7], ["x"]])
def test_anything_but_a_list_of_patches_is_refused(value: object) -> None:
    assert "patches" in refusal(value)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        pytest.param("NaN", "not a number", id="nan"),
        pytest.param("Infinity", "infinite", id="infinity"),
        pytest.param("-Infinity", "infinite", id="minus infinity"),
        pytest.param("1e400", "infinite", id="overflow"),
        pytest.param(str(2**70), "too many digits", id="70 bits"),
        pytest.param(str(-(2**70)), "too many digits", id="minus 70 bits"),
        pytest.param("1e300", "too many digits", id="a large float"),
        pytest.param('["a", [1, NaN]]', "not a number", id="nested in a list"),
        pytest.param('{"a": {"b": 1e400}}', "infinite", id="nested in an object"),
        pytest.param("[" * 100 + "]" * 100, "nested deeper", id="deep"),
    ],
)
def test_a_number_that_cannot_be_kept_exactly_is_refused_with_what_to_do(written: str, reason: str) -> None:
    value = json.loads(written)
    assert reason in refusal([{"op": "add", "path": "/x", "value": value}])
    assert reason in refusal(f'[{{"op": "add", "path": "/x", "value": {written}}}]')


@pytest.mark.parametrize("value", [MAX_EXACT_INTEGER, -MAX_EXACT_INTEGER, 0.1, 1e-300, True, "", [1, "a"], {"a": None}])
def test_any_other_value_is_kept_exactly(value: object) -> None:
    assert patches({"op": "add", "path": "/x", "value": value})[0].value == value


def test_text_is_cleaned_once_at_the_edge() -> None:
    value = {"a\0": ["b\0c", "\ud83d"]}
    assert patches({"op": "add", "path": "/x", "value": value})[0].value == {"a": ["bc", "\ufffd"]}


def test_arguments_that_arrive_as_json_text_are_parsed() -> None:
    text = '[{"op":"add","path":"/city","value":"Oslo"}]'
    assert SaveMemoryArguments.model_validate({"patches": text}).patches == patches(*json.loads(text))
    one = json.dumps({"op": "add", "path": "/city", "value": "Oslo"})
    assert SaveMemoryArguments.model_validate({"patches": [one]}).patches == patches(*json.loads(text))


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        pytest.param('{"street": "A", "no": 7}', {"street": "A", "no": 7}, id="object"),
        pytest.param('[["a"], ["b"]]', [["a"], ["b"]], id="nested list"),
        pytest.param("[draft] call Bo", "[draft] call Bo", id="prose in brackets"),
        pytest.param("use {braces} & quotes", "use {braces} & quotes", id="prose with braces"),
        pytest.param("42", "42", id="digits"),
        pytest.param("null", "null", id="null as text"),
        pytest.param("true", "true", id="true as text"),
    ],
)
def test_an_object_written_as_text_is_parsed_and_other_text_is_text(value: str, kept: object) -> None:
    assert patches({"op": "add", "path": "/x", "value": value})[0].value == kept


def test_the_schema_as_sent_is_accepted_by_strict_providers() -> None:
    def save(patches: list[ProfilePatch]) -> str:
        return str(patches)

    tool = StructuredTool.from_function(save, name="save_memory", description="x", args_schema=SaveMemoryArguments)
    sent = convert_to_openai_tool(tool, strict=True)["function"]["parameters"]
    assert list(schema_faults(sent)) == []
    assert list(schema_faults(strict_schema(SaveMemoryArguments))) == []


def test_a_credential_is_redacted_before_it_is_kept() -> None:
    asked = patches(
        {"op": "add", "path": "/wifi_password", "value": "sunshine"},
        {"op": "add", "path": "/note", "value": {"key": "uses sk-proj-abcdefgh12345678"}},
    )
    changed, applied = apply_patches({}, asked)
    assert changed == {"wifi_password": "[redacted: password]", "note": {"key": "uses [redacted: api key]"}}
    assert applied[0].as_json()["value"] == "[redacted: password]"
    with pytest.raises(PatchFailed, match="the key is a credential"):
        apply_patches({}, patches({"op": "add", "path": "/sk-proj-abcdefgh12345678", "value": 1}))


@given(
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 9)),
    st.lists(
        st.tuples(st.sampled_from(["add", "replace", "remove"]), st.sampled_from("abcd"), st.integers(0, 9)), max_size=6
    ),
)
def test_patches_do_what_a_plain_dictionary_would(view: dict[str, int], asked: list[tuple[str, str, int]]) -> None:
    expected: dict[str, int] | None = dict(view)
    for op, key, value in asked:
        if expected is None or (op != "add" and key not in expected):
            expected = None
        elif op == "remove":
            del expected[key]
        else:
            expected[key] = value
    given = [ProfilePatch.model_validate({"op": op, "path": f"/{key}", "value": value}) for op, key, value in asked]
    if expected is None:
        with pytest.raises(PatchFailed):
            apply_patches(view, given)
    else:
        assert apply_patches(view, given)[0] == expected
