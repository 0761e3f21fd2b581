"""Any patches, through the tool and the service, into PostgreSQL: all or nothing, and as a simple model says."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from operator import mul
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.ids import Json
from backend.memory.profile.service import KEY
from backend.memory.redaction import redact_json
from backend.memory.scope import profile_namespace
from tests.fuzz.budget import TIME, examples
from tests.fuzz.conftest import LIMITS
from tests.fuzz.hostile import nested, texts, values
from tests.fuzz.memory_tools import MemoryTools
from tests.support.memory_homes import Process

pytestmark = [pytest.mark.anyio, TIME, pytest.mark.filterwarnings("ignore:Generating overly large repr")]

MOST_BYTES = LIMITS["memory_profile_max_bytes"]
OVERLAY_KEYS = ("name", "email", "avatar", "socials")
Document = dict[str, Json]
Patch = dict[str, Any]


class Refused(Exception):
    """The model refuses the call."""


def saved(stored: Document, overlay: Mapping[str, Json], patches: Sequence[Patch]) -> Document:
    """What is stored afterwards, by RFC 6902 for a flat document and the rules of S1. Raises Refused."""
    filled = {key: overlay[key] for key in overlay if key not in stored and overlay[key] not in (None, "", [])}
    view, touched = {**filled, **stored}, set[str]()
    for patch in patches:
        key = patch["path"][1:]
        if patch["op"] != "add" and (key not in view or (patch["op"] == "remove" and key in filled.keys() - touched)):
            raise Refused
        if patch["op"] == "remove":
            del view[key]
        else:
            view[key] = redacted(key, read_back(patch["value"]))
        touched.add(key)
    after = {key: value for key, value in view.items() if key in stored or key in touched}
    if size_of(after) > MOST_BYTES and size_of(after) >= size_of(stored):
        raise Refused
    return after


def read_back(value: Any, depth: int = 0) -> Json:
    """A value as every reader of JSON reads it: text of an object or a list is one. Raises Refused."""
    if depth == 0 and isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        with suppress(ValueError):
            value = json.loads(value)
    if depth > 20:
        raise Refused
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= one <= "\udfff" else one for one in joined(value.replace("\0", "")))
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {str(read_back(key, 1)): read_back(member, depth + 1) for key, member in members.items()}
    if isinstance(value, list):
        return [read_back(member, depth + 1) for member in cast("list[Any]", value)]
    if isinstance(value, int | float) and not abs(value) < 2**53:
        raise Refused
    return value


def joined(text: str) -> str:
    """Both halves of a surrogate pair beside each other are one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def redacted(key: str, value: Json) -> Json:
    found = redact_json({key: value})
    assert isinstance(found, dict)
    return found[key]


def size_of(document: Mapping[str, Json]) -> int:
    return len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


record: Any = dict
keys = st.sampled_from(["name", "email", "city", "a-b_C9", "_x"])
written = st.one_of(values, values.map(json.dumps), st.text(max_size=400))
paths = keys.map("/{}".format)
removals: st.SearchStrategy[Patch] = st.builds(record, op=st.just("remove"), path=paths)
changes: st.SearchStrategy[Patch] = st.builds(
    record, op=st.sampled_from(["add", "add", "replace"]), path=paths, value=written
)
patches: st.SearchStrategy[Patch] = st.one_of(removals, changes, changes)
calls = st.lists(st.lists(patches, min_size=1, max_size=4), min_size=1, max_size=5)
starts: st.SearchStrategy[Document] = st.sampled_from(
    [
        {},
        {"city": "Oslo"},
        {"city": None, "old": [1, {"a": []}]},
        {"old": "x" * 700},
        {"city": "x" * 600, "_x": "y" * 90},
    ]
)
accounts: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "name": st.sampled_from([None, "", "Ana"]),
        "email": st.sampled_from([None, "ana@example.org"]),
        "avatar": st.none(),
        "socials": st.sampled_from([[], ["github"]]),
    }
)


def as_they_are(patches: Sequence[Patch]) -> object:
    return patches


def each_as_text(patches: Sequence[Patch]) -> object:
    return [json.dumps(patch) for patch in patches]


forms: st.SearchStrategy[Callable[[Sequence[Patch]], object]] = st.sampled_from([as_they_are, json.dumps, each_as_text])


async def stored_by(process: Process, tools: MemoryTools) -> Document:
    item = await process.store.aget(profile_namespace(tools.user_id), KEY)
    return item.value if item else {}


@examples(60, share=10)
@given(start=starts, account=accounts, asked=calls, form=forms)
async def test_what_is_stored_is_what_a_simple_model_says(
    start: Document, account: dict[str, Any], asked: list[list[Patch]], form: Any, process: Process
) -> None:
    tools = MemoryTools(process)
    await process.accounts.keep(tools.user_id, **account)
    if start:
        await process.store.aput(profile_namespace(tools.user_id), KEY, start)
    expected = start
    for patches in asked:
        before, problem = expected, False
        try:
            expected = saved(before, account, patches)
        except Refused:
            problem = True
        result = await tools.call("save_memory", {"patches": form(patches)})
        assert await stored_by(process, tools) == expected
        assert result.status == ("error" if problem else "success"), result.text
        if not problem:
            judge(json.loads(result.text), stored=expected, patches=patches)
        assert size_of(await stored_by(process, tools)) <= max(MOST_BYTES, size_of(before))


def judge(told: dict[str, Any], *, stored: Document, patches: Sequence[Patch]) -> None:
    """What the model is told about a call that changed the profile."""
    assert (told["ok"], told["bytes"], told["key_count"]) == (True, size_of(stored), len(stored))
    assert {key: told["after"][key] for key in stored} == stored
    assert set(told["after"]) - set(stored) <= set(OVERLAY_KEYS)
    document = dict(told["before"])
    for patch, asked in zip(told["patches"], patches, strict=True):
        key = patch["path"][1:]
        assert (patch["op"], patch["path"]) == (asked["op"], asked["path"])
        assert ("old_value" in patch) == (key in document)
        assert patch.get("old_value") == document.get(key)
        document = {one: value for one, value in document.items() if one != key}
        if patch["op"] != "remove":
            document[key] = patch["value"]
    assert document == {key: told["after"][key] for key in document}


ODD_PATHS = (
    "/a/b", "/", "", "/a~1b", "/__class__", "/a\n", "/é", "/" + "k" * 600, "/-", "/0", "/constructor", "a", "//a",
)  # fmt: skip
odd_paths: st.SearchStrategy[Any] = st.one_of(st.sampled_from(ODD_PATHS), texts, values)
odd_operations: st.SearchStrategy[Any] = st.sampled_from(["add", "add", "remove", "move", "", None])
hostile_patches: st.SearchStrategy[Any] = st.one_of(
    patches, values, st.builds(record, op=odd_operations, path=odd_paths, value=values)
)
hostile_lists: st.SearchStrategy[Any] = st.lists(hostile_patches, max_size=4)
many: st.SearchStrategy[Any] = st.builds(mul, st.lists(patches, min_size=1, max_size=1), st.sampled_from([50, 51, 300]))
depths: st.SearchStrategy[Any] = st.builds(nested, st.sampled_from([30, 900]), in_objects=st.booleans())
OPENED = [mark * 100_000 for mark in ("[", '{"a":', '[{"op":')]
"""Text of JSON deeper than a reader goes."""
hostile_arguments: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.dictionaries(st.sampled_from(["patches", "patch", "runtime", "user_id", "\0"]), values, max_size=3),
    st.builds(
        record,
        patches=st.one_of(
            hostile_lists, hostile_lists.map(json.dumps), many, depths.map(json.dumps), st.sampled_from(OPENED)
        ),
    ),
)


@examples(150, share=10)
@given(asked=hostile_arguments)
async def test_no_arguments_raise_and_refused_ones_change_nothing(asked: dict[str, Any], process: Process) -> None:
    tools = MemoryTools(process)
    start: Document = {"city": "Oslo"}
    await process.store.aput(profile_namespace(tools.user_id), KEY, start)
    result = await tools.call("save_memory", asked)
    stored = await stored_by(process, tools)
    if result.status == "error":
        assert stored == start
    else:
        assert json.loads(result.text)["after"] == stored
    assert size_of(stored) <= MOST_BYTES
