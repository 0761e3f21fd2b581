from pathlib import Path

from bench.machine import cpu_model, machine_line, package_versions


def test_the_machine_is_told_with_what_was_measured() -> None:
    line = machine_line()
    assert line.startswith("Measured on 20")
    assert all(part in line for part in (" cores, ", " GiB, ", "; Python 3.", "PostgreSQL 1", "langgraph "))


def test_a_processor_has_the_name_that_the_kernel_gives(tmp_path: Path) -> None:
    told = tmp_path / "cpuinfo"
    told.write_text("processor\t: 0\nmodel name\t: Fast 9000\nprocessor\t: 1\nmodel name\t: Fast 9000\n")
    assert cpu_model(told) == "Fast 9000"


def test_a_processor_without_a_name_is_told_by_its_kind(tmp_path: Path) -> None:
    assert cpu_model(tmp_path / "missing") != ""


def test_a_package_that_is_not_there_is_not_told() -> None:
    assert package_versions(["no-such-package-here"]) == []
