"""The block of facts that a thread was sent, and the lines for what has changed since: tables, no storage."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from backend.ids import MemoryId
from backend.memory.facts.record import Fact
from backend.memory.facts.standing import changes, fact_line, reread, standing

START = datetime(2026, 3, 1, tzinfo=UTC)


def fact(number: int, *, version: int = 1, changed: int | None = None, content: str = "") -> Fact:
    """The number is its id and its age in days; `changed` the day of its last change."""
    return Fact(
        id=MemoryId(f"f{number}"),
        content=content or f"fact {number} in version {version}",
        categories=(),
        key=None,
        importance=0.5,
        version=version,
        said_by="user",
        thread_id=None,
        created_at=START + timedelta(days=number),
        updated_at=START + timedelta(days=number if changed is None else changed),
    )


def ids(lines: str) -> list[str]:
    return [json.loads(line)["id"] for line in lines.split("\n") if line.startswith("{")]


def known(**versions: int) -> Mapping[MemoryId, int]:
    return {MemoryId(fact_id): version for fact_id, version in versions.items()}


def test_the_block_shows_the_oldest_first_so_that_a_new_fact_comes_at_its_end() -> None:
    block = standing([fact(3), fact(1, version=4, changed=9), fact(2)])
    assert ids(block.lines) == ["f1", "f2", "f3"]
    assert block.versions == known(f1=4, f2=1, f3=1)


def test_where_not_all_fit_those_that_changed_last_are_shown_and_the_others_are_counted() -> None:
    facts = [fact(1, changed=9, version=2), fact(2), fact(3)]
    room = sum(len(fact_line(one)) + 1 for one in (facts[0], facts[2]))
    block = standing(facts, max_chars=room)
    assert ids(block.lines) == ["f1", "f3"]
    assert block.lines.endswith("1 more are not shown for space; manage_memory finds them by search.")
    assert block.versions == known(f1=2, f2=-1, f3=1)


def test_no_facts_are_no_block() -> None:
    assert standing([]).lines == ""


def test_a_fact_is_one_line_of_json_that_can_neither_open_nor_close_a_block() -> None:
    content = "</facts>\n<memory> & \u2028 {{x}}"
    line = fact_line(fact(1, content=content))
    assert json.loads(line) == {"id": "f1", "version": 1, "content": content}
    assert not set("<>&\n\u2028") & set(line)


@pytest.mark.parametrize(
    ("before", "facts", "told", "lines", "after"),
    [
        pytest.param(known(f1=1), [fact(1)], {}, [], known(f1=1), id="nothing changed"),
        pytest.param(known(), [fact(1)], {}, ["new: f1"], known(f1=1), id="new"),
        pytest.param(known(f1=1), [fact(1, version=2)], {}, ["changed: f1"], known(f1=2), id="changed"),
        pytest.param(known(f1=1), [], {}, ["no longer valid: f1"], known(), id="deleted"),
        pytest.param(known(f1=-3), [fact(1, version=3)], {}, [], known(f1=-3), id="left out and unchanged"),
        pytest.param(known(f1=-3), [fact(1, version=4)], {}, ["changed: f1"], known(f1=4), id="left out and changed"),
        pytest.param(known(f1=-3), [], {}, ["no longer valid: f1"], known(), id="left out and deleted"),
        pytest.param(known(), [fact(1)], known(f1=1), [], known(f1=1), id="the thread's own tool made it"),
        pytest.param(known(f1=1), [fact(1, version=2)], known(f1=2), [], known(f1=2), id="its own tool changed it"),
        pytest.param(known(f1=1), [fact(1, version=3)], known(f1=2), ["changed: f1"], known(f1=3), id="changed after"),
        pytest.param(known(f1=1), [], {MemoryId("f1"): None}, [], known(), id="its own tool deleted it"),
        pytest.param(known(), [], known(f1=1), ["no longer valid: f1"], known(f1=0), id="made here, deleted elsewhere"),
    ],
)
def test_what_has_changed_is_told_once(
    before: Mapping[MemoryId, int],
    facts: list[Fact],
    told: Mapping[MemoryId, int | None],
    lines: list[str],
    after: Mapping[MemoryId, int],
) -> None:
    found = changes(before, facts, told=told)
    assert [_short(line) for line in found.lines] == lines
    assert found.versions == after
    assert changes(found.versions, facts, told=told).lines == []


def test_read_anew_the_block_says_what_it_has_no_room_for_any_more() -> None:
    long = "x" * 7_000
    facts = [fact(1, content=long), fact(2, content=long), fact(3, version=2, content=long, changed=0)]
    block, news = reread(known(f1=1, f2=1, f3=1), facts)
    assert ids(block.lines) == ["f2"]
    assert [_short(line) for line in news.lines] == ["not shown for space but still valid: f1", "changed: f3"]
    assert news.versions == known(f1=1, f2=1, f3=2)


def test_read_anew_what_only_a_result_of_a_tool_still_shows_is_no_longer_valid() -> None:
    block, news = reread(known(f1=1), [fact(2)], told=known(f1=1))
    assert ids(block.lines) == ["f2"]
    assert list(news.lines) == ["no longer valid: f1"]
    assert changes(news.versions, [fact(2)], told=known(f1=1)).lines == []


def test_read_anew_what_was_never_sent_is_not_spoken_of() -> None:
    long = "x" * 7_000
    _, news = reread(known(f1=-1), [fact(1, content=long), fact(2, content=long)])
    assert list(news.lines) == []
    assert news.versions == known(f1=-1, f2=1)


def _short(line: str) -> str:
    """The line with the fact's id in place of the fact."""
    head, brace, rest = line.partition("{")
    return f"{head}{json.loads(brace + rest)['id']}" if brace else line
