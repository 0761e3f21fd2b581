from pathlib import Path

import pytest

from tests.support.browser import required_chromium


@pytest.fixture
def without_browsers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("without_browsers")
def test_where_no_browser_is_a_test_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt install chromium"):
        required_chromium()


@pytest.mark.usefixtures("without_browsers")
def test_where_no_browser_is_a_test_is_skipped_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt install chromium"):
        required_chromium()


@pytest.mark.usefixtures("without_browsers")
def test_a_browser_that_is_named_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    named = tmp_path / "a-browser"
    named.touch(mode=0o755)
    monkeypatch.setenv("CHROMIUM", str(named))
    assert required_chromium() == str(named)
