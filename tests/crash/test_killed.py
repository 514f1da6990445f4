"""The database or its programs are killed under load, again and again: nothing lost, nothing twice, a whole journal.

PostgreSQL crashes, and takes commits with it that were not synced: good words, claims. The programs go
on, with all that they remember. On SQLite the programs are killed.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from sayso import Ask, AskClosed, Desk, Run
from sayso.asks.books import Pen, book_of
from sayso.asks.listening import follow
from sayso.errors import AskChanged, StoreError
from sayso.model.actor import Actor, Origin
from sayso.model.event import Event
from sayso.store import Store
from tests.crash.fleet import Workers, answer_doubts, book, fleet, working
from tests.forked import SERVER
from tests.keyed import call, law
from tests.places import Place
from tests.server import Server, serving
from tests.together import in_thread, until

LONG = 120.0
AT_ONCE = 4  # runs that are started between two kills
TRIES = 5  # the server writes unsynced commits down by itself, every ten seconds


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that keeps unsynced commits to itself for as long as it may."""
    with serving() as server:
        with psycopg.connect(server.address(), autocommit=True) as connection:
            connection.execute("alter system set wal_writer_delay = '10s'")
        server.restart("fast")
        yield server


@pytest.fixture
def desk(server: Server) -> Iterator[Desk]:
    Place("postgres", server.address()).clear()
    with Desk(server.address(), policy=law(), agent="shop", account="sam@till") as desk:
        desk.law.coin = lambda: 0.999  # nothing is picked
        yield desk


def praised(desk: Desk) -> str:
    """Decide, and say one good word more: two commits that are not synced. Return the key."""
    ask = desk.approve(call(desk))
    assert ask.stake is not None
    book = book_of(desk.store, ask.stake.key)
    assert book is not None
    pen = Pen(desk.store, book)
    pen.write("fine", Actor("person", "sam"), Origin("python", ""), ask=ask.id, detection=0.8)
    assert desk.store.commit(*pen.appends(), synced=False)
    assert book_of(desk.store, book.id) == pen.book
    return book.id


def test_good_words_that_a_crash_took_break_no_chain_e42(server: Server, desk: Desk) -> None:
    """The process that decided goes on, and remembers lines of the book that nobody else ever saw."""
    asks: list[Ask] = []
    lost = known = 0
    key = ""
    for _ in range(TRIES):
        key = praised(desk)
        known = desk.store.head(key).seq
        server.restart("immediate")
        lost = known - desk.store.head(key).seq
        asks += [desk.approve(call(desk)), desk.approve(call(desk))]
        assert desk.verify().problems == ()
        if lost == 2:
            break

    assert lost == 2, "the server never lost two words"
    assert desk.store.head(key).seq == known - lost + 2
    assert [desk.get(ask.id).status for ask in asks] == ["decided"] * len(asks)
    with Desk(server.address(), policy=law(), account="sam@till") as other:
        other.approve(call(other))
        assert other.verify().problems == ()


def listen(store: Store, seen: list[Event], after: str, stop: threading.Event) -> None:
    """Follow the journal, whatever becomes of the server."""
    while not stop.is_set():
        with suppress(StoreError):
            for event in follow(store, after, stop=stop):
                seen.append(event)
                after = event.cursor or after


def test_whoever_follows_misses_nothing_that_comes_after_a_crash_e42(
    server: Server, desk: Desk
) -> None:
    """The server gave the numbers of lost transactions to new ones, which passed for older events."""
    seen: list[Event] = []
    stop, before = threading.Event(), desk.store.total()

    def all_heard() -> bool:
        return len(seen) >= desk.store.total() - before

    with Desk(server.address(), agent="shop") as other:
        listening = in_thread(partial(listen, other.store, seen, other.store.tip(), stop))
        for _ in range(2):
            praised(desk)
            until(all_heard)
            server.restart("immediate")
            assert len(seen) == desk.store.total() - before, "it heard of what the crash took"
            desk.approve(call(desk))
            until(all_heard)
        stop.set()
        other.store.bell.ring()
        listening.result(LONG)

    told = [(event.stream, event.seq) for event in seen]
    assert len(set(told)) == len(told) == desk.store.total() - before


# --- under load ---


def decide(url: str, told: Connection, note: str) -> None:
    """In another process: approve every payment in the list, and tell which of them stand."""
    desk = Desk(url, account="sam@till")
    while True:
        try:
            for ask in desk.inbox(kind="action"):
                with suppress(AskChanged, AskClosed):  # the other one was faster
                    told.send((note, desk.approve(ask, note=note, by="sam").id))
        except StoreError:
            pass
        time.sleep(0.01)


class Deciders:
    """Two people who decide the same list. What they were told is heard here, whatever becomes of them."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._living: list[tuple[Any, Connection]] = []
        self.told: dict[str, str] = {}
        self.twice: list[str] = []
        self.hire()

    def hire(self) -> None:
        for number in range(2):
            ours, theirs = SERVER.Pipe(duplex=False)
            process = SERVER.Process(target=decide, args=(self._url, theirs, f"by {number}"))
            process.start()
            theirs.close()
            self._living.append((process, ours))

    def kill(self) -> None:
        for process, _ in self._living:
            process.kill()
        for process, pipe in self._living:
            process.join(30)
            self._hear(pipe)
        self._living.clear()

    def heard(self) -> dict[str, str]:
        """Return who was told that a decision of theirs stands, by ask."""
        for _, pipe in self._living:
            self._hear(pipe)
        return self.told

    def know(self, many: int) -> bool:
        """Whether they were told of more than so many."""
        return len(self.heard()) > many

    def _hear(self, pipe: Connection) -> None:
        with suppress(EOFError):
            while pipe.poll():
                note, ask_id = pipe.recv()
                self.twice += [ask_id] if ask_id in self.told else []
                self.told[ask_id] = note


def through(work: Callable[[], Any]) -> Any:
    """Do something that may be cut off, until it is done."""

    def done() -> list[Any]:
        try:
            return [work()]
        except StoreError:
            return []

    return until(done, within=LONG)[0]


Kill = Callable[[Deciders, Workers], None]


@pytest.fixture(params=["sqlite", "postgres"])
def victim(request: pytest.FixtureRequest) -> tuple[Place, Kill]:
    """A database under load, and how somebody kills it."""
    if request.param == "sqlite":
        return request.getfixturevalue("sqlite"), _kill_programs
    server: Server = request.getfixturevalue("server")
    place = Place("postgres", server.address())
    place.clear()
    return place, lambda *_: server.restart("immediate")


def _kill_programs(deciders: Deciders, workers: Workers) -> None:
    deciders.kill()
    for _ in tuple(workers.living):
        workers.kill_one()
    deciders.hire()


def check(desk: Desk, deciders: Deciders) -> None:
    """Look at what is left: every decision of which somebody was told, and the whole journal."""
    for ask_id, note in tuple(deciders.heard().items()):
        decision = through(partial(desk.get, ask_id)).decision
        assert decision is not None, f"told and lost: {ask_id}"
        assert decision.note == note
    assert through(desk.verify).problems == ()


@pytest.mark.parametrize(
    "kills", [pytest.param(2, id="few"), pytest.param(50, id="many", marks=pytest.mark.soak)]
)
def test_killed_under_load_it_loses_nothing_repeats_nothing_and_accuses_nobody(
    victim: tuple[Place, Kill], tmp_path: Path, kills: int
) -> None:
    place, kill = victim
    chance = Random(kills)
    words = lost = doubts = 0
    with ExitStack() as opened:
        desk = opened.enter_context(Desk(place.url, agent="shop", account="sam@till"))
        desk.people.add("sam", roles=["senior"])
        workers = opened.enter_context(working(place.url, tmp_path))
        deciders = Deciders(place.url)
        opened.callback(deciders.kill)
        settle = fleet(desk, str(tmp_path)).flows["settle"].fn
        started: list[Run] = []
        for _ in range(kills):
            number = len(started)
            started += [through(partial(desk.start, settle, number + n)) for n in range(AT_ONCE)]
            until(partial(deciders.know, number - AT_ONCE), within=LONG)
            time.sleep(chance.random() * 0.2)  # any moment: it is the moment that is tried
            words = _words(place)
            kill(deciders, workers)
            lost += max(0, words - _words(place))
            doubts += through(lambda: answer_doubts(desk, tmp_path))
            check(desk, deciders)

        def done() -> bool:
            nonlocal doubts
            doubts += through(lambda: answer_doubts(desk, tmp_path))
            ended = "select count(*) from runs where status = 'done'"
            return bool(through(lambda: place.one(ended)) == len(started))

        until(done, within=LONG)
        check(desk, deciders)
        said = workers.end()
        assert deciders.twice == []
        assert [run.result(0) for run in started] == [f"paid {n}" for n in range(len(started))]
        assert book(tmp_path) == Counter(f"paid {n}" for n in range(len(started)))
        assert "Traceback" not in "".join(said)
        print(
            f"{place.dialect}: {kills} kills, {len(started)} runs, {len(deciders.told)} decisions told,"
            f" {_words(place)} good words in the end, {lost} lost,"
            f" {doubts} doubts, {place.count()} events"
        )


def _words(place: Place) -> int:
    return int(through(lambda: place.one("select count(*) from events where kind = 'trust.fine'")))
