"""Lists of words, as sets and as patterns, and the words of a text that tell what it is about."""

import re
from typing import Final


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def any_of(separated: str, unseparated: str = "") -> re.Pattern[str]:
    """Finds whole words; `unseparated` is for scripts that put no spaces between words, and is found anywhere.

    Both are alternatives of a regular expression; case is ignored.
    """
    whole = rf"(?<![\w-])(?:{separated})(?!\w)"
    return re.compile(f"{whole}|{unseparated}" if unseparated else whole, re.IGNORECASE)


_COMMON: Final = words(
    "a about am an and are at be been can could d did do does for from had has have how i in is it know ll m me "
    "mention mentioned my of on or our please re remember s said say should so t talk talked tell that the there they "
    "this to told us ve was we were what when where which who why will with would you your "
    "der die das den dem ein eine ist sind wie wo wer wann was warum welche welcher mein meine unser ich du wir "
    "und oder in im zu von mit "
    "el la los las un una es son era como donde dónde quien quién cuando cuándo cuál qué que mi mis y de en "
    "le les est sont comment où qui quand quel quelle mon ma mes je tu nous et du des à "
    "что где кто когда как какой какая это мой моя моё мои я ты мы и в на с у"
)


def telling(text: str) -> frozenset[str]:
    """The words of a text without those that say little, in small letters."""
    return frozenset(re.findall(r"\w+", text.casefold())) - _COMMON
