"""Lists of words, as sets and as patterns."""

import re


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def any_of(separated: str, unseparated: str = "") -> re.Pattern[str]:
    """Finds whole words; `unseparated` is for scripts that put no spaces between words, and is found anywhere.

    Both are alternatives of a regular expression; case is ignored.
    """
    whole = rf"(?<![\w-])(?:{separated})(?!\w)"
    return re.compile(f"{whole}|{unseparated}" if unseparated else whole, re.IGNORECASE)
