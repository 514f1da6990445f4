"""Words that people said of calls in the days before: nobody could wait for hundreds of them in each test."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import cycle

from sayso import Ask, Desk
from sayso.asks.books import Pen, book_of
from sayso.asks.trusting import key_of
from sayso.autonomy.book import Book
from sayso.autonomy.reach import Saw, saw
from sayso.model.actor import Actor, Origin
from sayso.model.stake import matters_of

PEOPLE = ("sam", "ada")
DAYS = timedelta(days=2)
HERE = Origin("python", "test")


def pen_of(desk: Desk, ask: Ask) -> Pen:
    """What writes into the book of the key of a call; it is begun days ago, if it was not before."""
    stake = ask.stake
    assert stake is not None
    book = book_of(desk.store, stake.key)
    if book is not None:
        return Pen(desk.store, book)
    key = key_of(ask.content, stake.version, stake.bucket, stake.tier)
    at = desk.store.now() - 2 * DAYS
    pen = Pen.begun(desk.store, key, ask.content.needs, at)
    assert pen is not None
    return pen


def write_fine(pen: Pen, seen: Saw, times: int, by: Sequence[str] = PEOPLE) -> None:
    """Write that so many calls in which people saw this were fine, over two days."""
    names = cycle(by)
    began = pen.book.changed_at
    assert began is not None
    for number in range(times):
        pen.at = began if 2 * number < times else began + DAYS
        said = {"ask": f"a-{number:04d}", "detection": pen.book.detection, "saw": seen}
        pen.write("fine", Actor("person", next(names)), HERE, **said)
    pen.at = None


def fine(desk: Desk, ask: Ask, times: int, by: Sequence[str] = PEOPLE) -> Book:
    """Let people have found so many calls like this one to be fine, over two days."""
    pen = pen_of(desk, ask)
    write_fine(pen, saw(ask.args, matters_of(ask.content)) or {}, times, by)
    assert desk.store.commit(*pen.appends())
    return pen.book


def granted_before(desk: Desk, ask: Ask) -> Book:
    """Let the key of a call have earned a grant days ago, which somebody ratified."""
    pen = pen_of(desk, ask)
    write_fine(pen, saw(ask.args, matters_of(ask.content)) or {}, pen.book.missing or 0)
    pen.write("ratified", Actor("person", "sam"), HERE, ask="a-0000")
    assert pen.book.alone
    assert desk.store.commit(*pen.appends())
    return pen.book
