"""One typo in the key word of a question, the same every time."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

SHORTEST: Final = 5
_WORD: Final = re.compile(r"[A-Za-z]+")


def word_counts(texts: Iterable[str]) -> Mapping[str, int]:
    return Counter(word for text in texts for word in _WORD.findall(text.lower()))


def with_typo(question: str, counts: Mapping[str, int], *, besides: Iterable[str]) -> str:
    """The question with a typo in its rarest word that the conversation has, names aside; as it is if there is none."""
    names = {name.lower() for name in besides}
    words = [word for word in _WORD.finditer(question) if len(word[0]) >= SHORTEST and word[0].lower() not in names]
    known = [word for word in words if counts.get(word[0].lower())]
    if not known:
        return question
    key = min(known, key=lambda word: counts[word[0].lower()])
    return question[: key.start()] + misspelt(key[0]) + question[key.end() :]


def misspelt(word: str) -> str:
    """A letter left out, doubled, replaced, or two exchanged; never the first one."""
    chance = random.Random(word)
    place = chance.randrange(1, len(word) - 1)
    head, tail = word[:place], word[place:]
    forms = [
        head + tail[1:],
        head + tail[0] + tail,
        head + chance.choice("etaoinsr") + tail[1:],
        head + tail[1] + tail[0] + tail[2:],
    ]
    return chance.choice([form for form in forms if form != word] or [head + tail[1:]])
