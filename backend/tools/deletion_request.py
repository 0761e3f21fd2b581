"""Whether a person asks, in what they write now, that something be forgotten (S4).

The answer permits a deletion, it does not choose one: what is meant is for the model to tell. So a bare "forget it"
counts unless words beside it make it a "never mind", and what is in doubt does not count: the person can ask once more,
or delete on the page. What does not count:

- quotations, code, and material that the person wants translated, summarized or corrected;
- what others said, what should happen under a condition, and what is not to be forgotten;
- questions about forgetting ("can you forget things?"). A polite question with something definite in it is a request:
  "can you forget my address?";
- what is asked of something other than memory: a line, a file, a list, the last question.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from backend.tools.deletion_languages import LANGUAGES, Language

MAX_CHARS: Final = 20_000
"""Of a longer text only the beginning is read: it is hardly a request, and reading has to stay quick."""
MAX_SENTENCE_CHARS: Final = 1_000

_QUOTED: Final = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|``[^`]*``|`[^`\n]*`|<(?P<tag>blockquote|pre|code|q)\b.*?(?:</(?P=tag)>|\Z)|"
    r'"[^"]*"|“[^”“"]*[”“"]|„[^“”"]*(?:[“”"]|\Z)|«[^»]*(?:»|\Z)|‹[^›]*(?:›|\Z)|「[^」]*(?:」|\Z)|『[^』]*(?:』|\Z)|'
    r"《[^》]*(?:》|\Z)|(?<!\w)'[^'\n]{1,300}(?:'(?=\w)[^'\n]{1,300}){0,4}'(?!\w)",
    re.DOTALL | re.IGNORECASE,
)
_QUOTED_LINE: Final = re.compile(r"^[ \t]*(?:>|&gt;).*$|^(?: {4}|\t).*$", re.MULTILINE)
_MATERIAL: Final = re.compile(
    r"\b(?:translat|summari[sz]|proofread|paraphras|rewrite|rephrase|correct|explain|ubersetz|fass\b|korrigier|erklar|"
    r"traduc|traduz|traduis|resum|corrig|explica|explique|переве|перескаж|исправ|объясн)\w*[^:\n]{0,80}:.*|"
    r"(?:翻译|翻譯|总结|總結|解释|解釋|改写|润色)[^:：\n]{0,40}[:：].*",
    re.DOTALL,
)
_SENTENCE: Final = re.compile(r"(?P<said>[^.!?;\n。¿¡]+)(?P<end>[.!?;\n。]*)")
_CLAUSE_END: Final = re.compile(
    r"[,;:()、—–]|\s-+\s|\s(?:and|but|because|und|aber|weil|y|pero|porque|et|mais|car|и|но|а)\s"
)
_PLACEHOLDER: Final = " _ "
_ACCENTED: Final = re.compile(r"(?!é\b)[^\x00-\x7f]")
"""Without the last letter of "olvidé" and "oublié", which tell what has happened and ask for nothing."""

_HINT: Final = re.compile(
    r"forget|remember|delete|deleting|remov|eras|wipe|drop|clear|rid of|keep|stor|save|verg|los|loe|entf|streich|merk|"
    r"speicher|behalt|erinner|denk|olvid|borr|elimin|quit|suprim|record|recuerd|guard|memori|acuerd|oubli|effac|supprim|enlev|"
    r"retir|souvi|souven|retien|reten|enregistr|забы|забу|удал|сотри|стер|ст[её]р|стира|убр|убер|вычерк|запомин|помн|"
    r"хран|запис|忘|删|刪|清除|抹|去掉|记|記|存"
)
"""A sentence without any of these asks for nothing, and most are."""
_PLEASE: Final = re.compile(
    r"^[\s,]*(?:(?:please|bitte|por favor|s'il (?:te|vous) plait|stp|svp|пожалуйста)[\s,]+)+(?=\w)"  # codespell:ignore
)
_TAG: Final = re.compile(
    r"(?:\b(?:please|pls|ok|okay|alright|will you|would you|can you|could you|bitte|ja|vale|si|por favor|d'accord|"
    r"s'il (?:te|vous) plait)|пожалуйста|ладно|хорошо|好吗|好嗎|行吗|可以吗)\s*$"  # codespell:ignore
)


def asks_to_forget(text: str) -> bool:
    """Whether these words of a person ask, in one of the languages, that something remembered be deleted."""
    own = own_words(text[:MAX_CHARS])
    return any(
        _asks(language, said, own, question=question) for said, question in _sentences(own) for language in LANGUAGES
    )


def own_words(text: str) -> str:
    """The text in small letters without accents, and without what it quotes or only hands over to be worked on."""
    shown = _QUOTED.sub(_PLACEHOLDER, _QUOTED_LINE.sub(_PLACEHOLDER, unicodedata.normalize("NFKC", text)))
    plain = _ACCENTED.sub(_without_accent, shown.lower().replace("’", "'"))
    return _MATERIAL.sub(_PLACEHOLDER, plain)


def _without_accent(found: re.Match[str]) -> str:
    base = unicodedata.normalize("NFD", found[0])[0]
    return base if base.isascii() else found[0]


def _sentences(own: str) -> Iterator[tuple[str, bool]]:
    for sentence in _SENTENCE.finditer(own):
        if _HINT.search(sentence["said"]):
            yield sentence["said"].strip()[:MAX_SENTENCE_CHARS], "?" in sentence["end"]


def _asks(language: Language, said: str, own: str, *, question: bool) -> bool:
    return any(
        _counts(language, found, question=question) and not _is_never_mind(language, found, own)
        for request in language.requests
        for found in request.finditer(said)
    )


def _counts(language: Language, found: re.Match[str], *, question: bool) -> bool:
    what, named = _object(found)
    polite = found.groupdict().get("polite") is not None
    if language.no_request.search(found.string[: found.start("asked")]):
        return False
    if question and not polite and not _TAG.search(what):
        return False
    if language.stated.match(what):
        return True
    if language.negated.search(named):
        return False
    return language.pronoun.fullmatch(named) is not None or (
        language.ours.match(named) is not None
        and language.elsewhere.search(named) is None
        and not (polite and language.general.match(named))
    )


def _is_never_mind(language: Language, found: re.Match[str], own: str) -> bool:
    what, named = _object(found)
    bare = language.pronoun.fullmatch(named) is not None and not language.stated.match(what)
    return bare and language.never_mind.search(own) is not None


def _object(found: re.Match[str]) -> tuple[str, str]:
    """What is to be forgotten, to the end of the sentence and to the end of the clause."""
    what = _PLEASE.sub("", found["what"]).strip(" ,:")
    return what, _CLAUSE_END.split(what, maxsplit=1)[0].strip()
