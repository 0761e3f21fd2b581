"""User ids that mean something to a store, to SQL or to each other, and must mean nothing but the user."""

from typing import Final

AWKWARD_IDS: Final = [
    *("u1", "u10", "u_1", "uX1", "%", "_", "*", "**", "\\", "'", '"', "=", "=5F", "u=5F1"),
    *("a.b", "a_b", "a%2Eb", "a=2Eb", ".", "..", "a b", "a\nb", "a\tb", "a/b", "a:b", "~", "\x7f"),
    *("langgraph", "langgraph.", "Langgraph", "=6Canggraph", "memory", "threads", "ana.lopez@example.org", "42"),
    *("José", "Jose\N{COMBINING ACUTE ACCENT}", "東京", "\N{GRINNING FACE}"),
]
