"""What people say about themselves: "my name is", "I live in", "I like"."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from backend.llm.messages import clip
from backend.llm.offline.blocks import without_quotations
from backend.llm.offline.words import words

MAX_VALUE_CHARS: Final = 100
MAX_NAME_WORDS: Final = 4
MAX_KEY_CHARS: Final = 40
NOTES: Final = "notes"
"""The profile key for what fits no other."""

CLAUSE: Final = (
    r"(?:^|[.!?;:,(\n]\s*|(?<!\w)(?:and|but|so|also|because|since|as|well|hi|hello|hey|there|ok|okay|yes|no|actually|"
    r"now|btw|by the way|und|y|et|и|\w+ly)\s+)"
)
"""Where a clause begins. Elsewhere the same words ask, suppose or belong to somebody else: "if I live in ..."."""
REMEMBER: Final = r"(?:(?:can|could|will|would) you |please )*(?:remember|note|keep in mind)(?: that|:| this:)?\s+"

SENTENCE_END: Final = re.compile(r"(?<!\bSt)(?<!\bDr)[.!](?=\s|$)")


@dataclass(frozen=True, slots=True)
class Statement:
    """One way of saying something about oneself."""

    words: str
    """What stands before the value, as alternatives of a regular expression."""
    key: str
    """The profile key; empty: made of the group `what` in `words`."""
    many: bool = False
    """Whether there may be several values, which are collected."""
    spaced: bool = True
    """Whether the language puts spaces between words."""


@dataclass(frozen=True, slots=True)
class Said:
    """A value for a profile key."""

    value: str
    many: bool = False


STATEMENTS: Final = (
    Statement(r"my name is|my name's|my name:|(?:i am|i'm) called|i go by", "name"),
    Statement(r"ich hei(?:ß|ss)e|mein name ist", "name"),  # codespell:ignore ist
    Statement(r"me llamo|mi nombre es|je m'appelle|mon nom est|меня зовут|мо[её] имя", "name"),
    Statement(r"(?:(?:you (?:can|may)|(?:can|could) you|just|please) )?call me", "name"),
    Statement(r"i (?:currently |now )?live in|(?:i'm|i am) (?:living|based) in|ich wohne in|ich lebe in", "city"),
    Statement(r"i(?:'ve| have)? (?:just |recently )?moved to|vivo en|j'habite à|я живу в", "city"),
    Statement(r"(?:i'm|i am|i come) from|ich komme aus|je viens de|soy de", "from"),
    Statement(r"i work as (?:an?|the)|i work as|my job is|i work in", "job"),
    Statement(r"i work (?:at|for)", "employer"),
    Statement(r"my birthday is(?: on)?|i was born on", "birthday"),
    Statement(r"my (?P<what>favou?rite \w+) is", ""),
    Statement(r"i (?:do not|don't|don’t) (?:really )?like|i (?:hate|dislike)", "dislikes", many=True),
    Statement(r"i (?:really |also |just )?(?:like|love|enjoy|adore)", "likes", many=True),
    Statement(r"我叫|我的名字是|私の名前は", "name", spaced=False),
    Statement(r"我住在", "city", spaced=False),
)

_PATTERNS: Final = tuple(
    re.compile(
        rf"(?P<start>{CLAUSE}(?:{REMEMBER})?)(?:{statement.words})\s+(?=(?P<value>[^;!?\n]{{1,200}}))"
        if statement.spaced
        else rf"(?P<start>)(?:{statement.words})\s*(?P<value>\w{{1,20}})",
        re.IGNORECASE,
    )
    for statement in STATEMENTS
)
_GREETED_AS: Final = re.compile(
    r"\s*(?i:hi|hello|hey)(?: there)?[,!. ]+(?i:i'm|i am|this is) (?P<value>[A-ZÀ-Þ][\w'’-]{1,40})\s*(?:[.!,]|$)"
)
_REPORTED: Final = re.compile(
    r"(?<!\w)(?:said|says|say|asked|asks|wrote|told \w+|thinks?|if|whether)[,:]\s*$", re.IGNORECASE
)
_END: Final = re.compile(
    r",|(?<!\bSt)(?<!\bDr)(?<!\bMr)(?<!\bMrs)\.(?:\s|$)|\s(?:and|but|because|so|since|which|though|"
    r"please|by the way|now|these days|at the moment|recently|last (?:year|month|week|spring|summer|autumn|winter)|"
    r"for \w+ (?:years?|months?)|und|et|y|и)(?!\w)",
    re.IGNORECASE,
)
_END_OF_MANY: Final = re.compile(
    r"\.(?:\s|$)|(?:,| and|, and) (?:i|i'm|my|we|you|what|what's|how|how's|can|could|please|tell|do|is|are|would|"
    r"where|when|who|it|that|this)(?!\w)|,? (?:but|because|since|when|if|though|so)(?!\w)",
    re.IGNORECASE,
)
_NO_VALUE: Final = words("not no what how it that this you your them these those him her is are me why when")
_NO_NAME: Final = words(
    "a an at to back later maybe tomorrow today tonight on in if up out asap anytime whenever old crazy lazy stupid"
)


def statements_in(text: str) -> dict[str, Said]:
    """What the writer says of themselves, by profile key; a later statement wins."""
    plain = without_quotations(text)
    greeted = _GREETED_AS.match(plain)
    found = {"name": Said(greeted["value"])} if greeted else {}
    for statement, pattern in zip(STATEMENTS, _PATTERNS, strict=True):
        for match in pattern.finditer(plain):
            value = _value(match["value"], statement)
            if value and not _REPORTED.search(plain[: match.end("start")]):
                found[statement.key or key_for(match["what"])] = Said(value, statement.many)
    return found


def key_for(label: str) -> str:
    """The profile key for words such as "favourite colour" or "dog's name"; `notes` if they make none."""
    plain = unicodedata.normalize("NFKD", label.lower().replace("'s", "").replace("’s", ""))
    key = re.sub(r"[^a-z0-9]+", "_", plain.encode("ascii", "ignore").decode()).strip("_")[:MAX_KEY_CHARS]
    return key if re.fullmatch(r"[a-z_][a-z0-9_]*", key) else NOTES


def first_part(text: str) -> str:
    """The text up to where something else begins."""
    return clip(_END.split(text, maxsplit=1)[0].strip(" .,'’:\""), MAX_VALUE_CHARS)


def _value(text: str, statement: Statement) -> str:
    value = _END_OF_MANY.split(text, maxsplit=1)[0].strip(" .,") if statement.many else first_part(text)
    said = value.lower().split()
    refused = _NO_VALUE | _NO_NAME if statement.key == "name" else _NO_VALUE
    if not said or said[0] in refused or (statement.key == "name" and len(said) > MAX_NAME_WORDS):
        return ""
    return clip(value, MAX_VALUE_CHARS)
