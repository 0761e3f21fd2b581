"""What a text says besides its words: who may be meant, and which days.

Both are only hints. A word that is nobody's name and a day on which nothing was said change nothing in a search.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Final

YEARS_BACK: Final = 10
"""A month without a year is that month in each of so many years."""
MAX_NAMES: Final = 200
MAX_DATES: Final = 40

Days = tuple[date, date]
"""The first and the last day of a range."""

MONTHS: Final[Sequence[str]] = (
    r"jan(?:uar[yi]?|\b)|enero|январ\w+",
    r"feb(?:ruar[yi]?|\b)|febrero|феврал\w+",
    r"mar(?:ch|\b)|märz|marzo|март\w*",
    r"apr(?:il|\b)|abril|апрел\w+",
    r"may|mai|mayo|ма[йяею]",
    r"jun[ei]?|junio|июн\w+",
    r"jul[yi]?|julio|июл\w+",
    r"aug(?:ust|\b)|agosto|август\w*",
    r"sep(?:t|tember|\b)|sept?iembre|сентябр\w+",
    r"oct(?:ober|\b)|oktober|octubre|октябр\w+",
    r"nov(?:ember|\b)|noviembre|ноябр\w+",
    r"dec(?:ember|\b)|dezember|diciembre|декабр\w+",
)
_MONTH: Final = "|".join(f"(?P<m{number}>{names})" for number, names in enumerate(MONTHS, 1))
_NAMED: Final = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?)?(?:{_MONTH})\b\.?"
    r"(?:\s+(?P<day_after>\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?(?:,?\s+(?:of\s+|de\s+)?(?P<year>(?:19|20)\d\d)\b)?",
    re.IGNORECASE,
)
_ISO: Final = re.compile(r"\b((?:19|20)\d\d)-(\d{1,2})(?:-(\d{1,2}))?\b")
_DOTTED: Final = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.((?:19|20)\d\d)\b")
_IDEOGRAPHIC: Final = re.compile(r"(?:((?:19|20)\d\d)年)?(1[0-2]|[1-9])月(?:([12]\d|3[01]|[1-9])[日号])?")
_YEAR: Final = re.compile(r"(?<![\d.,-])((?:19|20)\d\d)(?![\d.,-]\d|\d)")
_VERBS: Final = frozenset({"may", "mar", "march", "mayo"})
"""Months that are words of another kind when they are written small."""
_RELATIVE: Final[Sequence[tuple[re.Pattern[str], int, int]]] = (
    (re.compile(r"\b(?:today|heute|hoy|сегодня)\b|今天|今日", re.IGNORECASE), 0, 0),
    (re.compile(r"\b(?:yesterday|gestern|ayer|вчера)\b|昨天|昨日", re.IGNORECASE), 1, 1),
    (re.compile(r"\b(?:last week|letzte woche|la semana pasada|на прошлой неделе)\b|上周|先週", re.IGNORECASE), 13, 3),
    (re.compile(r"\b(?:last month|letzten monat|el mes pasado|в прошлом месяце)\b|上个月|先月", re.IGNORECASE), 62, 15),
)
"""How many days ago the range begins and ends; people use these words loosely."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def names_in(text: str) -> Sequence[str]:
    """Every word and every two words that could be somebody's name, in lower case, without a possessive `'s`."""
    words = [re.sub(r"['’]s$", "", word.lower()) for word in _WORD.findall(text)][:MAX_NAMES]
    return list(dict.fromkeys([*words, *(f"{first} {last}" for first, last in pairwise(words))]))


def dates_in(text: str, *, today: date) -> Sequence[Days]:
    """The days that are named, as ranges: days, months and years in figures or words, and a few like `yesterday`."""
    named = [*_month_names(text, today), *_figures(text, today), *_relative(text, today)]
    if not named:
        named = [(date(int(year), 1, 1), date(int(year), 12, 31)) for year in _YEAR.findall(text)]
    return list(dict.fromkeys(named))[:MAX_DATES]


def _month_names(text: str, today: date) -> Iterator[Days]:
    for found in _NAMED.finditer(text):
        month = next(number for number in range(1, 13) if found[f"m{number}"])
        day, year = found["day"] or found["day_after"], found["year"]
        if day or year or found[f"m{month}"] not in _VERBS:
            yield from _days(year, month, day, today)


def _figures(text: str, today: date) -> Iterator[Days]:
    for year, month, day in _ISO.findall(text):
        yield from _days(year, int(month), day, today)
    for day, month, year in _DOTTED.findall(text):
        yield from _days(year, int(month), day, today)
    for year, month, day in _IDEOGRAPHIC.findall(text):
        yield from _days(year, int(month), day, today)


def _relative(text: str, today: date) -> Iterator[Days]:
    for words, begins, ends in _RELATIVE:
        if words.search(text):
            yield today - timedelta(begins), today - timedelta(ends)


def _days(year: str, month: int, day: str | None, today: date) -> Iterator[Days]:
    """A month or a day of it, in the year or in each of the last ones; nothing where the calendar has no such day."""
    years = [int(year)] if year else range(today.year, today.year - YEARS_BACK, -1)
    for one in years:
        try:
            first = date(one, month, int(day or 1))
        except ValueError:
            continue
        yield first, first if day else _last_of_month(first)


def _last_of_month(first: date) -> date:
    return (first + timedelta(31)).replace(day=1) - timedelta(1)
