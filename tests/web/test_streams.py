"""Many clients follow, servers die under them, everybody writes: nothing missed, nothing twice.

The clients are one asyncio program. The servers are `sayso serve`, the writers processes of their
own: two at the database, two behind HTTP.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import NamedTuple

import httpx2
import pytest

from sayso import Ask, Desk
from sayso.errors import AskClosed, StoreUnavailable
from tests.crew import Crew
from tests.places import Place
from tests.service import Service, token

PEOPLE = ("anna", "ben", "cleo", "dora")
AGENTS = ("bot", "rival")


class Seen(NamedTuple):
    """An event, as a client or the journal names it."""

    cursor: str | None
    stream: str
    seq: int
    kind: str


@dataclass(frozen=True)
class Size:
    """How many follow, and how many asks each of the four writers writes at a time."""

    clients: int
    asks: int


SIZES = pytest.mark.parametrize(
    "size",
    [
        pytest.param(Size(clients=16, asks=4), id="some"),
        pytest.param(Size(clients=200, asks=40), id="many", marks=pytest.mark.soak),
    ],
)


@contextmanager
def staffed(url: str) -> Iterator[tuple[Desk, dict[str, str]]]:
    """The desk at the database with its people, and a token for everybody."""
    with Desk(url, agent="bot", account="sam@till") as desk:
        for name in PEOPLE:
            desk.people.add(name)
        tokens = {name: token(desk, name, "person") for name in PEOPLE}
        yield desk, tokens | {name: token(desk, name, "agent") for name in AGENTS}


# --- who writes: in processes of their own ---


def write(url: str, tokens: tuple[str, str] | None, asks: int) -> int:
    """Open and decide asks: at the database, or behind HTTP with tokens to do either."""
    with ExitStack() as stack:
        if tokens is None:
            desk = stack.enter_context(Desk(url, agent="bot", account="sam@till"))
            opening, approve = partial(desk.open), partial(desk.approve, by="anna")
        else:
            asker, decider = (stack.enter_context(Desk(url, token=one)) for one in tokens)
            opening, approve = partial(asker.open), partial(decider.approve)
        for number in range(asks):
            ask = insisting(partial(opening, "refund", {"order": number}, key=os.urandom(8).hex()))
            with suppress(AskClosed):  # by the same, who never heard the answer
                insisting(partial(approve, ask))
    return os.getpid()


def insisting(act: Callable[[], Ask]) -> Ask:
    """Do it, also where a server starts for longer than a desk waits: on a busy machine."""
    while True:
        try:
            return act()
        except StoreUnavailable:
            continue


class Writers:
    """Two at the database and two behind HTTP, at whichever server there is."""

    def __init__(self, crew: Crew, database: str, servers: Sequence[str], tokens: dict[str, str]):
        self._crew = crew
        self._orders: list[tuple[str, tuple[str, str] | None]] = [(database, None)] * 2
        for agent, server in zip(AGENTS, cycle(servers), strict=False):
            self._orders.append((server, (tokens[agent], tokens["anna"])))

    @asynccontextmanager
    async def writing(self, asks: int) -> AsyncIterator[None]:
        """Let them write so many asks each, beginning before the block and ending after it."""
        waits = [
            self._crew.start(member, write, *order, asks)
            for member, order in enumerate(self._orders)
        ]
        yield
        pids = [await asyncio.to_thread(wait) for wait in waits]
        assert len(set(pids)) == 4


# --- who follows: all in this process ---


@dataclass
class Follower:
    """Somebody who, whenever the stream ends, comes back with the cursor of the last event."""

    name: str
    token: str
    places: Iterator[str]
    patience: int = -1  # events after which they leave by themselves
    cursor: str | None = None
    seen: list[Seen] = field(default_factory=list)
    visits: int = 0
    here: asyncio.Event = field(default_factory=asyncio.Event)

    async def follow(self, client: httpx2.AsyncClient, crowd: Crowd) -> None:
        """Follow until the last ask has come, whatever happens to the servers."""
        while not (self.seen and self.seen[-1].stream == crowd.last.get(self.name)):
            try:
                await self._visit(client, crowd)
            except httpx2.TransportError:  # it is away: what a browser does, only sooner
                await asyncio.sleep(random.uniform(0.05, 0.2))

    async def _visit(self, client: httpx2.AsyncClient, crowd: Crowd) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        if self.cursor is not None:
            headers["Last-Event-ID"] = self.cursor
        url = f"{next(self.places)}/api/v1/events"
        async with client.stream("GET", url, headers=headers) as answer:
            assert answer.status_code == 200, await answer.aread()
            self.visits += 1
            left = self.patience
            async for frame in httpx2.EventSource(answer):
                self.cursor = frame.id or self.cursor
                self.here.set()
                if not frame.data:
                    continue
                event = json.loads(frame.data)
                self.seen.append(Seen(frame.id, event["stream"], event["seq"], event["kind"]))
                crowd.heard.set()
                left -= 1
                if left == 0 or event["stream"] == crowd.last.get(self.name):
                    return


class Crowd:
    """All who follow; `last` says after which ask each may go."""

    def __init__(self, followers: list[Follower]) -> None:
        self.followers = followers
        self.last: dict[str, str] = {}
        self.heard = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Let them follow for a block. All are there when it begins."""
        many = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(
            limits=many, timeout=60, verify=False, trust_env=False
        ) as client:
            self._tasks = [asyncio.create_task(one.follow(client, self)) for one in self.followers]
            try:
                async with asyncio.timeout(60):
                    await asyncio.gather(*(one.here.wait() for one in self.followers))
                yield
            finally:
                for task in self._tasks:
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)

    async def sees_more(self, events: int) -> None:
        """Return when the first of them has seen so many more."""
        wanted = self._most() + events
        async with asyncio.timeout(60):
            while self._most() < wanted:
                self.heard.clear()
                await self.heard.wait()

    def _most(self) -> int:
        return max(len(one.seen) for one in self.followers)

    async def goes(self, url: str) -> None:
        """Open a last ask of each agent, and wait until whoever sees it has seen it."""
        for agent in AGENTS:
            with Desk(url, agent=agent, account="sam@till") as desk:
                self.last[agent] = desk.open("farewell", {}).id
        self.last |= dict.fromkeys(PEOPLE, self.last[AGENTS[-1]])
        async with asyncio.timeout(90):
            await asyncio.gather(*self._tasks)


def crowd(size: Size, tokens: dict[str, str], servers: Sequence[str], patience: int = -1) -> Crowd:
    """Return people, who see everything, and agents, who see their own; they begin anywhere."""
    names, starts = cycle(tokens.items()), cycle(range(len(servers)))
    return Crowd(
        [
            Follower(name, secret, cycle((*servers[start:], *servers[:start])), patience)
            for _, (name, secret), start in zip(range(size.clients), names, starts, strict=False)
        ]
    )


def check(crowd: Crowd, desk: Desk, begun: str, place: Place, asks: int) -> None:
    """Compare what each of them has seen with what the journal says."""
    journal = [
        Seen(event.cursor, event.stream, event.seq, event.kind)
        for event in desk.events(after=begun)
        if event.stream.startswith("a-")
    ]
    rows = place.sql("select stream, seq from events where stream like ?", "a-%")
    assert sorted((one.stream, one.seq) for one in journal) == sorted(rows)
    assert len(journal) == 2 * asks + len(AGENTS), "each ask was opened and decided once"
    asked = dict(place.sql("select id, agent from asks"))
    for one in crowd.followers:
        expected = [seen for seen in journal if one.name in (*PEOPLE, asked[seen.stream])]
        assert one.seen == expected, f"{one.name} after {one.visits} visits"


@SIZES
async def test_whoever_follows_sees_the_journal_through_two_restarts(
    place: Place, crew: Crew, size: Size
) -> None:
    with staffed(place.url) as (local, tokens), Service(place.url) as service:
        begun = local.docket.tip()
        everybody = crowd(size, tokens, [service.url])
        writers = Writers(crew, place.url, [service.url], tokens)
        async with everybody.following():
            for number, code in ((signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)):
                async with writers.writing(size.asks):
                    await everybody.sees_more(size.asks)
                    assert await asyncio.to_thread(service.restart, number) == code
            async with writers.writing(size.asks):
                pass
            await everybody.goes(place.url)

        check(everybody, local, begun, place, 3 * 4 * size.asks)
    assert all(one.visits >= 3 for one in everybody.followers)


@SIZES
async def test_a_cursor_of_one_server_counts_at_another(
    postgres: Place, crew: Crew, size: Size
) -> None:
    """They go from one to the other after every few events, while one of the two dies."""
    one, other = Service(postgres.url), Service(postgres.url)
    with staffed(postgres.url) as (local, tokens), one, other:
        begun, servers = local.docket.tip(), [one.url, other.url]
        everybody = crowd(size, tokens, servers, patience=7)
        writers = Writers(crew, postgres.url, servers, tokens)
        async with everybody.following():
            async with writers.writing(size.asks):
                await everybody.sees_more(size.asks)
                await asyncio.to_thread(one.restart, signal.SIGKILL)
            await everybody.goes(postgres.url)

        check(everybody, local, begun, postgres, 4 * size.asks)
    assert all(each.visits > 2 for each in everybody.followers if each.name in PEOPLE)
