"""The place and the days that a question about the weather names."""

import re
from typing import Final

from backend.llm.offline.words import words

MAX_DAYS: Final = 7
MAX_NAME_WORDS: Final = 5

_WHEN: Final = (
    r"(?:right )?now|today|tonight|tomorrow|(?:the )?day after(?: tomorrow)?|currently|at the moment|outside|please|"
    r"like|(?:(?:this|next|the|over the|for the|on the) )?(?:coming )?(?:week|weekend|morning|afternoon|evening|night)|"
    r"(?:the )?(?:next|coming) (?:few |\d+ |two |three |five )?days?|\d+ days?|"
    r"(?:(?:on|next|this) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"heute|morgen|übermorgen|aujourd'hui|demain|hoy|mañana|сегодня|завтра"
)
_NAME: Final = r"[^\W\d_][^?!;\n\"]{0,80}"
_WEATHER: Final = r"(?:weather|forecast|wetter|météo|погода)(?!\w)"
_JUDGED: Final = r"(?:nice|good|bad|lovely|great|fine|terrible|local|current|the)\s"
_PATTERNS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<place>[\u3400-\u9fff]{2,8}?)(?:今天|明天|后天|現在|现在)?[的の]?(?:天气|天氣|气温|天気)",
        rf"(?<!\w)(?:in|for|at|near|around|of|about|à|en|в|во)\s+(?=(?P<place>{_NAME}))",
        rf"(?<!\w){_WEATHER}\s*[:,]?\s+(?P<place>{_NAME})",
        rf"(?<!\w)(?!{_JUDGED})(?P<place>[^\W\d_][\w'’.-]*(?:\s+[\w'’.-]+){{0,3}}?)\s+{_WEATHER}",
    )
)
_TIME_AT_END: Final = re.compile(
    rf"(?:^|[\s,]+)(?:(?:is|be|looking|look|going|for|in|on|over|and|or)\s+)*(?:{_WHEN})\s*$", re.IGNORECASE
)
_NO_PLACE: Final = words(
    "a an and any be can check do does few for general get give going hello here hi how i is it its it's me my next "
    "please rain rainy show snow sunny tell that there this today tomorrow tonight us weather what what's will "
    "whats "  # codespell:ignore
    "you your about city like temperature forecast umbrella need see want know"
)
_SMALL_TALK: Final = words(
    "thanks thank ok okay yes no nope yep hello hi hey bye goodbye good great cool nice fine wow sure please who what "
    "where when why how which is are do does did can could help stop danke merci gracias sorry never mind nothing"
)
_LEAD: Final = re.compile(r"\s*(?:and|also|what about|how about|or|und|et|y|а|и|in|for)\s+", re.IGNORECASE)
_BARE_NAME: Final = re.compile(r"\s*[^\W\d_]+(?:[ ,.'’-]{1,3}[^\W\d_]+){0,2}\s*[.!]?\s*")
_END: Final = re.compile(r"(?<!\bSt)\.(?:\s|$)|\s(?:and|but|because|then|if)\s")
_DAYS: Final = (
    (re.compile(r"day after|übermorgen|послезавтра|后天|明後日", re.IGNORECASE), 3),
    (re.compile(r"\b(?:week|weekend|next (?:few )?days)\b|woche|semaine|semana|недел", re.IGNORECASE), MAX_DAYS),
    (re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE), MAX_DAYS),
    (re.compile(r"\b(?:tomorrow|morgen|demain|mañana|завтра)\b|明天|明日", re.IGNORECASE), 2),
)


def place_in(text: str) -> str | None:
    """The place that a question about the weather names, as it was written."""
    found = (_as_place(match["place"]) for pattern in _PATTERNS for match in pattern.finditer(text))
    return next((place for place in found if place), None)


def place_in_follow_up(text: str) -> str | None:
    """The place in "and in Bergen?" or in a bare "Bergen"; None in "and tomorrow?"."""
    return place_in(text) or _as_place(_LEAD.sub("", text, count=1))


def is_bare_name(text: str) -> bool:
    """Whether a message may be nothing but the name of a place."""
    return _BARE_NAME.fullmatch(text) is not None and not _SMALL_TALK & set(re.findall(r"\w+", text.casefold()))


def days_in(text: str) -> int:
    """How many days, today included, a question looks ahead; 1 to 7."""
    if named := re.search(r"(?<!\w)(\d{1,2})[ -]days?(?!\w)", text):
        return min(max(int(named[1]), 1), MAX_DAYS)
    return next((days for pattern, days in _DAYS if pattern.search(text)), 1)


def _as_place(text: str) -> str | None:
    place = _END.split(text, maxsplit=1)[0].strip(" ,.?!'’")
    while cut := _TIME_AT_END.search(place):
        place = place[: cut.start()].strip(" ,.")
    named = place.casefold().split()
    if named in ([], ["the"]) or len(named) > MAX_NAME_WORDS or _NO_PLACE & set(named):
        return None
    return place
