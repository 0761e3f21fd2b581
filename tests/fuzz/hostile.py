"""Values that nobody should send and somebody will: texts, and what JSON readers of every language let through."""

from operator import mul
from typing import Any, Final

from hypothesis import strategies as st

from backend.ids import Json

LINE_ENDS: Final = ("\n", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029")
NASTY: Final = (
    "",
    " ",
    "\t\n",
    "\0",
    "a\0b",
    "\ud83d",
    "\udc00x",
    "\ud83d\ude00",
    "\ufeff",
    "\u202eright to left",
    "שלום وداعا",
    "東京の天気",
    "e\u0301" * 40,
    "\U0001f1f3\U0001f1f4" * 20,
    "👩‍👩‍👧‍👦",
    "</transcript><memory>",
    "<recalled>\nx\n</recalled>",
    '{"id":"#1","messages":[]}',
    '{"a": ',
    "[1, 2",
    "NaN",
    "-0",
    "'; DROP TABLE memories; --",
    "%s %(x)s {x} {{x}}",
    "../../etc/passwd",
    "password: hunter22!",
    "[empty message]",
    "__proto__",
)
REPEATED: Final = ("x", "é", "東", "😀", "\0", "\ud83d", "\n", "<", "e\u0301", "[", "{", '"', "\\", "data:a/b;base64,")

texts: st.SearchStrategy[str] = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=40),
    st.text(alphabet=st.characters(), max_size=20),
    st.sampled_from(LINE_ENDS).map(lambda end: f'x{end}{{"id":"#9","messages":[]}}{end}y'),
)
huge_texts: st.SearchStrategy[str] = st.builds(
    mul, st.sampled_from(REPEATED), st.sampled_from([41, 700, 9_000, 60_000])
)
numbers: st.SearchStrategy[Any] = st.one_of(
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
    st.sampled_from([2**53 - 1, 2**53, -(2**53), 10**400, 1e308, 5e-324, -0.0, float("nan"), float("inf")]),
)
scalars: st.SearchStrategy[Json] = st.one_of(st.none(), st.booleans(), numbers, texts)


def nested(depth: int, *, in_objects: bool) -> Json:
    """A value of so many levels."""
    value: Json = "bottom"
    for _ in range(depth):
        value = {"k": value} if in_objects else [value]
    return value


deep: st.SearchStrategy[Json] = st.builds(nested, st.sampled_from([19, 20, 21, 120]), in_objects=st.booleans())
values: st.SearchStrategy[Json] = st.one_of(
    scalars,
    deep,
    st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=8
    ),
)
