"""The server as the graphs see it, without a server: threads' metadata, and the background runs that were started."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage

from backend.errors import NotFound, ServerUnavailable
from backend.ids import Json, ThreadId, UserId


@dataclass
class RecordedServer:
    """Keeps what it is told. `down` makes it fail as a server does that cannot be reached."""

    metadata: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    started: list[tuple[UserId | None, dict[str, Json]]] = field(
        default_factory=list[tuple[UserId | None, dict[str, Json]]]
    )
    messages: dict[str, Sequence[BaseMessage]] = field(default_factory=dict[str, Sequence[BaseMessage]])
    """What the threads' latest states hold."""
    stopped: list[tuple[ThreadId, str | None]] = field(default_factory=list[tuple[ThreadId, str | None]])
    """Threads whose runs were stopped, and in whose name."""
    down: bool = False

    async def thread_metadata(self, thread_id: ThreadId, *, user_id: UserId | None) -> Mapping[str, Json]:
        self._answer()
        if thread_id not in self.metadata:
            raise NotFound
        return dict(self.metadata[thread_id])

    async def update_thread_metadata(
        self, thread_id: ThreadId, changes: Mapping[str, Json], *, user_id: UserId | None
    ) -> None:
        self._answer()
        if thread_id not in self.metadata:
            raise NotFound
        self.metadata[thread_id].update(changes)

    async def thread_messages(self, thread_id: ThreadId, *, user_id: UserId | None) -> Sequence[BaseMessage]:
        self._answer()
        if thread_id not in self.metadata:
            raise NotFound
        return self.messages.get(thread_id, [])

    async def thread_titles(self, thread_ids: Iterable[ThreadId], *, user_id: UserId | None) -> Mapping[ThreadId, str]:
        self._answer()
        named = {thread_id: self.metadata.get(thread_id, {}).get("title") for thread_id in thread_ids}
        return {thread_id: title for thread_id, title in named.items() if isinstance(title, str)}

    async def threads_of(self, user_id: UserId) -> Sequence[ThreadId]:
        self._answer()
        return [ThreadId(thread_id) for thread_id in self.metadata]

    async def delete_thread(self, thread_id: ThreadId, *, user_id: UserId | None) -> None:
        self._answer()
        if self.metadata.pop(thread_id, None) is None:
            raise NotFound

    async def stop_runs(self, thread_id: ThreadId, *, authorization: str | None) -> int:
        self._answer()
        if thread_id not in self.metadata:
            raise NotFound
        self.stopped.append((thread_id, authorization))
        return 0

    async def start_background_run(self, turn: Mapping[str, Json], *, user_id: UserId | None) -> None:
        self._answer()
        self.started.append((user_id, dict(turn)))

    def _answer(self) -> None:
        if self.down:
            raise ServerUnavailable
