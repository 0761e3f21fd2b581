"""What is said in a scripted conversation: made by rule, every turn another, with facts planted at known turns.

Twenty subjects with words of their own and a few words that come everywhere, as in what people write: a search that
finds every row by every word, or nothing at all, would measure something else.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

SUBJECTS: Final[Mapping[str, str]] = {
    "the trip to Lisbon": "tram ferry hostel tiles viewpoint pastry passport luggage aquarium castle flight tunnel",
    "the kitchen renovation": "worktop plumber socket oven drawer grout skirting extractor tiling invoice hinge sink",
    "the choir concert": "alto rehearsal conductor encore programme motet organ podium score tenor applause cantata",
    "the allotment garden": "compost beans shed watering slugs rhubarb greenhouse seedlings fence mulch barrow harvest",
    "the old sailing boat": "mast varnish harbour rudder keel mooring rope sail anchor bilge pontoon compass",
    "the book club": "novel chapter author translation paperback essay shelf critic memoir plot library bookmark",
    "the marathon in autumn": "training shoes interval blister pace stretching bib drinks knee mileage taper medal",
    "the photo exhibition": "frame portrait print gallery negative lens caption curator poster lighting wall",
    "the family reunion": "grandmother cousins barbecue parking album nephew speeches tent playground aunt cake quiz",
    "the pottery course": "clay glaze kiln wheel teapot apron sponge bowl firing handle workshop porcelain",
    "the night train to Vienna": "couchette platform breakfast reservation sleeper berth delay suitcase opera",
    "the bicycle repair": "chain spoke brake pedal puncture saddle gear bearing pump mudguard rim lamp",
    "the cheese tasting": "brie goat cellar rind crackers fondue vineyard chutney dairy walnut knife label",
    "the chess tournament": "bishop opening clock arbiter rook endgame pairing trophy gambit referee draw board",
    "the new piano": "tuner keyboard stool delivery sonata staircase metronome lesson hammer scales insurance humidity",
    "the mountain hut": "ridge blanket stove trail weather cable boots glacier sunrise rucksack map warden",
    "the radio play": "microphone script narrator studio cutting episode jingle actor deadline broadcast silence",
    "the beehives": "queen smoker honey swarm frames clover wax drone jars veil mites orchard",
    "the theatre costumes": "velvet seamstress button wig rehearsal cloak fitting sequin wardrobe corset thread mask",
    "the wedding speech": "toast groom anecdote microphone childhood laughter draft bouquet vow dinner brother tears",
}
WHEN: Final = ("the weekend", "Thursday", "the end of the month", "the holidays", "next spring", "Monday evening")
WHO: Final = ("my sister", "the neighbour", "a colleague", "the landlord", "Rui", "the agency", "our teacher")
ASKED: Final = (
    "For {topic}, how do we get the {0} and the {1} done before {when}?",
    "I come back to {topic}: would you rather begin with the {0} or with the {1}?",
    "There is news about {topic}, for {who} has seen to the {0} and asks what becomes of the {1}.",
    "Can you help me with {topic}, above all with the {0}, now that the {1} has changed?",
)
ADDED: Final = (
    "{who} says the {2} costs more than we thought, so that nothing is left for the {3}.",
    "Last year the {2} was forgotten until {when}, and then we had trouble with the {3} as well.",
    "I have measured the {2} twice, but of the {3} I know only what {who} told me on the phone.",
    "If the {2} arrives before {when}, we could do without the {3} and save an afternoon.",
)
CLOSING: Final = (
    "The {4} can wait, I think, unless you see a reason why it should not.",
    "Please do not suggest the {4} again, that did not work.",
    "What would you do about the {4} in my place?",
)
ANSWERED: Final = (
    "I would settle the {0} first, because the {1} depends on it, and ask {who} for help before {when}.",
    "Begin with the {1}: once it is there, the {0} takes an hour at most, and {who} can look it over on {when}.",
)
EXPLAINED: Final = (
    "For the {2} a written offer is worth the trouble, since prices differ a lot; the {3} is cheaper second-hand.",
    "About the {2} I am less sure: note how it is now, change one thing at a time, and keep the old {3} for a while.",
)
ENDED: Final = (
    "Leave the {4} until {when}, and tell me then how far you have come.",
    "If the {4} makes trouble, send me a picture of it and we will find another way.",
)
AGREED: Final = ("About {topic} it is agreed, as rule 0, that {who} sees to the {0} and nobody moves the {1}.",)
WHOSE: Final = (
    "Mara", "Jonas", "Ilse", "Tariq", "Noor", "Pavel", "Greta", "Hiro", "Aino", "Bruno",
    "Celia", "Dario", "Edda", "Farid", "Gwen", "Hanna", "Ivo", "Jule", "Kofi", "Lena",
)  # fmt: skip
THINGS: Final = ("locker code", "membership number")


@dataclass(frozen=True, slots=True)
class Planted:
    """A fact that one turn states, and no other."""

    turn: int
    """0-based."""
    sentence: str
    question: str
    code: str
    early: bool
    """Whether it is among the first words of its turn, which a summary by rule keeps."""


def planted(turns: int, count: int = 40) -> Sequence[Planted]:
    """So many facts, evenly over a thread of so many turns; every other one stands at the end of what is said."""
    return [_plant(number, int((number + 0.5) * turns / count)) for number in range(count)]


def _plant(number: int, turn: int) -> Planted:
    whose, thing = WHOSE[number % len(WHOSE)], THINGS[number // len(WHOSE) % len(THINGS)]
    code = f"{whose[:2].upper()}-{1_000 + 37 * number}"
    return Planted(
        turn=turn,
        sentence=f"The {thing} of {whose} is {code}.",
        question=f"What is the {thing} of {whose}?",
        code=code,
        early=number % 2 == 0,
    )


def said(turn: int, facts: Sequence[Planted] = ()) -> str:
    """What the user says in a turn, 45 to 65 words."""
    words = _made(f"user {turn}", (ASKED, ADDED, ADDED, CLOSING))
    for fact in facts:
        if fact.turn == turn:
            words = f"{fact.sentence} {words}" if fact.early else f"{words} {fact.sentence}"
    return words


def answer(question: str) -> str:
    """What the model says to it, 50 to 70 words: the same to the same."""
    return _made(f"model {question}", (ANSWERED, EXPLAINED, EXPLAINED, ENDED), like=question)


def fact_text(number: int) -> str:
    """One of the sentences that the user wants kept."""
    return _made(f"fact {number}", (AGREED,)).replace("rule 0", f"rule {number + 1}")


def _made(seed: str, sentences: Sequence[Sequence[str]], *, like: str = "") -> str:
    """A sentence of each kind about one subject: the one that `like` is about, if it is about any."""
    choose = random.Random(seed)
    topic = next((topic for topic in SUBJECTS if topic in like), None) or choose.choice(list(SUBJECTS))
    return " ".join(_sentence(choose, choose.choice(kind), topic) for kind in sentences)


def _sentence(choose: random.Random, template: str, topic: str) -> str:
    words = choose.sample(SUBJECTS[topic].split(), 5)
    text = template.format(*words, topic=topic, when=choose.choice(WHEN), who=choose.choice(WHO))
    return text[0].upper() + text[1:]
