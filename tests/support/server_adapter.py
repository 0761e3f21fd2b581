"""What `langgraph dev` puts before a checkpointer, reduced to what matters for reading messages back."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from backend.storage.langgraph_checkpointer import PostgresSaver


class ServerAdapter(BaseCheckpointSaver[Any]):
    """It passes on what it names. `aget_delta_channel_history` is not among that, so the base class's runs."""

    def __init__(self, inner: BaseCheckpointSaver[Any]) -> None:
        super().__init__(serde=inner.serde)
        self.inner = inner
        self.tuples_read = 0

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        self.tuples_read += 1
        return await self.inner.aget_tuple(config)

    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        async for found in self.inner.alist(config, **options):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self.inner.aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self.inner.aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await self.inner.adelete_thread(thread_id)

    async def adelete_for_runs(self, run_ids: Iterable[str]) -> None:
        await self.inner.adelete_for_runs(list(run_ids))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self.inner.acopy_thread(source_thread_id, target_thread_id)

    def get_next_version(self, current: Any, channel: None) -> Any:
        return self.inner.get_next_version(current, channel)


async def delete_thread(saver: BaseCheckpointSaver[Any], thread_id: str) -> None:
    """Have a thread deleted, and wait until it is: our saver only begins it."""
    await saver.adelete_thread(thread_id)
    inner = getattr(saver, "inner", saver)
    if isinstance(inner, PostgresSaver):
        await inner.settle()
