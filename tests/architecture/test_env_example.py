"""`.env.example` is the list of all settings that a person reads, so it must be the list of all settings."""

import re
from pathlib import Path

import pytest

from backend.settings import Settings, load_settings

EXAMPLE = Path(__file__).parents[2] / ".env.example"
SETTING = re.compile(r"#([A-Z_]+)=(.*)")
LINES = EXAMPLE.read_text(encoding="utf-8").splitlines()
LISTED = [found for line in LINES if (found := SETTING.fullmatch(line))]


def test_every_setting_is_listed_once_and_nothing_else_is() -> None:
    assert [found[1] for found in LISTED] == [name.upper() for name in Settings.model_fields]


def test_the_listed_values_are_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for found in LISTED:
        monkeypatch.setenv(found[1], found[2])

    listed = load_settings()

    assert listed.model_fields_set >= {"port", "log_level", "auth_mode"}, "the values were not read"
    assert listed == Settings.model_construct()


def test_a_line_above_each_setting_says_what_it_is_for() -> None:
    for index, line in enumerate(LINES):
        if SETTING.fullmatch(line):
            assert re.fullmatch(r"# \S.{10,}", LINES[index - 1]), f"{line} has no comment of its own"


def test_an_unchanged_copy_configures_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a PORT that was set, the server would not move to the next free one."""
    (tmp_path / ".env").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert load_settings().model_fields_set == set()
