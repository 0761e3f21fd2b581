"""Growth: one thread to 1,000 turns, ours beside LangChain's SummarizationMiddleware and LangMem's SummarizationNode.

    python -m bench.growth [--quick] [--turns 20 200 1000]

All get the same script (turns of about 60 words, answers of about 75), the same prompt and tools, the same scripted
models and checkpointer, no delay and no router call; each has a database of its own. At each length the newest ten
turns count. Tokens are characters by four of what the model was sent, tools included. Bytes are those of rows as
stored, in the tables of the checkpointer, the store and the memories.

Summaries follow one rule for all (`bench/turns/summary_rule.py`): the first 12 words of each side of a turn, behind
what the mechanism shows of the earlier summary. Ours adds to its summaries and never writes one again; the others are
written again each time and have at most 600 words, as from a model that was asked for a summary. LangChain's is grown
once more with room for everything that it is shown (`all words`); it cuts that to 4,000 tokens, its default. LangMem's
counts on a summary of `max_summary_tokens`, and cannot.

Forty facts, or one in two turns of a short thread, are planted evenly, half of them behind the first 12 words of their
turns. `in the prompt`: the last call holds the code. `when asked`: the call that answers a question for it does. `or
looked up`: it is in the last call, or in a turn whose label the last call shows, as `lookup_thread_messages` gives it
back; only ours has labels.
"""

import argparse
import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from bench.growth.growing import Field, grow
from bench.growth.measures import Grown, bytes_a_turn, is_linear
from bench.growth.rivals import langchain_middleware, langmem_node
from bench.turns.in_process import InProcess, Variant, in_process
from bench.turns.postgres import bench_postgres
from bench.turns.quiet import only_warnings
from bench.turns.scripted import ModelProcess
from bench.turns.summary_rule import SUMMARY_WORDS
from bench.turns.tables import Report, milliseconds, print_table, times
from bench.turns.talk import planted
from tests.support.postgres import TestServer

LENGTHS: Final = (20, 200, 1_000)
QUICK: Final = (10, 20, 40)
FLAT: Final = 0.10
LINEAR: Final = 0.25
SLOWER: Final = 3.0
FACTS: Final = 40
ALL_WORDS: Final = 1_000_000

Rival = tuple[Callable[[InProcess], Variant], str, int]
RIVALS: Final[Sequence[Rival]] = (
    (langchain_middleware, f"{SUMMARY_WORDS} words", SUMMARY_WORDS),
    (langmem_node, f"{SUMMARY_WORDS} words", SUMMARY_WORDS),
    (langchain_middleware, "all words", ALL_WORDS),
)


async def grow_in_own_database(
    server: TestServer, models: ModelProcess, lengths: Sequence[int], *, variant_of: Callable[[InProcess], Variant]
) -> Grown:
    url = server.create_database()
    async with in_process(url, models.environment, routed=False) as side:
        field = Field(
            side=side, models=models, url=url, points=lengths, facts=planted(lengths[-1], min(FACTS, lengths[-1] // 2))
        )
        return await grow(field, variant_of(side))


async def grow_rivals(
    server: TestServer, models: ModelProcess, lengths: Sequence[int], *, rivals: Sequence[Rival]
) -> Sequence[Grown]:
    grown: list[Grown] = []
    for variant_of, words, limit in rivals:
        models.set_summary_words(limit)
        rival = await grow_in_own_database(server, models, lengths, variant_of=variant_of)
        grown.append(replace(rival, name=f"{rival.name}, {words}"))
    return grown


def report_ours(ours: Grown) -> int:
    """Print what is wanted of our thread; how many figures are not reached."""
    report = Report("Growth of one thread")
    first, middle, last = ours.points
    tokens = last.call_tokens / middle.call_tokens
    report.figure(
        f"tokens per call, {last.turns} turns", f"{last.call_tokens:,.0f}", f"{tokens:.2f}x at {middle.turns}",
        wanted=f"within {FLAT:.0%}", reached=abs(tokens - 1) <= FLAT,
    )  # fmt: skip
    seconds = last.turn_seconds / first.turn_seconds
    report.figure(
        f"time per turn, {last.turns} turns", milliseconds(last.turn_seconds), f"{seconds:.2f}x at {first.turns}",
        wanted=f"at most {SLOWER:g}x", reached=seconds <= SLOWER,
    )  # fmt: skip
    early, late = bytes_a_turn(ours.points)
    report.figure(
        f"bytes per turn, from {middle.turns} on", f"{late:,.0f}", f"{times(late, early)} before",
        wanted=f"linear, within {LINEAR:.0%}", reached=is_linear(ours.points, tolerance=LINEAR),
    )  # fmt: skip
    report.figure("summary input, tokens a pass", f"{ours.pass_tokens / max(1, ours.passes):,.0f}",
        f"longest {ours.longest_pass_tokens:,.0f}")  # fmt: skip
    report.print()
    return report.missed


def print_points(grown: Sequence[Grown]) -> None:
    columns = ("variant", "turns", "tokens per call", "time per turn", "times the first", "background", "KB stored")
    rows = [
        (
            one.name, f"{point.turns:,}", f"{point.call_tokens:,.0f}", milliseconds(point.turn_seconds),
            times(point.turn_seconds, one.points[0].turn_seconds), milliseconds(point.background_seconds),
            f"{point.bytes / 1000:,.0f}",
        )
        for one in grown
        for point in one.points
    ]  # fmt: skip
    print_table("At each length", columns, rows)


def print_stored(grown: Sequence[Grown]) -> None:
    names = list(grown[0].points[-1].stored)
    rows = [(one.name, *(f"{one.points[-1].stored[name] / 1000:,.0f}" for name in names)) for one in grown]
    print_table(f"KB stored after {grown[0].points[-1].turns:,} turns", ("variant", *names), rows)


def print_comparison(grown: Sequence[Grown]) -> None:
    columns = (
        "variant", "calls", "sent", "passes", "read", "longest pass",
        "in the prompt", "when asked", "or looked up",
    )  # fmt: skip
    rows = [
        (
            one.name, f"{one.calls:,}", f"{one.sent_tokens / 1000:,.0f}",
            f"{one.passes:,}", f"{one.pass_tokens / 1000:,.0f}", f"{one.longest_pass_tokens / 1000:,.1f}",
            *(f"{known}/{one.knowledge.planted}" for known in (
                one.knowledge.in_prompt, one.knowledge.asked, one.knowledge.looked_up
            )),
        )
        for one in grown
    ]  # fmt: skip
    print_table("The whole thread, tokens in thousands: what was sent, and what remains answerable", columns, rows)


def quiet_checkpoints() -> None:
    """LangMem keeps a class of its own in its state, of which LangGraph warns at every turn."""
    logging.getLogger("langgraph.checkpoint.serde.jsonplus").setLevel(logging.ERROR)


async def main(options: argparse.Namespace) -> int:
    """How many figures are not reached."""
    lengths, rivals = (QUICK, RIVALS[:2]) if options.quick else (options.turns, RIVALS)
    with bench_postgres() as server, ModelProcess() as models:
        ours = await grow_in_own_database(server, models, lengths, variant_of=lambda side: side.ours)
        missed = report_ours(ours)
        print_points([ours])
        grown = [ours, *await grow_rivals(server, models, lengths, rivals=rivals)]
    print_points(grown)
    print_stored(grown)
    print_comparison(grown)
    return missed


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.growth")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--turns", type=int, nargs=3, default=LENGTHS, help="the three lengths that are looked at")
    return parser.parse_args()


if __name__ == "__main__":
    only_warnings()
    quiet_checkpoints()
    asyncio.run(main(parse_options()))
