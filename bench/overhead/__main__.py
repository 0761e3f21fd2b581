"""Overhead of memory per turn: our chat graph against the same sub-agent as a plain model node and tool node.

    python -m bench.overhead [--quick] [--profile FILE]

Both graphs have the same prompt, tools, scripted models (no delay, in a process of their own), checkpointer and
messages channel, on one embedded PostgreSQL, and both make the same model calls: a router call and a chat call, or, in
the second part, no router call in either, where nothing hides behind it. Nobody is given a title. The user has a past:
a profile of 10 keys, 50 facts, 200 episodes, and in each thread a summary of its first ten turns. Turns of 50 words
alternate between the graphs, so that whatever else the machine does hits both. A thread is left after a few measured
turns, because the plain graph sends all of it. Warm is a turn whose user's memory is cached; cold is one that comes
after every cache was dropped. Our graph where
nobody speaks shows what its shape costs without memory.

A memory query is a statement on memory's tables, as `pg_stat_statements` sees it; `around` is what begins and ends
transactions. Through `langgraph dev` a turn is timed from its first event, as the server's queue only looks for runs
now and then. `--profile` writes what pyinstrument sees of our warm turns.
"""

import argparse
import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.overhead.counting import TURNS, count_statements
from bench.overhead.profiling import profile_turns, write_profile
from bench.overhead.rounds import Kind, Round, measure_rounds
from bench.overhead.through_server import ServedPair, measure_served
from bench.turns.in_process import USER, Turn, in_process
from bench.turns.postgres import Statements, bench_postgres
from bench.turns.quiet import only_warnings
from bench.turns.remembered import give_a_past
from bench.turns.scripted import ModelProcess
from bench.turns.tables import Report, milliseconds, percentile, print_table, times

WARM: Final = "warm"
WANTED_RATIO: Final = 1.25
WANTED_QUERIES: Final = 1.0
TITLES: Final = {True: "router and chat call in both", False: "chat call only in both"}


@dataclass(frozen=True, slots=True)
class Measured:
    """Of one way to route: the turns, and the statements of turns."""

    warm: Sequence[Round]
    cold: Sequence[Round]
    counted: Mapping[str, Statements]


async def measure(url: str, models: ModelProcess, options: argparse.Namespace, *, routed: bool) -> Measured:
    blocks = 1 if options.quick else 12
    async with in_process(url, models.environment, routed=routed) as side:
        if routed:
            await give_a_past(side.services, USER)
        warm = await measure_rounds(side, blocks=blocks, cold=False)
        cold = await measure_rounds(side, blocks=(blocks + 1) // 2, cold=True)
        counted = await count_statements(side, url)
        if options.profile and routed:
            write_profile(await profile_turns(side, blocks=blocks), options.profile)
    return Measured(warm, cold, counted)


def report_ratio(report: Report, name: str, ours: Sequence[float], plain: Sequence[float], *, wanted: bool) -> None:
    """Seconds of ours beside those of plain, at the median and at the 95th percentile; the median is what is wanted."""
    for share in (0.5, 0.95):
        mine, base = percentile(ours, share), percentile(plain, share)
        judged = wanted and share == 0.5
        report.figure(
            f"{name}, p{share * 100:.0f}",
            f"{milliseconds(mine)} against {milliseconds(base)}",
            times(mine, base),
            wanted=f"at most {WANTED_RATIO}x" if judged else "",
            reached=mine <= WANTED_RATIO * base if judged else None,
        )


def seconds_of(rounds: Sequence[Round], kind: Kind, value: Callable[[Turn], float]) -> Sequence[float]:
    return [value(one[kind]) for one in rounds]


def report_turns(report: Report, measured: Measured) -> None:
    rows: Sequence[tuple[str, Sequence[Round], Kind, Callable[[Turn], float]]] = (
        (WARM, measured.warm, "ours", wall_time),
        ("  its CPU", measured.warm, "ours", cpu_time),
        ("nobody speaks", measured.warm, "nobody", wall_time),
        ("cold", measured.cold, "ours", wall_time),
    )
    for name, rounds, kind, value in rows:
        report_ratio(
            report, name, seconds_of(rounds, kind, value), seconds_of(rounds, "plain", value), wanted=name == WARM
        )


def wall_time(turn: Turn) -> float:
    return turn.seconds


def cpu_time(turn: Turn) -> float:
    return turn.cpu_seconds


def report_queries(report: Report, counted: Mapping[str, Statements]) -> None:
    queries = counted["ours, warm"].memory / TURNS
    wanted, reached = f"at most {WANTED_QUERIES:g}", queries <= WANTED_QUERIES
    report.figure("memory queries, warm turn", f"{queries:g}", wanted=wanted, reached=reached)
    report.figure("memory queries, cold turn", f"{counted['ours, cold'].memory / TURNS:g}")


def print_statements(title: str, counted: Mapping[str, Statements]) -> None:
    rows = [
        (name, *(f"{value / TURNS:g}" for value in (one.memory, one.checkpoints, one.around, one.other, one.total)))
        for name, one in counted.items()
    ]
    print_table(f"Statements per turn, {title}", ("turn", "memory", "checkpoints", "around", "other", "all"), rows)


def report_part(measured: Measured, title: str) -> int:
    """Print one part; how many figures are not reached."""
    report = Report(f"Overhead in one process, {title}: ours against plain")
    report_turns(report, measured)
    report_queries(report, measured.counted)
    report.print()
    print_statements(title, measured.counted)
    return report.missed


def report_served(pairs: Sequence[ServedPair]) -> None:
    """Without a wanted figure: the server's own work is in both."""
    report = Report(f"Overhead through langgraph dev, {TITLES[True]}: ours against plain")
    working = [(pair.ours.working, pair.plain.working) for pair in pairs]
    whole = [(pair.ours.seconds, pair.plain.seconds) for pair in pairs]
    for name, both in (("from the first event to the end", working), ("from the request to the end", whole)):
        report_ratio(report, name, [ours for ours, _ in both], [plain for _, plain in both], wanted=False)
    report.print()


async def main(options: argparse.Namespace) -> int:
    """How many figures are not reached."""
    missed = 0
    with bench_postgres() as server, ModelProcess() as models:
        url = server.create_database()
        for routed, title in list(TITLES.items())[: 1 if options.quick else None]:
            missed += report_part(await measure(url, models, options, routed=routed), title)
        report_served(await measure_served(url, models.environment, pairs=3 if options.quick else 20))
    return missed


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.overhead")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--profile", type=Path, help="where to write what pyinstrument sees of our warm turns")
    return parser.parse_args()


if __name__ == "__main__":
    only_warnings()
    asyncio.run(main(parse_options()))
