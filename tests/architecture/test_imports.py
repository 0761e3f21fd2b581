"""The import contracts of pyproject.toml hold: imports point down."""

import sys
from pathlib import Path

import anyio
import pytest

pytestmark = pytest.mark.anyio

REPOSITORY = Path(__file__).parents[2]


async def test_all_import_contracts_are_kept() -> None:
    linter = Path(sys.executable).with_name("lint-imports")

    done = await anyio.run_process([str(linter), "--no-logo"], cwd=REPOSITORY, check=False)

    report = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, report
    assert " 0 broken" in report
