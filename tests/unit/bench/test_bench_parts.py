from pathlib import Path

import pytest

from bench.__main__ import commands, parse_options


def test_all_parts_run_that_need_no_data() -> None:
    assert [part for part, _ in commands([], quick=False, data=None)] == ["overhead", "growth", "load", "faults"]


def test_recall_runs_when_its_data_are_given() -> None:
    assert list(commands(["recall"], quick=True, data=Path("talks.json"))) == [
        ("recall", ["-m", "bench.recall", "--quick", "--data", "talks.json"])
    ]


def test_quick_is_passed_on() -> None:
    assert dict(commands(["growth"], quick=True, data=None)) == {"growth": ["-m", "bench.growth", "--quick"]}


def test_recall_alone_without_data_is_refused() -> None:
    with pytest.raises(SystemExit):
        parse_options(["recall"])


def test_no_part_named_means_all() -> None:
    assert parse_options([]).parts == []
