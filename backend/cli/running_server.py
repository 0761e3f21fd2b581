"""Where the server of this folder runs: `dev` writes it down, the other commands look it up."""

from pathlib import Path

from backend.settings import Settings

_FILE = "server-url"


def url_of(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def record_server(data_dir: Path, url: str) -> None:
    """Write down that a server answers at `url`; needed where it is not on the configured port."""
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / _FILE).write_text(url, encoding="utf-8")


def forget_server(data_dir: Path, url: str) -> None:
    """Take back what `record_server` wrote, unless another server has been written down since."""
    record = data_dir / _FILE
    if record.is_file() and record.read_text(encoding="utf-8") == url:
        record.unlink()


def candidate_urls(settings: Settings) -> list[str]:
    """Where to look for the server, most likely first: `SELF_URL`, what `dev` wrote down, the configured port."""
    record = settings.data_dir / _FILE
    recorded = record.read_text(encoding="utf-8").strip() if record.is_file() else ""
    candidates = [settings.self_url, recorded, url_of(settings.port)]
    return list(dict.fromkeys(url.rstrip("/") for url in candidates if url))
