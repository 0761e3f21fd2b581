"""Which turns a pass compresses next, and which summaries count in a branch of a thread (S1)."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from langchain_core.messages import AIMessage, BaseMessage

from backend.llm.messages import human_positions, role_of, text_of
from backend.memory.summaries.record import SummaryRow


@dataclass(frozen=True, slots=True)
class Window:
    """Human turns `start` to `end`, 0-based, both included."""

    start: int
    end: int

    @property
    def turns(self) -> range:
        return range(self.start, self.end + 1)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The rows that count in a branch, in the order of its turns, and the last turn they cover; -1 for none."""

    rows: Sequence[SummaryRow]
    end: int


def next_window(*, human_count: int, keep_recent: int, covered_end: int) -> Window | None:
    """The window to compress now: right behind what is covered, the largest multiple of `keep_recent` turns.

    None while fewer than `keep_recent` turns are uncompressed, or when it is below 1.
    """
    uncompressed = human_count - (covered_end + 1)
    if keep_recent < 1 or uncompressed < keep_recent:
        return None
    return Window(covered_end + 1, covered_end + uncompressed // keep_recent * keep_recent)


def covered_end(rows: Sequence[SummaryRow], human_ids: Sequence[str | None]) -> int:
    """The last turn that rows of this branch cover without a gap from turn 0; -1 for none."""
    return coverage(rows, human_ids).end


def coverage(
    rows: Sequence[SummaryRow],
    human_ids: Sequence[str | None],
    *,
    fenced: Sequence[str] = (),
    digest_of: Callable[[Window], str] | None = None,
) -> Coverage:
    """What counts in the branch whose human messages have these ids, in order.

    A row counts only while its ids are the branch's at its indices (and, with `digest_of`, while what it was made from
    still reads the same), and while rows before it reach up to it from turn 0. The first turns need no row while their
    ids are in `fenced`: their summaries were removed for good.
    """
    applicable = [row for row in rows if _is_of_branch(row, human_ids, digest_of)]
    end = _fenced_end(fenced, human_ids)
    counting = list(_reaching_on(applicable, end))
    return Coverage(counting, counting[-1].end_message_index if counting else end)


def _reaching_on(rows: Sequence[SummaryRow], end: int) -> Iterator[SummaryRow]:
    """From the turn behind `end` on, each time the row that reaches farthest without a gap."""
    waiting = deque(sorted(rows, key=lambda row: row.start_message_index))
    seen: list[SummaryRow] = []
    while True:
        while waiting and waiting[0].start_message_index <= end + 1:
            seen = [max([*seen, waiting.popleft()], key=_reach)]
        if not seen or seen[0].end_message_index <= end:
            return
        yield seen[0]
        end = seen[0].end_message_index


def _reach(row: SummaryRow) -> tuple[int, int, int]:
    return row.end_message_index, row.start_message_index, row.sequence


def complete_turns(messages: Sequence[BaseMessage]) -> int:
    """How many leading turns can be compressed: all that were followed by another, and the last once it is answered.

    Answered means: words of the assistant, without a call, behind the last tool result. An earlier turn that was
    cancelled gets no answer any more and must not hold up the others.
    """
    positions = human_positions(messages)
    if not positions:
        return 0
    behind_results = takewhile(lambda message: role_of(message) != "tool", reversed(messages[positions[-1] :]))
    answered = any(_is_answer(message) for message in behind_results)
    return len(positions) if answered else len(positions) - 1


def _is_answer(message: BaseMessage) -> bool:
    calls = isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls)
    return role_of(message) == "ai" and not calls and bool(text_of(message).strip())


def _is_of_branch(row: SummaryRow, human_ids: Sequence[str | None], digest_of: Callable[[Window], str] | None) -> bool:
    window = Window(row.start_message_index, row.end_message_index)
    if not row.message_ids or row.message_ids != list(human_ids[window.start : window.end + 1]):
        return False
    if len(row.message_ids) != len(window.turns):
        return False
    return digest_of is None or row.excerpt_digest is None or row.excerpt_digest == digest_of(window)


def _fenced_end(fenced: Sequence[str], human_ids: Sequence[str | None]) -> int:
    known = set(fenced)
    return sum(1 for _ in takewhile(known.__contains__, human_ids)) - 1
