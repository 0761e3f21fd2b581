"""The profile of one user: read through the cache, changed under the scope's lock (S1)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from langgraph.store.base import BaseStore

from backend.errors import NotFound
from backend.ids import Json, UserId
from backend.memory.exclusive import ExclusiveWrites
from backend.memory.profile.merge import check_size, filled_keys, merge, store_only
from backend.memory.profile.patch import ProfilePatch, apply_patches
from backend.memory.profile.record import Document, SavedProfile, StoredProfile, read_stored
from backend.memory.recall_cache import RecallCache
from backend.memory.scope import profile_namespace

log = structlog.stdlib.get_logger(__name__)

KEY: Final = "main"
UNREADABLE_KEY: Final = "unreadable"
"""A document that is no object is set aside here before another takes its place: nothing is lost unnoticed."""


class Overlays(Protocol):
    """What accounts say about users."""

    async def overlay(self, user_id: UserId) -> Mapping[str, Json]: ...


@dataclass(frozen=True, slots=True)
class ProfileView:
    """The merged profile, and which of its keys were saved and which only the account fills."""

    memory: Document
    store_keys: Sequence[str]
    overlay_keys: Sequence[str]


ProfileCache = RecallCache[str, ProfileView]


@dataclass(frozen=True, slots=True)
class Profile:
    """Reads and changes raise StorageUnavailable when the database does not answer."""

    user_id: UserId
    store: BaseStore
    overlays: Overlays
    writes: ExclusiveWrites
    cache: ProfileCache
    max_bytes: int

    async def view(self) -> ProfileView:
        """The profile as prompt and page show it; a warm read asks nothing."""
        return await self.cache.get(self.user_id, KEY, self._load)

    async def save(self, patches: Sequence[ProfilePatch]) -> SavedProfile:
        """Carry out all patches on the merged view, or none.

        Raises:
            PatchFailed: a patch does not fit the view.
            ProfileTooLarge: the stored document would be over its limit.
        """
        async with self.writes.of(self.user_id):
            stored, overlay = await self._read()
            before = merge(stored.document, overlay)
            after, applied = apply_patches(before, patches, from_account=filled_keys(stored.document, overlay))
            document = store_only(after, stored.document, applied)
            size = check_size(document, stored=stored.document, maximum_bytes=self.max_bytes)
            await self._write(document, replaced=stored)
        return SavedProfile(
            bytes=size, key_count=len(document), before=before, after=merge(document, overlay), patches=applied
        )

    async def remove(self, key: str) -> None:
        """Remove one stored key; what the account says then shows again.

        Raises:
            NotFound: the key is not stored, or comes from the account.
        """
        async with self.writes.of(self.user_id):
            stored, _ = await self._read()
            if key not in stored.document:
                raise NotFound(f"nothing is saved under {key!r}")
            await self._write({name: value for name, value in stored.document.items() if name != key}, replaced=stored)

    async def erase(self) -> int:
        """Remove the whole stored profile; how many keys it had."""
        async with self.writes.of(self.user_id):
            stored, _ = await self._read()
            for key in (KEY, UNREADABLE_KEY):
                await self.store.adelete(profile_namespace(self.user_id), key)
        return len(stored.document)

    async def _load(self) -> ProfileView:
        stored, overlay = await self._read()
        return ProfileView(
            memory=merge(stored.document, overlay),
            store_keys=list(stored.document),
            overlay_keys=filled_keys(stored.document, overlay),
        )

    async def _read(self) -> tuple[StoredProfile, Document]:
        item, overlay = await asyncio.gather(
            self.store.aget(profile_namespace(self.user_id), KEY), self.overlays.overlay(self.user_id)
        )
        stored = read_stored(item.value if item else None)
        if not stored.readable:
            log.warning("profile_unreadable", user_id=self.user_id)
        return stored, overlay

    async def _write(self, document: Document, *, replaced: StoredProfile) -> None:
        namespace = profile_namespace(self.user_id)
        if not replaced.readable:
            item = await self.store.aget(namespace, KEY)
            await self.store.aput(namespace, UNREADABLE_KEY, {"document": item.value if item else None}, index=False)
        await self.store.aput(namespace, KEY, dict(document), index=False)
