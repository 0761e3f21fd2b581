import re

import pytest

from backend.errors import SettingsError
from backend.storage.migrate import MIGRATIONS, make_migration, outstanding

FIRST, SECOND = make_migration("0001_first", "SELECT 1"), make_migration("0002_second", "SELECT 2")


def test_a_new_database_needs_all_in_order():
    assert outstanding([FIRST, SECOND], {}) == [FIRST, SECOND]


def test_what_was_applied_is_not_applied_again():
    assert outstanding([FIRST, SECOND], {"0001_first": FIRST.checksum}) == [SECOND]
    assert outstanding([FIRST], {"0001_first": FIRST.checksum}) == []


def test_a_changed_file_is_refused():
    changed = make_migration("0001_first", "SELECT 1 -- changed")
    with pytest.raises(SettingsError, match="the migration 0001_first is not the one that was applied"):
        outstanding([changed, SECOND], {"0001_first": FIRST.checksum})


def test_a_database_of_a_newer_version_is_refused():
    with pytest.raises(SettingsError, match=r"newer version \(it has the migration 0002_second\)"):
        outstanding([FIRST], {"0001_first": FIRST.checksum, "0002_second": SECOND.checksum})


def test_how_lines_end_does_not_change_the_checksum():
    windows, unix = (make_migration("0001_first", f"SELECT 1{end}FROM a{end}") for end in ("\r\n", "\n"))
    assert windows.checksum == unix.checksum


def test_the_files_are_numbered_without_a_gap():
    assert all(re.fullmatch(r"\d{4}_[a-z0-9_]+", migration.name) for migration in MIGRATIONS)
    assert [int(migration.name[:4]) for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
