"""Patches of the profile as the tool takes them, in few words."""

from backend.memory.profile.patch import ProfilePatch


def add(key: str, value: object) -> ProfilePatch:
    return ProfilePatch.model_validate({"op": "add", "path": f"/{key}", "value": value})


def replace(key: str, value: object) -> ProfilePatch:
    return ProfilePatch.model_validate({"op": "replace", "path": f"/{key}", "value": value})


def remove(key: str) -> ProfilePatch:
    return ProfilePatch.model_validate({"op": "remove", "path": f"/{key}"})
