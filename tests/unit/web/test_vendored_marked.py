"""The copy of marked that the page loads is the package that is locked, and its version is named."""

import json
from pathlib import Path
from typing import Final

import pytest

REPOSITORY: Final = Path(__file__).parents[3]
VENDOR: Final = REPOSITORY / "backend" / "web" / "vendor"
PACKAGE: Final = REPOSITORY / "tests" / "js" / "node_modules" / "marked"
LOCK: Final = REPOSITORY / "tests" / "js" / "package-lock.json"


def test_the_version_that_is_named_is_the_one_that_is_locked_and_copied() -> None:
    version = json.loads(LOCK.read_text())["packages"]["node_modules/marked"]["version"]
    assert f"marked v{version} " in (VENDOR / "marked.js").read_text()
    assert f"| {version} | MIT |" in (VENDOR / "README.md").read_text()


@pytest.mark.skipif(not PACKAGE.exists(), reason="npm ci in tests/js brings the package")
def test_the_copy_is_the_package_without_the_name_of_its_source_map() -> None:
    package = (PACKAGE / "lib" / "marked.esm.js").read_text()
    *lines, comment = package.rstrip("\n").split("\n")
    assert comment.startswith("//# sourceMappingURL=")
    assert (VENDOR / "marked.js").read_text() == "\n".join(lines) + "\n"


@pytest.mark.skipif(not PACKAGE.exists(), reason="npm ci in tests/js brings the package")
def test_the_licence_comes_with_the_copy() -> None:
    licence = next(PACKAGE.glob("LICENSE*")).read_text().strip()
    assert licence in (VENDOR / "README.md").read_text()
