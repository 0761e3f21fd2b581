"""Keeping what sign-ins say, without asking the database each time."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from backend.accounts.identity import Identity
from backend.accounts.keeping import AccountKeeper, KeepingAuthenticator
from backend.errors import StorageUnavailable, Unauthenticated
from backend.ids import UserId

pytestmark = pytest.mark.anyio

ANA = Identity(UserId("ana"), frozenset({"admin"}), name="Ana", email="ana@example.org", socials=("github",))
BEN = Identity(UserId("ben"))


class Rows:
    """What was written, in order. `error` is what a write raises; while `gate` is closed, writes wait."""

    def __init__(self) -> None:
        self.written: list[tuple[UserId, str | None, tuple[str, ...]]] = []
        self.known: dict[UserId, object] = {}
        self.error: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def keep(
        self, user_id: UserId, *, name: str | None, email: str | None, avatar: str | None, socials: Sequence[str]
    ) -> bool:
        self.written.append((user_id, name, tuple(socials)))
        await self.gate.wait()
        if self.error:
            raise self.error
        said = (name, email, avatar, socials)
        news = self.known.get(user_id) != said
        self.known[user_id] = said
        return news


class Keeping:
    """A keeper with what it writes and whom it tells."""

    def __init__(self) -> None:
        self.rows = Rows()
        self.changed: list[UserId] = []
        self.keeper = AccountKeeper(rows=self.rows, changed=self._hear)

    async def _hear(self, user_id: UserId) -> None:
        self.changed.append(user_id)


@pytest.fixture
def keeping() -> Iterator[Keeping]:
    keeping = Keeping()
    with keeping.keeper.open():
        yield keeping


async def test_a_first_sign_in_is_written_and_told(keeping: Keeping) -> None:
    await keeping.keeper.keep(ANA)

    assert keeping.rows.written == [("ana", "Ana", ("github",))]
    assert keeping.changed == ["ana"]


async def test_the_same_sign_in_asks_the_database_nothing(keeping: Keeping) -> None:
    for _ in range(5):
        await keeping.keeper.keep(ANA)
        await keeping.keeper.keep(BEN)

    assert [user_id for user_id, *_ in keeping.rows.written] == ["ana", "ben"]


async def test_what_changed_is_written_and_told_again(keeping: Keeping) -> None:
    await keeping.keeper.keep(ANA)
    await keeping.keeper.keep(replace(ANA, name=None))

    assert [name for _, name, _ in keeping.rows.written] == ["Ana", None]
    assert keeping.changed == ["ana", "ana"]


async def test_what_another_process_has_written_already_is_no_news(keeping: Keeping) -> None:
    await keeping.keeper.keep(ANA)
    keeping.keeper.drop(ANA.user_id)
    await keeping.keeper.keep(ANA)

    assert len(keeping.rows.written) == 2
    assert keeping.changed == ["ana"]


@pytest.mark.parametrize("dropped", [UserId("ana"), None], ids=["the user", "everybody"])
async def test_a_user_whose_rows_may_be_gone_is_written_again(dropped: UserId | None, keeping: Keeping) -> None:
    await keeping.keeper.keep(ANA)
    await keeping.keeper.keep(BEN)
    keeping.keeper.drop(dropped)
    keeping.rows.written.clear()
    await keeping.keeper.keep(ANA)
    await keeping.keeper.keep(BEN)

    assert [user_id for user_id, *_ in keeping.rows.written] == (["ana"] if dropped else ["ana", "ben"])


async def test_a_drop_during_the_write_is_not_lost(keeping: Keeping) -> None:
    keeping.rows.gate.clear()
    writing = asyncio.create_task(keeping.keeper.keep(ANA))
    await asyncio.sleep(0)
    assert keeping.rows.written
    keeping.keeper.drop(ANA.user_id)
    keeping.rows.gate.set()
    await writing
    await keeping.keeper.keep(ANA)

    assert len(keeping.rows.written) == 2


@pytest.mark.parametrize(
    "identity",
    [
        pytest.param(Identity(None, name="x"), id="nobody"),
        pytest.param(replace(ANA, permissions=frozenset({"service"})), id="a service token"),
    ],
)
async def test_only_sign_ins_of_users_are_kept(identity: Identity, keeping: Keeping) -> None:
    await keeping.keeper.keep(identity)

    assert keeping.rows.written == []


@pytest.mark.parametrize("error", [StorageUnavailable(), ZeroDivisionError()], ids=["expected", "not"])
async def test_a_write_that_fails_fails_nothing_else_and_is_tried_again(error: Exception, keeping: Keeping) -> None:
    keeping.rows.error = error
    with capture_logs() as logs:
        await keeping.keeper.keep(ANA)
    keeping.rows.error = None
    await keeping.keeper.keep(ANA)

    assert [(line["event"], line["user_id"]) for line in logs] == [("keep_account_failed", "ana")]
    assert "Ana" not in str(logs)
    assert keeping.changed == ["ana"]


async def test_a_request_that_is_cancelled_leaves_the_next_one_to_write(keeping: Keeping) -> None:
    keeping.rows.gate.clear()
    writing = asyncio.create_task(keeping.keeper.keep(ANA))
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.wait([writing])
    keeping.rows.gate.set()
    await keeping.keeper.keep(ANA)

    assert writing.cancelled()
    assert len(keeping.rows.written) == 2


async def test_nothing_is_kept_before_the_database_is_there_and_after(keeping: Keeping) -> None:
    closed = Keeping()
    await closed.keeper.keep(ANA)
    with closed.keeper.open():
        pass
    await closed.keeper.keep(ANA)

    assert closed.rows.written == []


class Door:
    """Signs in who says `Bearer ana`."""

    async def authenticate(self, authorization: str | None) -> Identity:
        if authorization != "Bearer ana":
            raise Unauthenticated
        return ANA


async def test_a_sign_in_is_kept_and_a_refusal_is_not(keeping: Keeping) -> None:
    authenticator = KeepingAuthenticator(Door(), accounts=keeping.keeper)

    assert await authenticator.authenticate("Bearer ana") == ANA
    with pytest.raises(Unauthenticated):
        await authenticator.authenticate("Bearer ben")
    assert [user_id for user_id, *_ in keeping.rows.written] == ["ana"]
