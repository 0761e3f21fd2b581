"""What of a conversation is sent in one model call: cut at a turn, and repaired so that every provider accepts it.

Only copies are changed; the state keeps every message as it came (S1).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from backend.chat.sendable import Call, Exchange, Reference, as_sent, call_of, result_as_sent, without_calls_in_content
from backend.llm.messages import human_positions, is_framework_made, is_human_turn, role_of

MAX_MESSAGE_CHARS: Final = 50_000
"""Longer text in one message is cut: about 12,000 tokens of English, so that one tool result cannot fill a context."""
INTERRUPTED: Final = "interrupted: this call was cut off before it gave a result"
UNPARSED: Final = "not run: the arguments of this call were not valid JSON"


def cut_turn(*, human_count: int, covered_end: int, buffer_turns: int) -> int:
    """The turn (0-based) from which a call sends the messages themselves; summaries stand for what lies before.

    `covered_end` is the last turn that summaries cover, -1 for none. The newest `buffer_turns` turns are always sent,
    and so is the current one. The cut stays where it is until summaries cover more: it is that of the first turn
    behind them, so that calls in between begin alike (see decision 0013).
    """
    first_behind = min(human_count, covered_end + 2)
    wanted = min(covered_end + 1, first_behind - buffer_turns)
    return max(0, min(wanted, human_count - 1))


def trim_for_call(
    messages: Sequence[BaseMessage], *, first_turn: int = 0, max_message_chars: int = MAX_MESSAGE_CHARS
) -> list[BaseMessage]:
    """The messages to send after the one system message, from turn `first_turn` (0-based) on, in copies.

    Any integer is safe: below 0 is the whole conversation, past the end is the current turn. The list starts with a
    human message and is empty only if there is none. Each tool call is followed directly by its one result, which is
    made up where the run was interrupted; text beyond `max_message_chars` characters of one message is cut with a
    marker. Human messages that the framework made are sent too.
    """
    exchanges: list[Exchange] = []
    waiting = _WaitingCalls()
    for message in messages[_first_position(messages, first_turn) :]:
        if is_human_turn(message):
            waiting = _WaitingCalls()
        if role_of(message) == "tool":
            waiting.answer(message, max_message_chars)
        elif exchange := as_sent(message, max_chars=max_message_chars):
            exchanges.append(exchange)
            waiting.add(exchange)
    ids = _CallIds()
    return [sent for exchange in exchanges for sent in _flat(exchange, ids)]


def _first_position(messages: Sequence[BaseMessage], first_turn: int) -> int:
    """Where the cut falls, with what the framework put directly before that turn."""
    turns = human_positions(messages)
    if not turns or first_turn <= 0:
        return next((i for i, message in enumerate(messages) if role_of(message) == "human"), len(messages))
    start = turns[min(first_turn, len(turns) - 1)]
    while start > 0 and role_of(messages[start - 1]) == "human" and is_framework_made(messages[start - 1]):
        start -= 1
    return start


class _WaitingCalls:
    """Calls of one turn without a result yet, by what results know of them, the nearest last.

    Of one turn only, because some models count their call ids from zero in every turn.
    """

    def __init__(self) -> None:
        self._places: defaultdict[Reference, list[tuple[Exchange, int]]] = defaultdict(list)

    def add(self, exchange: Exchange) -> None:
        for position, call in reversed(list(enumerate(exchange.calls))):
            for reference in call.known_as:
                self._places[reference].append((exchange, position))

    def answer(self, result: BaseMessage, max_chars: int) -> None:
        """Give a result to the nearest call before it that it fits and that has none; other results are not sent."""
        places = self._places[call_of(result)]
        while places:
            exchange, position = places.pop()
            if position not in exchange.results:
                exchange.results[position] = result_as_sent(result, max_chars=max_chars)
                return


class _CallIds:
    """Ids that are unique in what is sent: a provider's own where it can be kept, else numbered in order."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next = 0

    def for_call(self, call: Call) -> str:
        wanted, self._next = call.asked_as, max(self._next, len(self._used))
        while not wanted or wanted in self._used:
            wanted, self._next = f"call_{self._next}", self._next + 1
        self._used.add(wanted)
        return wanted


def _flat(exchange: Exchange, ids: _CallIds) -> Iterator[BaseMessage]:
    message = exchange.message
    if not isinstance(message, AIMessage) or not exchange.calls:
        yield message
        return
    call_ids = [ids.for_call(call) for call in exchange.calls]
    sent = [call.as_tool_call(id_) for call, id_ in zip(exchange.calls, call_ids, strict=True)]
    content = message.content if sent == message.tool_calls else without_calls_in_content(message)
    yield message.model_copy(update={"content": content, "tool_calls": sent, "invalid_tool_calls": []})
    for position, call in enumerate(exchange.calls):
        result = exchange.results.get(position) or _made_up_result(call)
        yield result.model_copy(update={"tool_call_id": call_ids[position], "name": call.name})


def _made_up_result(call: Call) -> ToolMessage:
    return ToolMessage(INTERRUPTED if call.parsed else UNPARSED, tool_call_id="", status="error")
