"""Growth: one thread to 1,000 turns, ours beside LangChain's SummarizationMiddleware and LangMem's SummarizationNode.

    python -m bench.growth [--quick] [--turns 20 200 1000]

All get the same script (turns of about 60 words, answers of about 75), the same prompt and tools, the same scripted
models and checkpointer, no delay and no router call; each has a database of its own. At each length the newest ten
turns count. Tokens are characters by four of what the model was sent, tools included. Bytes are those of rows as
stored, in the tables of the checkpointer, the store and the memories. Ours does its background work apart from the
turn, the others summarize within it.

Summaries follow one rule for all (`bench/turns/summarizing.py`). What ours has written it never writes again; the
others write theirs again each time.

Forty facts, or one in two turns of a short thread, are planted evenly, half of them behind the words that the rule
keeps of their turns. `in the prompt`: the last call holds the code. `when asked`: the call that answers a question for
it does. `or looked up`: it is in the last call, or in a turn whose label the last call shows, as
`lookup_thread_messages` gives it back; only ours has labels.
"""

import argparse
import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from bench.growth.growing import Field, grow
from bench.growth.measures import Grown, bytes_a_turn
from bench.growth.rivals import langchain_middleware, langmem_node
from bench.turns.in_process import InProcess, Variant, in_process
from bench.turns.postgres import bench_postgres
from bench.turns.quiet import only_warnings
from bench.turns.scripted import ModelProcess
from bench.turns.tables import Report, milliseconds, print_table, times
from bench.turns.talk import planted
from tests.support.postgres import TestServer

LENGTHS: Final = (20, 200, 1_000)
QUICK: Final = (10, 20, 40)
FLAT: Final = 0.10
LINEAR: Final = 0.25
"""So much more may a turn at the end store than one at the beginning."""
SLOWER: Final = 3.0
FACTS: Final = 40

VariantOf = Callable[[InProcess], Variant]
VARIANTS: Final[Sequence[VariantOf]] = (lambda side: side.ours, langchain_middleware, langmem_node)


async def grow_alone(
    server: TestServer, models: ModelProcess, lengths: Sequence[int], *, variant_of: VariantOf
) -> Grown:
    url, facts = server.create_database(), planted(lengths[-1], min(FACTS, lengths[-1] // 2))
    async with in_process(url, models.environment, routed=False) as side:
        return await grow(Field(side=side, models=models, url=url, points=lengths, facts=facts), variant_of(side))


def report_of(ours: Grown) -> Report:
    """What is wanted of our thread."""
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
        wanted=f"linear, within {LINEAR:.0%}", reached=late <= (1 + LINEAR) * early,
    )  # fmt: skip
    report.figure("longest summary input, tokens", f"{max(ours.passes):,.0f}")
    return report


def print_points(grown: Sequence[Grown]) -> None:
    columns = ("variant", "turns", "tokens per call", "time per turn", "times the first", "background", "KB stored")
    rows = [
        (
            one.name, f"{point.turns:,}", f"{point.call_tokens:,.0f}", milliseconds(point.turn_seconds),
            times(point.turn_seconds, one.points[0].turn_seconds), milliseconds(point.background_seconds),
            f"{point.stored / 1000:,.0f}",
        )
        for one in grown
        for point in one.points
    ]  # fmt: skip
    print_table("At each length", columns, rows)


def print_comparison(grown: Sequence[Grown]) -> None:
    columns = (
        "variant", "chat calls", "their tokens", "summary calls", "their tokens",
        "in the prompt", "when asked", "or looked up",
    )  # fmt: skip
    rows = [
        (
            one.name, f"{len(one.calls):,}", f"{sum(one.calls) / 1000:,.0f}k",
            f"{len(one.passes):,}", f"{sum(one.passes) / 1000:,.0f}k",
            *(f"{known}/{one.knowledge.planted}" for known in (
                one.knowledge.in_prompt, one.knowledge.asked, one.knowledge.looked_up
            )),
        )
        for one in grown
    ]  # fmt: skip
    print_table("The whole thread: what was sent, and what remains answerable", columns, rows)


async def main(lengths: Sequence[int]) -> None:
    with bench_postgres() as server, ModelProcess() as models:
        grown = [await grow_alone(server, models, lengths, variant_of=variant_of) for variant_of in VARIANTS]
    report_of(grown[0]).print()
    print_points(grown)
    print_comparison(grown)


def parse_lengths() -> Sequence[int]:
    parser = argparse.ArgumentParser(prog="python -m bench.growth")
    parser.add_argument("--quick", action="store_true", help="40 turns, to see that all parts work")
    parser.add_argument("--turns", type=int, nargs=3, default=LENGTHS, help="the three lengths that are looked at")
    options = parser.parse_args()
    return QUICK if options.quick else options.turns


if __name__ == "__main__":
    only_warnings()
    # LangMem keeps a class of its own in its state, of which LangGraph warns at every turn
    logging.getLogger("langgraph.checkpoint.serde.jsonplus").setLevel(logging.ERROR)
    asyncio.run(main(parse_lengths()))
