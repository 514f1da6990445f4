"""Every event follows one that stands in the table, whatever a process remembers (E42).

A crash of PostgreSQL may lose commits that were not synced, and somebody may put another file in
the place of SQLite's. Here both are rows that are gone; real crashes are in `tests/crash`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.asks.books import book_of
from sayso.model.actor import CLOCK, Actor, Person
from sayso.model.event import GENESIS, Event, link
from sayso.model.folding import fold
from sayso.store import Store
from sayso.store.contract import Append, HoldRun, RunRow, StartRun
from sayso.testing import FakeClock
from tests.fine import DAYS
from tests.keyed import call, law, said
from tests.places import Place

GONE = b"\x07" * 32  # the hash of an event that is not there


def note(store: Store, seq: int, previous: bytes, *, stream: str = "notes", n: int = 0) -> Event:
    return link(
        stream, seq, "noted", at=store.now(), actor=CLOCK, payload={"n": n}, salt=b"s", previous=previous
    )  # fmt: skip


def seqs(store: Store, stream: str = "notes") -> list[int]:
    return [event.seq for event in store.stream(stream)]


@pytest.fixture
def first(store: Store) -> Event:
    event = note(store, 1, GENESIS)
    assert store.commit(Append(event=event))
    return event


WAYS: dict[str, dict[str, Any]] = {
    "alone": {},
    "not synced": {"synced": False},
    "with a person": {"person": Person("anna")},
}


@pytest.mark.parametrize("way", WAYS)
def test_an_event_whose_predecessor_is_not_there_is_not_written_e42(
    store: Store, first: Event, way: str
) -> None:
    given = dict(WAYS[way])
    commits = {"synced": given.pop("synced", True)}

    for seq, previous in ((2, GONE), (2, GENESIS), (3, first.hash), (3, GONE)):
        assert not store.commit(Append(event=note(store, seq, previous), **given), **commits)
    assert not store.commit(Append(event=note(store, 2, GENESIS, stream="new"), **given), **commits)
    assert (seqs(store), seqs(store, "new"), store.register().solo) == ([1], [], True)

    assert store.commit(Append(event=note(store, 2, first.hash), **given), **commits)
    assert seqs(store) == [1, 2]


@pytest.mark.parametrize("synced", [True, False])
def test_events_of_one_commit_follow_each_other_e42(
    store: Store, first: Event, *, synced: bool
) -> None:
    second = note(store, 2, first.hash)
    third = note(store, 3, second.hash)
    other = note(store, 1, GENESIS, stream="other")

    assert store.commit(*(Append(event=event) for event in (second, other, third)), synced=synced)
    assert (seqs(store), seqs(store, "other")) == ([1, 2, 3], [1])


@pytest.mark.parametrize("synced", [True, False])
def test_of_several_one_that_follows_nothing_takes_all_back_e42(
    store: Store, first: Event, *, synced: bool
) -> None:
    second = note(store, 2, first.hash)
    for wrong in (
        note(store, 3, GONE),
        note(store, 4, second.hash),
        note(store, 2, GONE, stream="b"),
    ):
        assert not store.commit(Append(event=second), Append(event=wrong), synced=synced)
    assert (seqs(store), seqs(store, "b")) == ([1], [])


def test_an_ask_that_lost_its_last_event_does_not_go_on_from_it_e42(
    desk: Desk, place: Place
) -> None:
    opened = desk.open("refund", {"amount": 1})
    edited = desk.edit(opened, {"amount": 2})
    place.sql("delete from events where stream = ? and seq > 1", opened.id)
    event = link(
        opened.id, edited.seq + 1, "effect.intended",
        at=desk.store.now(), actor=Actor("agent", "shop"), payload={}, salt=b"s", previous=edited.head,
    )  # fmt: skip

    assert not desk.store.commit(Append(event=event, ask=edited))
    assert fold(desk.store.stream(opened.id)).version == 1


def test_a_run_that_lost_its_last_event_does_not_go_on_from_it_e42(
    store: Store, place: Place
) -> None:
    now = store.now()
    row = RunRow("r-0001", "w", "p", None, "running", now, now, now, token="t", worker="w")
    begun = note(store, 1, GENESIS, stream=row.id)
    step, more = note(store, 2, begun.hash, stream=row.id), timedelta(seconds=30)
    last = note(store, 3, step.hash, stream=row.id)
    hold = HoldRun(id=row.id, token="t", seq=3, span=more)
    assert store.commit(Append(event=begun), Append(event=step), run=StartRun(row, more))
    place.sql("delete from events where stream = ? and seq = 2", row.id)

    assert not store.commit(Append(event=last), run=hold)
    assert seqs(store, row.id) == [1]
    assert store.commit(Append(event=step), Append(event=last), run=hold)
    assert seqs(store, row.id) == [1, 2, 3]


# --- books ---


@pytest.fixture
def earner(place: Place, clock: FakeClock) -> Iterator[Desk]:
    with Desk(place.url, policy=law(), clock=clock, agent="shop", account="sam@till") as desk:
        desk.law.coin = lambda: 0.999  # nothing is picked
        yield desk


def praised(desk: Desk) -> Ask:
    return desk.approve(call(desk))


def lose(place: Place, key: str, keep: int) -> None:
    """Lose the last good words of a key, as a crash does: the events and the row with them."""
    place.sql("delete from events where stream = ? and seq > ?", key, keep)
    if keep == 0:
        place.sql("delete from trust where id = ?", key)
    else:
        fine = keep - 1
        place.sql("update trust set seq = ?, fine = ?, score = ?, marks = ? where id = ?",
                  keep, fine, fine, "+" * fine, key)  # fmt: skip


@pytest.mark.parametrize("lost", [1, 2, 3], ids=["one", "two", "the whole book"])
def test_a_lost_good_word_is_earned_once_more_e42(earner: Desk, place: Place, lost: int) -> None:
    asks = [praised(earner) for _ in range(2)]
    assert asks[0].stake is not None
    key = asks[0].stake.key
    lose(place, key, 3 - lost)

    praised(earner)

    assert [event.seq for event in earner.store.stream(key)] == list(range(1, max(3, 5 - lost)))
    book = book_of(earner.store, key)
    assert book is not None
    assert book.fine == 3 - min(lost, 2)
    assert earner.verify().problems == ()
    assert [earner.get(ask.id).status for ask in asks] == ["decided"] * 2


def test_what_is_remembered_of_a_book_counts_only_while_it_stands_e42(
    earner: Desk, place: Place
) -> None:
    """Another process wrote the lines that a crash had taken, and one more: this one reads anew."""
    asks = [praised(earner) for _ in range(2)]
    assert asks[0].stake is not None
    key = asks[0].stake.key
    lose(place, key, 2)
    with Desk(place.url, policy=law(), clock=earner.store._clock, agent="shop") as other:  # type: ignore[attr-defined]
        theirs = said(other, key, "fine", 2)

    mine = book_of(earner.store, key)

    assert mine == theirs
    praised(earner)
    assert earner.verify().problems == ()


def test_nothing_runs_alone_by_a_grant_that_was_lost_e42(earner: Desk, place: Place) -> None:
    ask = praised(earner)
    assert ask.stake is not None
    key = ask.stake.key
    said(earner, key, "fine", 120)
    said(earner, key, "fine", 127, by="ada", after=DAYS)
    said(earner, key, "ratified")
    book = book_of(earner.store, key)
    assert book is not None
    assert book.alone
    assert call(earner).status == "decided"
    place.sql("delete from events where stream = ? and seq > 2", key)

    assert call(earner).open
    again = book_of(earner.store, key)
    assert again is not None
    assert not again.alone
