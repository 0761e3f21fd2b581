"""Recall on LoCoMo (Maharana et al. 2024), side by side with other ways to do it, in one run and one table.

    python -m bench.recall --data locomo10.json [--vectors local] [--quick]

A question counts as answered by a row when that row is the dialog turn that holds the evidence; categories 1 to 4. The
data is CC BY-NC 4.0 and is not part of this repository. The product is `Search.find` with its floor, so these are the
figures of what is shipped. The weights in `backend/storage/sql/recall.sql` were fitted on the first five conversations
(listwise logistic regression over the parts of the score, then rounded; that of the neighbours' meaning by a grid), and
are reported for the other five too. The features, and how alike a word must be to be a repair, were chosen with all ten
in view. `some` and `all` are the shares of the questions with some and with all of the evidence
in the first 1,000 words of what was found. Times are of one call on a machine that may do other things: compare rows.

`--vectors local` adds the embedding model of this machine when its packages are installed. `--quick` leaves out what
takes minutes: the slow baselines and the latency at 100,000 rows.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from backend.ids import UserId
from backend.llm.embeddings import LocalEmbedder
from backend.llm.local_embeddings import missing_packages
from backend.memory.search import Embed
from backend.memory.vectors import Vectors
from backend.settings import Settings
from backend.storage.database import Database
from backend.storage.embedding_rows import EmbeddingRows
from backend.storage.memory_rows import MemoryRows
from bench.recall.language_sets import TARGETS, missed
from bench.recall.locomo import Conversation, load_conversations
from bench.recall.measures import HEADER, Ranking, quality_row
from bench.recall.methods import BASELINES, Method, baselines, baselines_with_vectors, product
from bench.recall.scale import measure_scale
from bench.recall.typos import with_typo, word_counts

LIMIT: Final = 100
HELD_OUT: Final = 5
"""The weights were fitted on so many conversations; the others are the held-out half."""
SLOW: Final = ("trigram", "sum")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What is in the database; both maps are by the ids of rows."""

    conversations: Sequence[Conversation]
    turns: Mapping[str, str]
    words: Mapping[str, int]


async def load(database: Database, path: Path) -> Loaded:
    rows = MemoryRows(database)
    turns: dict[str, str] = {}
    words: dict[str, int] = {}
    conversations = load_conversations(path)
    for conversation in conversations:
        for session in conversation.sessions:
            for row in await rows.save(conversation.scope, added=session.turns, at=session.at):
                turns[row.id] = f"{row.scope} {row.message_ids[0]}"
                words[turns[row.id]] = len(row.content.split())
    return Loaded(conversations, turns, words)


class Questions:
    """The vectors of questions, made before the clock runs."""

    def __init__(self, embedder: LocalEmbedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Sequence[float]] = {}

    async def prepare(self, texts: Sequence[str]) -> None:
        new = [text for text in texts if text not in self._vectors]
        self._vectors.update(zip(new, await self._embedder.embed(new), strict=True) if new else ())

    async def __call__(self, text: str) -> Sequence[float] | None:
        return self._vectors[text]


def questions_with_typos(conversation: Conversation) -> Sequence[str]:
    texts = [turn.content for session in conversation.sessions for turn in session.turns]
    counts = word_counts(texts)
    return [with_typo(question.text, counts, besides=conversation.speakers) for question in conversation.questions]


async def rank(loaded: Loaded, method: Method, *, typos: bool = False) -> Sequence[Sequence[Ranking]]:
    """The rankings of every question, by conversation."""
    return [await _rank_one(loaded, conversation, method, typos=typos) for conversation in loaded.conversations]


async def _rank_one(loaded: Loaded, conversation: Conversation, method: Method, *, typos: bool) -> Sequence[Ranking]:
    texts = questions_with_typos(conversation) if typos else [question.text for question in conversation.questions]
    rankings: list[Ranking] = []
    for question, text in zip(conversation.questions, texts, strict=True):
        began = time.perf_counter()
        found = await method(conversation.scope, text, LIMIT)
        milliseconds = (time.perf_counter() - began) * 1000
        evidence = frozenset(f"{conversation.scope} {turn}" for turn in question.evidence)
        rankings.append(Ranking([loaded.turns[row] for row in found], evidence, milliseconds))
    return rankings


async def report(loaded: Loaded, name: str, method: Method, *, typos: bool = False, halves: bool = False) -> None:
    """Print the row of a method, and that of the held-out half."""
    rankings = await rank(loaded, method, typos=typos)
    everything = [ranking for conversation in rankings for ranking in conversation]
    print(f"{name:44} {quality_row(everything, loaded.words)}", flush=True)
    if halves:
        held_out = [ranking for conversation in rankings[HELD_OUT:] for ranking in conversation]
        print(f"{'  its held-out half':44} {quality_row(held_out, loaded.words)}", flush=True)


async def report_product(database: Database, loaded: Loaded, name: str, embed: Embed | None, model: str) -> None:
    method, nameless = product(database, embed, model), product(database, embed, model, speakers=False)
    await report(loaded, f"product, {name}", method, halves=True)
    await report(loaded, "  with one typo in the key word", method, typos=True)
    await report(loaded, "  without the speaker cue", nameless)


async def embed_all(database: Database, loaded: Loaded) -> tuple[Questions, str]:
    """Vectors for every row, by the product's own background work, and for every question."""
    embedder = LocalEmbedder()
    vectors, questions = Vectors(rows=EmbeddingRows(database), embedder=embedder), Questions(embedder)
    for conversation in loaded.conversations:
        await vectors.fill(UserId(conversation.scope), limit=10_000)
        await questions.prepare([question.text for question in conversation.questions])
        await questions.prepare(questions_with_typos(conversation))
    return questions, embedder.model


async def report_languages(database: Database) -> None:
    print("\nother languages, any@3 of 20 questions, words only")
    for language, target in TARGETS.items():
        print(f"{language:44} {100 - 5 * len(await missed(database, language)):6.1f} (at least {target:g})")


async def run(database: Database, options: argparse.Namespace) -> None:
    async with database.connection() as connection:
        for query in ("prepare", "prepare_index"):
            await connection.execute(BASELINES[query])
    loaded = await load(database, options.data)
    async with database.connection() as connection:
        await connection.execute(BASELINES["analyze"])
    print(HEADER)
    for name, method in baselines(database).items():
        if not (options.quick and name.startswith(SLOW)):
            await report(loaded, name, method)
    await report_product(database, loaded, "words only", None, "")
    questions, model = None, ""
    if options.vectors == "local":
        questions, model = await embed_all(database, loaded)
        for name, method in baselines_with_vectors(database, questions, model).items():
            await report(loaded, name, method)
        await report_product(database, loaded, "with local embeddings", questions, model)
    await report_languages(database)
    if not options.quick:
        asked = [question.text for question in loaded.conversations[0].questions]
        await measure_scale(database, asked, questions, model)


async def main(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="afterthought-") as folder:
        settings: dict[str, Any] = {"data_dir": Path(folder)}
        database = Database(Settings(**settings))
        async with database.running():
            await run(database, options)
        database.release()


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.recall")
    parser.add_argument("--data", type=Path, required=True, help="locomo10.json")
    parser.add_argument("--vectors", choices=["off", "local"], default="off")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.vectors == "local" and (missing := missing_packages()):
        parser.error(f"--vectors local needs packages that are not installed: {', '.join(missing)}")
    return options


if __name__ == "__main__":
    asyncio.run(main(parse_options()))
