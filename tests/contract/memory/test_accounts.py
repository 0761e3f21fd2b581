"""What sign-ins said of users: `AccountRows` and its double."""

import asyncio

import pytest

from backend.ids import UserId
from tests.support.memory_homes import Process
from tests.support.user_ids import AWKWARD_IDS

pytestmark = pytest.mark.anyio

ANA, BEN = UserId("ana"), UserId("ben")


async def test_a_user_who_never_signed_in_has_no_overlay(process: Process) -> None:
    assert await process.accounts.overlay(ANA) == {}


async def test_the_overlay_is_what_the_latest_sign_in_said(process: Process) -> None:
    await process.accounts.keep(ANA, name="Ana", email="ana@example.org", avatar=None, socials=["github"])
    await process.accounts.keep(ANA, name="Ana López", email=None, avatar="https://a.example/1.png", socials=[])
    assert await process.accounts.overlay(ANA) == {
        "name": "Ana López",
        "email": None,
        "avatar": "https://a.example/1.png",
        "socials": [],
    }
    assert await process.accounts.overlay(BEN) == {}


async def test_it_says_whether_a_sign_in_was_news(process: Process) -> None:
    async def keep(*, name: str | None, socials: list[str]) -> bool:
        return await process.accounts.keep(ANA, name=name, email=None, avatar=None, socials=socials)

    assert await keep(name=None, socials=[])
    assert not await keep(name=None, socials=[])
    assert await keep(name="Ana", socials=["github"])
    assert not await keep(name="Ana", socials=["github"])
    assert await keep(name="Ana", socials=["github", "google"])


async def test_a_first_sign_in_in_two_processes_at_once_is_kept_once(process: Process) -> None:
    news = await asyncio.gather(
        *(process.accounts.keep(ANA, name="Ana", email=None, avatar=None, socials=[]) for _ in range(6))
    )
    assert sum(news) == 1


async def test_what_is_forgotten_is_gone_for_that_user_only(process: Process) -> None:
    for user_id in AWKWARD_IDS:
        await process.accounts.keep(UserId(user_id), name=user_id, email=None, avatar=None, socials=[])
    for number, user_id in enumerate(AWKWARD_IDS):
        await process.accounts.forget(UserId(user_id))
        assert await process.accounts.overlay(UserId(user_id)) == {}
        for other in AWKWARD_IDS[number + 1 :][:3]:
            assert (await process.accounts.overlay(UserId(other)))["name"] == other


async def test_forgetting_somebody_unknown_is_no_error(process: Process) -> None:
    await process.accounts.forget(ANA)
    assert await process.accounts.overlay(ANA) == {}
