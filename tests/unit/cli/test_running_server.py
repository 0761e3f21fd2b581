from pathlib import Path

from backend.cli.running_server import candidate_urls, forget_server, record_server
from backend.settings import Settings


def settings_with(data_dir: Path, **values: object) -> Settings:
    return Settings.model_validate({"data_dir": data_dir, **values})


def test_the_configured_port_is_looked_at_when_no_server_was_written_down(tmp_path: Path) -> None:
    assert candidate_urls(settings_with(tmp_path, port=2030)) == ["http://127.0.0.1:2030"]


def test_the_server_that_was_written_down_is_looked_at_first(tmp_path: Path) -> None:
    record_server(tmp_path / "new", "http://127.0.0.1:2031")

    assert candidate_urls(settings_with(tmp_path / "new")) == ["http://127.0.0.1:2031", "http://127.0.0.1:2024"]


def test_an_address_that_was_set_is_looked_at_before_all_others_and_each_only_once(tmp_path: Path) -> None:
    record_server(tmp_path, "http://127.0.0.1:2024")

    found = candidate_urls(settings_with(tmp_path, self_url="http://memory.test/"))

    assert found == ["http://memory.test", "http://127.0.0.1:2024"]


def test_a_server_that_ends_takes_back_what_it_wrote(tmp_path: Path) -> None:
    record_server(tmp_path, "http://127.0.0.1:2031")

    forget_server(tmp_path, "http://127.0.0.1:2031")

    assert candidate_urls(settings_with(tmp_path)) == ["http://127.0.0.1:2024"]


def test_a_server_that_ends_leaves_what_another_one_wrote_since(tmp_path: Path) -> None:
    record_server(tmp_path, "http://127.0.0.1:2031")
    record_server(tmp_path, "http://127.0.0.1:2032")

    forget_server(tmp_path, "http://127.0.0.1:2031")

    assert candidate_urls(settings_with(tmp_path))[0] == "http://127.0.0.1:2032"


def test_forgetting_a_server_that_was_never_written_down_does_nothing(tmp_path: Path) -> None:
    forget_server(tmp_path / "missing", "http://127.0.0.1:2031")

    assert not (tmp_path / "missing").exists()
