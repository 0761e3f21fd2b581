"""What a measurement prints, as Markdown: figures with what is wanted of them, and whether that is reached."""

from collections.abc import Sequence
from dataclasses import dataclass, field


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
    lines = [tuple(columns), *(tuple(row) for row in rows)]
    widths = [max(3, *(len(line[index]) for line in lines)) for index in range(len(columns))]
    rule = [f"{'-' * (width - 1)}{':' if index else '-'}" for index, width in enumerate(widths)]
    print(f"\n**{title}**\n\n{_line(lines[0], widths)}\n| {' | '.join(rule)} |")
    print("\n".join(_line(line, widths) for line in lines[1:]), flush=True)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        f"{cell:>{width}}" if index else f"{cell:<{width}}"
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return f"| {' | '.join(padded)} |"
