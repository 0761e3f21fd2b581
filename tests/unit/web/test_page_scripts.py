"""The page's scripts: their own tests, their types and their style, by the tools of JavaScript."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
JS: Final = ROOT / "tests" / "js"
PAGE: Final = ROOT / "backend" / "web"
TOOLS: Final = JS / "node_modules" / ".bin"
TIMEOUT_S: Final = 100


@pytest.fixture
def node() -> str:
    """The path of node, where it and the tools are installed."""
    path = shutil.which("node")
    if path is None:
        _cannot_run("node is not installed")
    elif not (TOOLS / "tsc").exists():
        _cannot_run("tests/js/node_modules is missing; make setup installs it")
    return str(path)


def _cannot_run(reason: str) -> None:
    """Skipped where somebody reads why; in CI nobody does."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def complaints_of(*command: str | Path) -> str:
    """What a command says when it fails; empty when it does not."""
    done = subprocess.run(command, cwd=JS, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)  # noqa: S603
    return f"{done.stdout}{done.stderr}" if done.returncode else ""


def test_the_decisions_of_the_page_pass_their_own_tests(node: str) -> None:
    tests = sorted(JS.glob("unit/*.test.mjs"))
    assert tests
    # node below 22.7 takes a file without a package.json for another kind of module unless it looks inside
    assert complaints_of(node, "--experimental-detect-module", "--test", *tests) == ""


@pytest.mark.usefixtures("node")
def test_the_types_of_the_page_agree() -> None:
    assert complaints_of(TOOLS / "tsc", "--project", JS) == ""


@pytest.mark.usefixtures("node")
def test_the_page_is_formatted_and_free_of_known_mistakes() -> None:
    assert complaints_of(TOOLS / "biome", "check", "--max-diagnostics=200", ".", PAGE) == ""


@pytest.mark.usefixtures("node")
def test_a_type_that_does_not_fit_is_found(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.js"
    wrong.write_text("/** @type {number} */\nexport const count = 'three';\n")
    options = ("--noEmit", "--allowJs", "--strict", "--checkJs", "--ignoreConfig")
    assert "not assignable" in complaints_of(TOOLS / "tsc", *options, wrong)
