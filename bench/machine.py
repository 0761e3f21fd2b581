"""The machine and the versions that a measurement was taken with, in one paragraph."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from backend.storage.embedded_programs import find_programs, run

PACKAGES: Final = ("langgraph", "langgraph-api", "langchain", "langmem")


def machine_line() -> str:
    """CPU, cores, memory, operating system, versions, day. What this machine does not tell is left out."""
    parts = [cpu_model(), f"{os.cpu_count()} cores", f"{memory_bytes() / 2**30:.0f} GiB", platform.platform(terse=True)]
    versions = [f"Python {platform.python_version()}", postgres_version(), *package_versions(PACKAGES)]
    return (
        f"Measured on {datetime.now(UTC):%Y-%m-%d}: {', '.join(part for part in parts if part)}; {', '.join(versions)}."
    )


def cpu_model(cpu_info: Path = Path("/proc/cpuinfo")) -> str:
    """As the kernel calls it; where it does not, the architecture."""
    lines = cpu_info.read_text().splitlines() if cpu_info.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def postgres_version() -> str:
    """Of the embedded server: `PostgreSQL 18.1`."""
    return f"PostgreSQL {run(find_programs() / 'postgres', '--version').output.split()[-1]}"


def package_versions(names: Sequence[str]) -> list[str]:
    """Those that are installed."""
    return [told for name in names if (told := _version(name))]


def _version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""
