"""A title for a conversation: the first words of what the user wrote."""

import re
from typing import Final

from backend.llm.messages import clip
from backend.llm.offline.blocks import find_blocks, without_blocks, without_tags

MAX_TITLE_WORDS: Final = 6
MAX_TITLE_CHARS: Final = 60
MAX_READ_CHARS: Final = 2_000

_OPENING: Final = re.compile(
    r"\s*(?:(?:hi|hello|hey)(?: there)?[,!.]\s+|please\s+|(?:can|could) you (?:please )?tell me (?:about )?|"
    r"(?:can|could|would|will) you (?:please )?|tell me (?:about )?|i(?:'d| would) like to (?:know )?|i want to |"
    r"(?:what(?:'s| is)|how(?:'s| is)) (?=\w)|(?:the|a|an) (?=\w))",
    re.IGNORECASE,
)
_END: Final = re.compile(r"[\n。！？]|[.!?;](?=\s|$)")
_MARKUP: Final = re.compile(r"[`*_#>|~]+")


def make_title(text: str) -> str:
    """At most six words and 60 characters of a message; empty if it has no words."""
    shown = without_blocks(text) or " ".join(block.inside for block in find_blocks(text))
    plain = _MARKUP.sub(" ", without_tags(shown[:MAX_READ_CHARS])).strip()
    subject = plain
    while opening := _OPENING.match(subject):
        subject = subject[opening.end() :]
    return _titled(subject) or _titled(plain)


def _titled(text: str) -> str:
    sentence = next((part for part in _END.split(text) if re.search(r"\w", part)), "")
    title = " ".join(sentence.split()[:MAX_TITLE_WORDS]).strip(" ,.:;!?\"'“”«»-")
    return clip(title[:1].upper() + title[1:], MAX_TITLE_CHARS)
