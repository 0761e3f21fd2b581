"""Grows one thread of one variant, turn by turn, and looks at it at some lengths."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import psycopg
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from backend.memory.summaries.transcript import transcript
from backend.memory.summaries.window import Window
from bench.growth.measures import Grown, Knowledge, Point, TurnCost, codes_in, cost_of, labels_in, point_of, prompt_of
from bench.turns.in_process import USER, InProcess, Turn, Variant
from bench.turns.scripted import ModelProcess
from bench.turns.talk import Planted, said

NEWEST: Final = 10
"""So many turns are looked at: ours compresses every so many, so that all lengths of the uncompressed rest count."""
TABLES: Final = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "store", "memories", "memory_embeddings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Where a thread grows, alone in its database."""

    side: InProcess
    models: ModelProcess
    url: str
    points: Sequence[int]
    facts: Sequence[Planted]


async def grow(field: Field, variant: Variant) -> Grown:
    """A thread of the last of `field.points` turns, with all of its background work done after each turn."""
    thread_id = field.side.new_thread()
    field.models.taken()
    empty = stored_bytes(field.url)
    costs: list[TurnCost] = []
    points: list[Point] = []
    messages: Sequence[BaseMessage] = ()
    for turn in range(field.points[-1]):
        done, cost = await _grow_by_one(field, variant, thread_id, turn)
        costs.append(cost)
        messages = done.messages
        if turn + 1 in field.points:
            points.append(point_of(turn + 1, costs[-NEWEST:], stored_bytes(field.url) - empty))
    return Grown(variant.name, points, costs, await _knowledge(field, variant, thread_id, messages))


async def _grow_by_one(field: Field, variant: Variant, thread_id: str, turn: int) -> tuple[Turn, TurnCost]:
    done = await variant.turn(thread_id, said(turn, field.facts))
    background = await field.side.remember(done)
    return done, cost_of(done.seconds, background, field.models.taken())


def stored_bytes(url: str) -> int:
    """Of checkpoints and all memory: of rows as stored, without indexes and free space."""
    sums = " UNION ALL ".join(f"SELECT sum(pg_column_size(t.*)) AS bytes FROM {table} AS t" for table in TABLES)
    with psycopg.connect(url) as connection:
        row = connection.execute(f"SELECT coalesce(sum(bytes), 0) FROM ({sums}) AS s".encode()).fetchone()
    assert row is not None
    return int(row[0])


async def _knowledge(field: Field, variant: Variant, thread_id: str, messages: Sequence[BaseMessage]) -> Knowledge:
    """Asked for one by one, each from the state at the end of the growth, so that no question helps another."""
    prompt = prompt_of(field.models.newest_chat())
    shown, labels = codes_in(prompt, field.facts), labels_in(prompt)
    legible = {fact.code for fact in field.facts if _can_look_up(fact, labels, messages)}
    end = (await variant.graph.aget_state(_in_thread(thread_id))).config["configurable"]["checkpoint_id"]
    asked = [
        fact.code in await _prompt_for(field, variant, _in_thread(thread_id, end), fact.question)
        for fact in field.facts
    ]
    return Knowledge(len(field.facts), len(shown), sum(asked), len(shown | legible))


def _can_look_up(fact: Planted, labels: frozenset[int], messages: Sequence[BaseMessage]) -> bool:
    """Whether its turn has a label in the prompt, and `lookup_thread_messages` would show the code by that."""
    return fact.turn in labels and fact.code in transcript(messages, Window(fact.turn, fact.turn))


async def _prompt_for(field: Field, variant: Variant, config: RunnableConfig, question: str) -> str:
    """What the chat model gets when it is asked from a checkpoint of the thread, in a branch that ends there."""
    await variant.graph.ainvoke({"messages": [HumanMessage(question)]}, config)
    field.side.server.started.clear()
    return prompt_of(field.models.newest_chat())


def _in_thread(thread_id: str, checkpoint_id: str | None = None) -> RunnableConfig:
    place = {"thread_id": thread_id, "user_id": USER}
    return {"configurable": place if checkpoint_id is None else {**place, "checkpoint_id": checkpoint_id}}
