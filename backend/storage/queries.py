"""SQL lives in `sql/*.sql`, one file a subject; every statement in it has a name.

-- name: find_account
SELECT name, email FROM accounts WHERE scope = %(scope)s
"""

import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Final

NAME: Final = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def load_queries(subject: str) -> Mapping[str, bytes]:
    """The statements of `sql/<subject>.sql` by name, as what the driver executes with named parameters.

    Reads a file, so call it at import and keep the result.

    Raises:
        ValueError: the file has text before its first name, a name twice, or a name without a statement.
    """
    return parse_queries(files("backend.storage").joinpath("sql", f"{subject}.sql").read_text(encoding="utf-8"))


def parse_queries(text: str) -> Mapping[str, bytes]:
    """As `load_queries`, from the text of a file."""
    preamble, *parts = NAME.split(text)
    if preamble.strip():
        raise ValueError(f"SQL without a name: {preamble.strip()[:60]}")
    queries: dict[str, bytes] = {}
    for name, statement in zip(parts[::2], parts[1::2], strict=True):
        if name in queries or not statement.strip():
            raise ValueError(f"the name {name} is used twice or has no statement")
        queries[name] = statement.strip().encode()
    return MappingProxyType(queries)
