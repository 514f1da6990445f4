"""PostgreSQL crashes between a decision and its unsynced good word: the chain goes on from what stands (E42)."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from sayso import Ask, Desk
from sayso.asks.books import Pen, book_of
from sayso.model.actor import Actor, Origin
from tests.keyed import call, law
from tests.server import Server, serving

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
