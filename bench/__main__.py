"""All measurements, one after the other, each in a process of its own: overhead, growth, load, faults, recall.

    python -m bench [PART ...] [--quick] [--data locomo10.json]

Without a PART all run. Recall needs the data of LoCoMo, which are not part of this repository, and is left out without
them. A figure that is not reached is told in the tables; the exit code is that of the first part that failed. The last
line is the machine, as `docs/PERFORMANCE.md` holds it.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.machine import machine_line

PARTS: Final = ("overhead", "growth", "load", "faults", "recall")
NEEDS_DATA: Final = "recall"


def commands(parts: Sequence[str], *, quick: bool, data: Path | None) -> Iterator[tuple[str, list[str]]]:
    """Each part with the arguments of its module; what needs data that are not given is left out."""
    for part in parts or PARTS:
        if part == NEEDS_DATA and data is None:
            continue
        options = [*(["--quick"] if quick else []), *(["--data", str(data)] if part == NEEDS_DATA else [])]
        yield part, ["-m", f"bench.{part}", *options]


def run(options: argparse.Namespace) -> int:
    """The exit code of the first part that failed, after all of them; 0 when none did."""
    codes: list[int] = []
    for part, arguments in commands(options.parts, quick=options.quick, data=options.data):
        began = time.monotonic()
        codes.append(subprocess.run([sys.executable, *arguments], check=False).returncode)  # noqa: S603
        print(f"\n{part}: {time.monotonic() - began:.0f} s{' (failed)' if codes[-1] else ''}", flush=True)
    print(f"\n{machine_line()}")
    return next((code for code in codes if code), 0)


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []], help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="everything small, to see that it works")
    parser.add_argument("--data", type=Path, help="locomo10.json, for recall")
    options = parser.parse_args(arguments)
    if NEEDS_DATA in options.parts and options.data is None:
        parser.error(f"{NEEDS_DATA} needs --data")
    return options


if __name__ == "__main__":
    sys.exit(run(parse_options()))
