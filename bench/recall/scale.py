"""How long a search takes when there is much: 100,000 rows over 1,000 scopes, one of 1,000 rows, one of 50,000."""

import time
from collections.abc import Sequence
from typing import Final

from backend.memory.search import Embed
from backend.storage.database import Database
from bench.recall.measures import percentile
from bench.recall.methods import BASELINES, Method, baseline, product

SIZES: Final = (("many", 99_000, 99), ("medium", 1_000, 1_000), ("large", 50_000, 50_000))
"""The names of scopes, how many rows there are in them together, and how many in each."""
QUESTIONS: Final = 100


async def measure_scale(database: Database, questions: Sequence[str], embed: Embed | None, model: str) -> None:
    """Print the times of the product and of OR-ed full text in each kind of scope, and how they compare."""
    await fill(database, with_vectors=embed is not None)
    methods = {"product, words only": product(database, None, "")}
    if embed is not None:
        methods["product, with local embeddings"] = product(database, embed, model)
    print(f"\n{'latency at 150,000 rows':44} {'p50 ms':>7} {'p95 ms':>7} {'times full text':>16}")
    for name, _, _ in SIZES:
        plain, *others = await milliseconds([baseline(database, "text_or"), *methods.values()], f"{name}-0", questions)
        print(f"{name + ': full text, words OR-ed':44} {percentile(plain, 0.5):7.1f} {percentile(plain, 0.95):7.1f}")
        for title, times in zip(methods, others, strict=True):
            half, most = (percentile(times, share) / percentile(plain, share) for share in (0.5, 0.95))
            ratios = f"{half:7.1f} {most:8.1f}"
            print(
                f"{f'{name}: {title}':44} {percentile(times, 0.5):7.1f} {percentile(times, 0.95):7.1f} {ratios}",
                flush=True,
            )


async def fill(database: Database, *, with_vectors: bool) -> None:
    async with await database.connect() as connection:
        connection.patience = None
        await connection.execute("SET statement_timeout = 0")
        for name, rows, each in SIZES:
            await connection.execute(BASELINES["fill"], {"name": name, "rows": rows, "each": each})
            if with_vectors:
                await connection.execute(BASELINES["fill_vectors"], {"name": name})
        await connection.execute("VACUUM ANALYZE memories")
        if with_vectors:
            await connection.execute("VACUUM ANALYZE memory_embeddings")


async def milliseconds(methods: Sequence[Method], scope: str, questions: Sequence[str]) -> Sequence[Sequence[float]]:
    """Of each method, question by question in turn, so that what else the machine does hits all of them."""
    times: Sequence[list[float]] = [[] for _ in methods]
    for question in [*questions[:10], *questions[:QUESTIONS]]:
        for method, its_times in zip(methods, times, strict=True):
            began = time.perf_counter()
            await method(scope, question, 8)
            its_times.append((time.perf_counter() - began) * 1000)
    return [its_times[10:] for its_times in times]
