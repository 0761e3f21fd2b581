"""GET /api/memory/events: an open page hears that the caller's memory has changed, in whatever process."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack

import pytest

from backend.accounts.identity import Identity
from backend.api.events import events_of
from backend.ids import ThreadId, UserId
from backend.memory.changes import MAX_WATCHES, Changes
from backend.memory.episodes import FinishedWords
from backend.memory.facts.record import ON_THE_PAGE, FactChanges
from backend.memory.memories import announce_change
from backend.memory.user_memory import UserMemory
from tests.support.conditions import until
from tests.support.event_streams import EventStream, event_stream
from tests.support.http_api import Api, SignedIn, running_api
from tests.support.kept_words import keep_words
from tests.support.memory_homes import HomeInPostgres, Process, warmed
from tests.support.passes import NOW, fill
from tests.support.postgres import TestServer
from tests.support.profile_patches import add
from tests.support.recorded_turns import record_turns
from tests.support.threads import RecordedServer

pytestmark = pytest.mark.anyio

EVENTS = "/api/memory/events"
READY, CHANGED = ("ready", "{}"), ("memory_changed", "{}")
ANA, THREAD, OTHER = UserId("ana"), ThreadId("t1"), ThreadId("t2")
TURN = FinishedWords(
    thread_id=THREAD,
    turn=9,
    message_ids=["h9", "a9"],
    user_text="Hello",
    assistant_text="Good day",
    finished_at=NOW,
)
ALIKE = [UserId(one) for one in ("u1", "u10", "u_1", "uX1", "%", "_", "u", "U1", "a.b@example.org", "a.b@example_org")]


def events_for(api: Api, user_id: str = ANA) -> AbstractAsyncContextManager[EventStream]:
    return event_stream(SignedIn(api.app, Identity(UserId(user_id))), EVENTS)


async def caught_up(process: Process) -> None:
    """Return when the process listens and has heard of all that was told before."""
    somebody = UserId("somebody of whom nothing is known")
    with process.memories.changes.watch(somebody) as watch:
        await announce_change(process.services.database, somebody)
        assert await watch.changed(within=10)


async def settle(process: Process, user_id: str = ANA) -> UserMemory:
    """Give a user something of everything, and wait until nobody will be told of it any more."""
    memory = process.memory_of(user_id)
    await memory.profile.save([add("city", "Oslo")])
    await fill(memory.summaries, THREAD, 1)
    await keep_words(memory, THREAD)
    await caught_up(process)
    return memory


async def change_fact(memory: UserMemory) -> None:
    fact = (await memory.facts.stored())[0]
    await memory.facts.change(fact.id, FactChanges(content="Anew"), version=fact.version, origin=ON_THE_PAGE)


async def delete_episode(memory: UserMemory) -> None:
    await memory.episodes.delete((await memory.episodes.all())[0].id)


async def sign_in(process: Process, user_id: UserId) -> None:
    await process.services.accounts.keep(Identity(user_id, name=f"Another {user_id}"))


CHANGES: dict[str, Callable[[Process, UserMemory], Awaitable[object]]] = {
    "a key saved": lambda _, memory: memory.profile.save([add("dog", "Rex")]),
    "a key removed": lambda _, memory: memory.profile.remove("city"),
    "a fact kept": lambda _, memory: keep_words(memory, OTHER, facts=1, episodes=0),
    "a fact changed": lambda _, memory: change_fact(memory),
    "a pass": lambda _, memory: fill(memory.summaries, OTHER, 1),
    "summaries deleted": lambda _, memory: memory.summaries.delete(THREAD, rebuild=True),
    "an episode recorded": lambda _, memory: record_turns(memory, ("Hello", "Good day")),
    "an episode deleted": lambda _, memory: delete_episode(memory),
    "a thread that is gone": lambda process, _: process.services.thread_gone(THREAD),
    "another name of the account": lambda process, memory: sign_in(process, memory.user_id),
    "everything erased": lambda process, memory: process.services.forgetting.erase_memory(memory.user_id),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_every_kind_of_change_is_an_event_without_content(
    change: Callable[[Process, UserMemory], Awaitable[object]], api: Api
) -> None:
    memory = await settle(api.process)
    async with events_for(api) as stream:
        assert await stream.next() == READY
        await change(api.process, memory)
        assert await stream.next() == CHANGED
        assert set(stream.events) == {READY, CHANGED}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_what_another_process_did_is_an_event_too(
    change: Callable[[Process, UserMemory], Awaitable[object]], database_url: str, api: Api
) -> None:
    await settle(api.process)
    async with HomeInPostgres(database_url).process(RecordedServer()) as other, events_for(api) as stream:
        assert await stream.next() == READY
        await change(other, other.memory_of(ANA))
        assert await stream.next() == CHANGED


async def test_nobody_hears_of_the_changes_of_another(api: Api) -> None:
    memories = {user_id: await settle(api.process, user_id) for user_id in ALIKE}
    for user_id, memory in memories.items():
        with ExitStack() as held:
            watches = {one: held.enter_context(api.process.memories.changes.watch(one)) for one in ALIKE}
            for change in CHANGES.values():
                if change is not CHANGES["a thread that is gone"]:  # theirs all have the same id
                    await change(api.process, memory)
            await caught_up(api.process)
            assert [one for one, watch in watches.items() if await watch.changed(within=0.001)] == [user_id]


async def test_the_streams_of_two_users_go_their_own_ways(api: Api) -> None:
    await caught_up(api.process)
    async with events_for(api, "ana") as anas, events_for(api, "ben") as bens, events_for(api, "ben") as bens_too:
        assert [await stream.next() for stream in (anas, bens, bens_too)] == [READY] * 3
        await api.process.memory_of("ben").profile.save([add("city", "Oslo")])
        assert [await stream.next() for stream in (bens, bens_too)] == [CHANGED] * 2
        assert anas.events == [READY]
        await api.process.memory_of("ana").profile.save([add("city", "Bergen")])
        assert await anas.next() == CHANGED
        assert bens.events == [READY, CHANGED]


async def test_changes_that_nobody_took_yet_are_one_event(api: Api) -> None:
    await caught_up(api.process)
    async with events_for(api) as stream:
        assert await stream.next() == READY
        for _ in range(50):
            api.process.memories.changes.tell(ANA)
        assert await stream.next() == CHANGED
        await api.process.memory_of(ANA).profile.save([add("city", "Oslo")])
        await stream.next()
        assert stream.events == [READY, CHANGED, CHANGED]


async def test_an_episode_is_an_event_and_what_is_cached_stays_warm(api: Api) -> None:
    memory = await settle(api.process)
    await warmed(memory.facts.all, api.process.watch)
    token = await memory.token()
    async with events_for(api) as stream:
        assert await stream.next() == READY
        await record_turns(memory, ("Hello", "Good day"))
        assert await stream.next() == CHANGED
    asked = api.process.watch.asked
    await memory.facts.all()
    assert await memory.token() == token
    assert api.process.watch.asked == asked


async def test_a_turn_that_is_recorded_again_is_no_event(api: Api) -> None:
    memory = await settle(api.process)
    with api.process.memories.changes.watch(ANA) as watch:
        assert await memory.episodes.record(TURN)
        await caught_up(api.process)
        assert await watch.changed(within=1)
        assert not await memory.episodes.record(TURN)
        await caught_up(api.process)
        assert not await watch.changed(within=0.01)


async def test_a_change_after_ready_is_never_missed(api: Api) -> None:
    """Whoever reads memory at `ready` has either read a change or hears of it."""
    await caught_up(api.process)
    for number in range(20):
        async with events_for(api) as stream:
            assert await stream.next() == READY
            await api.process.memory_of(ANA).profile.save([add("number", number)])
            assert await stream.next() == CHANGED


async def test_after_the_database_was_away_every_stream_has_an_event(own_server: TestServer) -> None:
    async with running_api(HomeInPostgres(own_server.url)) as api:
        await caught_up(api.process)
        async with events_for(api, "ana") as anas, events_for(api, "ben") as bens:
            assert [await stream.next() for stream in (anas, bens)] == [READY] * 2
            own_server.stop()
            assert anas.events == bens.events == [READY]
            own_server.start()
            assert [await stream.next() for stream in (anas, bens)] == [CHANGED] * 2


async def test_a_client_that_leaves_leaves_nothing_behind(api: Api) -> None:
    changes = api.process.memories.changes
    async with AsyncExitStack() as stack:
        for user_id in ("ana", "ana", "ben"):
            await stack.enter_async_context(events_for(api, user_id))
        assert len(changes) == 3
    await until(lambda: len(changes) == 0, 1)


async def test_a_user_has_so_many_streams_and_is_told_so(api: Api) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(MAX_WATCHES):
            await stack.enter_async_context(events_for(api))
        async with api.client("ana") as ana, events_for(api, "ben") as bens:
            refused = await ana.get(EVENTS)
            assert await bens.next() == READY
    assert (refused.status_code, refused.json()["error"]["kind"]) == (409, "limit_reached")
    async with events_for(api) as stream:
        assert await stream.next() == READY


async def test_it_is_a_stream_that_no_proxy_keeps(api: Api) -> None:
    async with events_for(api) as stream:
        assert stream.status == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert stream.headers["cache-control"] == "no-store"
        assert stream.headers["x-accel-buffering"] == "no"


async def test_a_stream_ends_after_its_time_and_says_goodbye_to_nobody() -> None:
    with Changes().watch(ANA) as watch:
        assert [event.event async for event in events_of(watch, longest_seconds=0.01)] == ["ready"]


@pytest.mark.parametrize("permissions", [(), ("service",), ("service", "admin")], ids=["nobody", "service", "both"])
async def test_without_a_sign_in_and_for_services_there_is_no_stream(permissions: tuple[str, ...], api: Api) -> None:
    async with api.client("ana" if permissions else None, *permissions) as caller:
        response = await caller.get(EVENTS)

    assert response.status_code == (403 if permissions else 401)
    assert len(api.process.memories.changes) == 0


async def test_where_nobody_speaks_there_is_nothing_to_hear(database_url: str) -> None:
    async with (
        running_api(HomeInPostgres(database_url), auth_mode="none", auth_default_user="") as api,
        api.client() as nobody,
    ):
        assert (await nobody.get(EVENTS)).status_code == 404


@pytest.mark.parametrize("query", ["user_id=ben", "scope=ben", "last_event_id=1"])
async def test_a_parameter_is_refused_as_everywhere(query: str, api: Api) -> None:
    async with api.client("ana") as ana:
        response = await ana.get(f"{EVENTS}?{query}")

    assert (response.status_code, response.json()["error"]["kind"]) == (400, "invalid")
    assert len(api.process.memories.changes) == 0
