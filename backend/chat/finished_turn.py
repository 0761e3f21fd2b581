"""A finished turn in words, as the background graph is given it."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, cast

from langchain_core.messages import BaseMessage
from pydantic import AwareDatetime, BaseModel, ConfigDict, TypeAdapter, ValidationError

from backend.ids import Json, ThreadId, UserId
from backend.llm.content import parts_of
from backend.llm.messages import human_ids, human_positions, is_framework_made, is_human_turn, role_of, text_of
from backend.memory.episodes import MAX_ASSISTANT_CHARS, MAX_USER_CHARS
from backend.memory.redaction import shortened

HANDED_OVER_AGAIN: Final = 2
"""So many turns before the newest go to the background once more: a server that was killed forgets its runs."""

UUID_TEXT: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
THOUGHTS: Final = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL | re.IGNORECASE)


class HandedOver(BaseModel):
    """What a thread's state keeps of a turn that was handed over, to hand it over again just as it was."""

    model_config = ConfigDict(frozen=True)

    thread_id: ThreadId
    """A copy of the thread has these turns too, and they are not its own."""
    user_id: UserId
    message_ids: list[str]
    finished_at: AwareDatetime
    digest: str
    """Of its words: a turn that was edited since is another."""


_HANDED_OVER: Final = TypeAdapter(list[HandedOver])


def finished_turn(messages: Sequence[BaseMessage], thread_id: ThreadId, finished_at: datetime) -> dict[str, Json]:
    """The input of `background_agent`: which turn it is, and its two sides in words (S0's caps)."""
    positions = human_positions(messages)
    turn = _newest(messages, positions)
    recalled = recalled_ids(turn)
    return {
        "thread_id": thread_id,
        "message_ids": [message.id for message in turn],
        "human_count": len(positions),
        **_sides(turn),
        "finished_at": finished_at.isoformat(),
        **({"recalled_ids": recalled} if recalled else {}),
    }


def handed_over_in(state: object) -> list[HandedOver]:
    """What a thread's state keeps, into which a client may have put anything; what cannot be read is passed over."""
    try:
        return _HANDED_OVER.validate_python(state)[-HANDED_OVER_AGAIN:]
    except ValidationError:
        return []


def as_before(turn: Mapping[str, Json], before: Iterable[HandedOver]) -> Mapping[str, Json]:
    """The turn, which was finished when it was handed over first: what was erased since then stays so."""
    known = (one.finished_at.isoformat() for one in before if one.message_ids == turn["message_ids"])
    return {**turn, "finished_at": next(known, turn["finished_at"])}


def was_edited(messages: Sequence[BaseMessage], before: Iterable[HandedOver]) -> bool:
    """Whether the newest turn was handed over with other words than it has now."""
    turn = _newest(messages, human_positions(messages))
    ids = [message.id for message in turn]
    return any(one.message_ids == ids and one.digest != _digest(_sides(turn)) for one in before)


def and_this(before: Sequence[HandedOver], turn: Mapping[str, Json], user_id: UserId | None) -> list[dict[str, Json]]:
    """What the state keeps for the next turn: this one, as `finished_turn` gave it, and some before; nobody's not."""
    others = [one for one in before if one.message_ids != turn["message_ids"]]
    this = handed_over_in([{**turn, "user_id": user_id, "digest": _digest(turn)}]) if user_id else []
    return [one.model_dump(mode="json") for one in [*others, *this][-HANDED_OVER_AGAIN:]]


def earlier_turns(
    messages: Sequence[BaseMessage], before: Iterable[HandedOver], turn: Mapping[str, Json], user_id: UserId | None
) -> list[dict[str, Json]]:
    """Those of the turns before this one that are its thread's and this user's and still as they were, in words.

    A client may have written what the state says of them, so nothing but their time is taken from there.
    """
    by_id = {message.id: message for message in messages}
    count_at = {one: count for count, one in enumerate(human_ids(messages), start=1)}
    found: list[dict[str, Json]] = []
    for one in before:
        said = [by_id[message_id] for message_id in one.message_ids if message_id in by_id]
        count = next((count_at[message.id] for message in said if message.id in count_at), 0)
        is_theirs = (one.thread_id, one.user_id) == (turn["thread_id"], user_id)
        is_before = one.message_ids != turn["message_ids"] and count
        if is_theirs and is_before and one.digest == _digest(words := _sides(said)):
            at = one.finished_at.isoformat()
            found.append({"message_ids": one.message_ids, "human_count": count, "finished_at": at, **words})
    return found


def _newest(messages: Sequence[BaseMessage], positions: Sequence[int]) -> Sequence[BaseMessage]:
    return messages[positions[-1] :] if positions else ()


def _sides(turn: Sequence[BaseMessage]) -> dict[str, Json]:
    return {
        "user_text": words_of([message for message in turn if is_human_turn(message)], MAX_USER_CHARS),
        "assistant_text": words_of([message for message in turn if _is_answer(message)], MAX_ASSISTANT_CHARS),
    }


def _digest(sides: Mapping[str, Json]) -> str:
    text = f"{sides['user_text']}\0{sides['assistant_text']}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def words_of(messages: Sequence[BaseMessage], limit: int) -> str:
    """What these messages say, redacted, in at most `limit` characters; empty when nothing is said in words."""
    if not any(map(_has_words, messages)):
        return ""
    said = [_without_thoughts(text_of(message)) for message in messages]
    text = "\n".join(one for one in said if one.strip())
    return shortened(text, limit)


def recalled_ids(turn: Sequence[BaseMessage]) -> list[str]:
    """The facts and episodes that the answers of a turn were given, as their receipts tell; each once."""
    found = [one for message in turn if role_of(message) == "ai" for one in _ids_in_receipt(message)]
    return list(dict.fromkeys(found))


def _ids_in_receipt(message: BaseMessage) -> list[str]:
    """Receipts come back from the thread, into which a client may have put anything."""
    receipt: object = message.response_metadata
    for key in ("memory", "recalled", "ids"):
        receipt = cast("Mapping[str, object]", receipt).get(key) if isinstance(receipt, Mapping) else None
    ids = cast("list[object]", receipt) if isinstance(receipt, list) else []
    return [one for one in ids if isinstance(one, str) and UUID_TEXT.fullmatch(one)]


def _is_answer(message: BaseMessage) -> bool:
    return role_of(message) == "ai" and not is_framework_made(message)


def _has_words(message: BaseMessage) -> bool:
    """Whether anything is said, and not only shown: an image or a file has a marker, but no words."""
    parts = parts_of(message.content)
    return any(spoken and text.strip() for spoken, text in parts) if parts else bool(text_of(message).strip())


def _without_thoughts(text: str) -> str:
    """Some models think aloud before they answer, in a tag of their own."""
    return THOUGHTS.sub("", text)
