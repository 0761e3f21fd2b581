"""What a measurement prints: figures with what is wanted of them, and whether that is reached."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.table import Table

WIDTH = 132


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of them lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def times(value: float, base: float) -> str:
    """A ratio as it is read: 1.25x."""
    return f"{value / base:.2f}x" if base else "-"


def verdict(reached: bool | None) -> str:
    """None is for a figure of which nothing is wanted."""
    return "" if reached is None else "reached" if reached else "NOT REACHED"


@dataclass
class Report:
    """Figures under one heading. `missed` is how many did not reach what is wanted."""

    title: str
    rows: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    missed: int = 0

    def figure(
        self, name: str, value: str, compared: str = "", *, wanted: str = "", reached: bool | None = None
    ) -> None:
        """`compared` is the ratio to another figure of the same run."""
        self.rows.append((name, value, compared, wanted, verdict(reached)))
        self.missed += reached is False

    def print(self) -> None:
        print_table(self.title, ("figure", "value", "compared", "wanted", ""), self.rows)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The first column is names, the others are figures."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index and column else "left", no_wrap=not index)
    for row in rows:
        table.add_row(*row)
    Console(width=WIDTH).print(table)
