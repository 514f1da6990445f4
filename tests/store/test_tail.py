"""The live tail misses nothing and repeats nothing, in whatever order writers commit."""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice

import psycopg
import pytest

from sayso import Desk
from sayso.model.actor import Actor
from sayso.model.event import GENESIS, link
from sayso.store import Store, open_store
from tests.crew import Crew, desk_at
from tests.places import Place
from tests.together import in_thread, until

INSERT = (
    "insert into events (stream, seq, kind, at, actor, payload, salt, digest, hash)"
    " values (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
)


def put(connection: psycopg.Connection, stream: str, store: Store) -> None:
    """Insert an event inside whatever transaction this connection is in."""
    event = link(
        stream,
        1,
        "step.done",
        at=store.now(),
        actor=Actor("agent", "slow"),
        payload={},
        salt=b"",
        previous=GENESIS,
    )
    row = (event.stream, event.seq, event.kind, event.micros, str(event.actor))
    connection.execute(INSERT, (*row, event.text, event.salt, event.digest, event.hash))


@contextmanager
def writers(url: str, count: int) -> Iterator[list[psycopg.Connection]]:
    with ExitStack() as stack:
        yield [stack.enter_context(psycopg.connect(url)) for _ in range(count)]


@pytest.fixture
def journal(postgres: Place) -> Iterator[Store]:
    store = open_store(postgres.url)
    yield store
    store.close()


def names(store: Store, after: str | None = None) -> list[str]:
    return [event.stream for event in store.tail(after, 1000)]


def test_an_event_committed_late_is_not_overtaken(postgres: Place, journal: Store) -> None:
    """A serial number is given out before its row is committed: the fault of naive cursors."""
    with writers(postgres.url, 2) as (slow, fast):
        put(slow, "slow", journal)
        put(fast, "fast", journal)
        fast.commit()

        assert names(journal) == [], "nothing behind a running transaction is given out yet"
        slow.commit()

    assert sorted(names(journal)) == ["fast", "slow"]


def test_a_cursor_taken_meanwhile_does_not_skip_the_late_one(
    postgres: Place, journal: Store
) -> None:
    with writers(postgres.url, 3) as (first, slow, fast):
        put(first, "first", journal)
        first.commit()
        (seen,) = journal.tail(None, 10)
        put(slow, "slow", journal)
        put(fast, "fast", journal)
        fast.commit()
        meanwhile = journal.tail(seen.cursor, 10)
        tip = journal.tip()
        slow.commit()

    assert meanwhile == []
    assert sorted(names(journal, seen.cursor)) == ["fast", "slow"]
    assert sorted(names(journal, tip)) == ["fast", "slow"]


def test_a_transaction_that_gives_up_or_only_reads_holds_nobody_back(
    postgres: Place, journal: Store
) -> None:
    with writers(postgres.url, 2) as (failing, fast):
        put(failing, "failing", journal)
        put(fast, "fast", journal)
        fast.commit()
        failing.rollback()

        assert names(journal) == ["fast"]

    with writers(postgres.url, 2) as (reader, fast):
        reader.execute("select count(*) from events")
        put(fast, "next", journal)
        fast.commit()

        assert names(journal) == ["fast", "next"]


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_commits_is_read_completely_and_once(
    postgres: Place, journal: Store, seed: int
) -> None:
    """Ten transactions open at a time, committed in random order, read after every step."""
    dice = random.Random(seed)
    expected, seen, after = [], [], None
    with writers(postgres.url, 10) as lines:
        busy: list[tuple[psycopg.Connection, list[str]]] = []
        for step in range(150):
            if len(busy) < 10 and (not busy or dice.random() < 0.55):
                line = dice.choice([one for one in lines if one not in [b[0] for b in busy]])
                mine = [f"s{step}-{n}" for n in range(dice.randint(1, 3))]
                for name in mine:
                    put(line, name, journal)
                busy.append((line, mine))
            else:
                line, mine = busy.pop(dice.randrange(len(busy)))
                if dice.random() < 0.2:
                    line.rollback()
                else:
                    line.commit()
                    expected += mine
            for event in journal.tail(after, dice.randint(1, 5)):
                seen.append(event.stream)
                after = event.cursor
        for line, mine in busy:
            line.commit()
            expected += mine
    while more := journal.tail(after, 5):
        seen += [event.stream for event in more]
        after = more[-1].cursor

    assert Counter(seen) == Counter(expected)
    assert len(seen) > 50


def test_a_follower_hears_of_the_late_one_as_soon_as_it_is_committed(
    postgres: Place,
) -> None:
    with Desk(postgres.url) as desk, writers(postgres.url, 2) as (slow, fast):
        heard: list[str] = []
        desk.on("step.done", lambda event: heard.append(event.stream))
        put(slow, "slow", desk.store)
        put(fast, "fast", desk.store)
        fast.commit()
        slow.commit()

        assert sorted(until(lambda: heard if len(heard) == 2 else [])) == ["fast", "slow"]


# --- many writers, both databases ---


def write(url: str, count: int) -> list[str]:
    """In another process: open and decide; returns the streams."""
    desk = desk_at(url)
    ids = []
    for n in range(count):
        ask = desk.open("refund", {"n": n, "process": os.getpid()})
        desk.reject(ask)
        ids.append(ask.id)
    return ids


def test_followers_of_four_writing_processes_see_everything_once_and_the_same(
    live: Desk, place: Place, crew: Crew
) -> None:
    total = 4 * 30 * 2
    live.inbox()
    followers = [in_thread(lambda: list(islice(live.events(follow=True), total))) for _ in range(2)]
    heard: list[tuple[str, int]] = []
    live.on("*", lambda event: heard.append((event.stream, event.seq)))

    ids = [ask_id for mine in crew.together(write, place.url, 30) for ask_id in mine]

    expected = Counter((ask_id, seq) for ask_id in ids for seq in (1, 2))
    first, second = [follower.result(60) for follower in followers]
    assert Counter((event.stream, event.seq) for event in first) == expected
    assert [event.cursor for event in first] == [event.cursor for event in second]
    until(lambda: len(heard) >= total)
    assert Counter(heard) == expected
    assert [event.cursor for event in live.events()] == [event.cursor for event in first]


def test_reading_in_small_steps_beside_writers_misses_nothing(desk: Desk) -> None:
    stop = threading.Event()

    def work() -> list[str]:
        who = threading.get_ident()
        return [desk.open("refund", {"n": n, "who": who}).id for n in range(60)]

    seen: list[str] = []
    after = None

    workers = [in_thread(work) for _ in range(4)]
    while not stop.is_set():
        done = all(worker.done() for worker in workers)
        events = desk.store.tail(after, 3)
        seen += [event.stream for event in events]
        after = events[-1].cursor if events else after
        if done and not events:
            stop.set()

    assert sorted(seen) == sorted(ask_id for worker in workers for ask_id in worker.result())
