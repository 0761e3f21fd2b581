"""When two facts say the same: case, spaces and the way a character is composed make no difference."""

import hashlib
import unicodedata
from collections.abc import Iterable

from backend.ids import MemoryId
from backend.memory.facts.record import Fact


def folded(content: str) -> str:
    """What two texts that say the same have in common; folding twice changes nothing."""
    return " ".join(_composed(_composed(content).casefold()).split())


def content_hash(content: str) -> bytes:
    """Equal for texts that say the same."""
    return hashlib.sha256(folded(content).encode("utf-8", "surrogatepass")).digest()


def _composed(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def same_text(facts: Iterable[Fact], content: str, *, but: MemoryId | None = None) -> Fact | None:
    """The fact, other than the one named, that says this already."""
    wanted = folded(content)
    return next((fact for fact in facts if fact.id != but and folded(fact.content) == wanted), None)


def same_key(facts: Iterable[Fact], key: str | None, *, but: MemoryId | None = None) -> Fact | None:
    """The fact, other than the one named, that is kept under this key."""
    return next((fact for fact in facts if key is not None and fact.id != but and fact.key == key), None)
