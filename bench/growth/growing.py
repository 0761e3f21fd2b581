"""Grows one thread of one variant, turn by turn, and looks at it at some lengths."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from backend.memory.summaries.transcript import transcript
from backend.memory.summaries.window import Window
from bench.growth.measures import (
    CHARS_PER_TOKEN,
    Grown,
    Knowledge,
    Point,
    TurnCost,
    codes_in,
    labels_in,
    point_of,
    prompt_text,
)
from bench.growth.stored import stored_bytes
from bench.turns.in_process import USER, InProcess, Turn, Variant
from bench.turns.scripted import ModelProcess
from bench.turns.talk import Planted, said

NEWEST: Final = 10
"""So many turns are looked at: ours compresses every so many, so that all lengths of the uncompressed rest count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Where a thread grows."""

    side: InProcess
    models: ModelProcess
    url: str
    points: Sequence[int]
    facts: Sequence[Planted]


async def grow(field: Field, variant: Variant) -> Grown:
    """A thread of the last of `field.points` turns, with all of its background work done after each turn."""
    thread_id = field.side.new_thread()
    field.models.taken()
    costs: list[TurnCost] = []
    points: list[Point] = []
    last: Turn | None = None
    for turn in range(field.points[-1]):
        last, cost = await _grow_by_one(field, variant, thread_id, turn)
        costs.append(cost)
        if turn + 1 in field.points:
            points.append(point_of(turn + 1, costs[-NEWEST:], stored_bytes(field.url, thread_id)))
    assert last is not None
    return _grown(variant.name, points, costs, await _knowledge(field, variant, thread_id, last.messages))


async def _grow_by_one(field: Field, variant: Variant, thread_id: str, turn: int) -> tuple[Turn, TurnCost]:
    done = await variant.turn(thread_id, said(turn, field.facts))
    background = await field.side.remember(done)
    taken = field.models.taken()
    calls, passes = [[one["chars"] for one in taken if one["model"] == model] for model in ("chat", "summary")]
    return done, TurnCost(done.seconds, background, calls, passes)


def _grown(name: str, points: Sequence[Point], costs: Sequence[TurnCost], knowledge: Knowledge) -> Grown:
    calls = [chars / CHARS_PER_TOKEN for cost in costs for chars in cost.calls]
    passes = [chars / CHARS_PER_TOKEN for cost in costs for chars in cost.passes]
    return Grown(
        name=name,
        points=points,
        calls=len(calls),
        passes=len(passes),
        sent_tokens=sum(calls),
        pass_tokens=sum(passes),
        longest_pass_tokens=max(passes, default=0),
        knowledge=knowledge,
    )


async def _knowledge(field: Field, variant: Variant, thread_id: str, messages: Sequence[BaseMessage]) -> Knowledge:
    """Asked for one by one, each from the state at the end of the growth, so that no question helps another."""
    request = field.models.last("chat")
    shown, labels = codes_in(request, field.facts), labels_in(request)
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
    return prompt_text(field.models.last("chat"))


def _in_thread(thread_id: str, checkpoint_id: str | None = None) -> RunnableConfig:
    place = {"thread_id": thread_id, "user_id": USER}
    return {"configurable": place if checkpoint_id is None else {**place, "checkpoint_id": checkpoint_id}}
