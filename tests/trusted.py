"""Keys that have earned something, for tests of whoever looks at them.

What counts is earned by real asks in `tests/asks/test_trust.py`. Here most of a book is written
straight into it: nobody could wait for hundreds of calls in each test.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Literal

from sayso import Ask, Desk
from sayso.asks.books import Pen, book_of
from sayso.autonomy.book import Book
from sayso.autonomy.ledger import Key
from sayso.model.actor import Actor, Origin
from sayso.model.requirement import Requirement

LAW = """
[tools.refund]
tier = "low"

[tools.refund.args]
order = { type = "integer", optional = true }
amount = { type = "integer", optional = true }
memo = { type = "string", optional = true }

[tools.wire]
tier = "high"
args = { order = { type = "integer", optional = true } }

[tools.drop]
tier = "critical"
args = { order = { type = "integer", optional = true } }

[tiers.low]
needs = ["1 reviewer"]
"""
NEEDED = 98  # clean calls of a tool of low risk
_NAMES = count(1)
_ANNA, _HERE = Actor("person", "anna"), Origin("python", "test")


def written(
    desk: Desk,
    standing: Literal["reviewed", "granted", "locked"],
    *,
    team: str = "",
    agent: str | None = None,
) -> Book:
    """Write the book of a key that nobody has seen before, of one that stands like this."""
    # An agent of its own: another version of one would inherit its strikes.
    key = Key(agent or f"bot{next(_NAMES)}", "", "refund", "", "low", team)
    pen = Pen.begun(desk.store, key, Requirement.parse(["1 senior"]))
    assert pen is not None
    _said(pen, "fine")
    while standing != pen.book.ledger.standing:
        while pen.book.ledger.standing == "reviewed":
            _said(pen, "fine")
        _said(pen, "ratified")
        if standing == "locked":
            _said(pen, "incident")
    assert desk.store.commit(*pen.appends())
    return pen.book


def _said(pen: Pen, what: str) -> None:
    label = {"detection": 1.0} if what in ("fine", "incident") else {}
    pen.write(what, _ANNA, _HERE, ask="a-0000", **label)


def earned(desk: Desk, call: Callable[[], Ask], *, by: str | None = None, more: int = 0) -> Book:
    """Let a key of low risk earn a proposal: its first and its last call by the real way.

    `more` is how many calls beyond the usual it takes, after harm.
    """
    first = desk.approve(call(), by=by)
    assert first.stake is not None
    book = book_of(desk.store, first.stake.key)
    assert book is not None
    pen = Pen(desk.store, book)
    for number in range(NEEDED + more - 2):
        pen.write("fine", _ANNA, _HERE, ask=f"a-{number:04d}", detection=0.8)
    assert desk.store.commit(*pen.appends())
    desk.approve(call(), by=by)
    return desk.trust.key(book.id)


def granted(desk: Desk, call: Callable[[], Ask], *, by: str | None = None, more: int = 0) -> Book:
    """Let a key earn a grant, which somebody ratifies."""
    book = earned(desk, call, by=by, more=more)
    assert book.grant_ask is not None
    desk.approve(desk.get(book.grant_ask), by=by)
    return desk.trust.key(book.id)
