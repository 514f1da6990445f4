"""Keys that have earned something, for tests of whoever looks at them.

What counts is earned by real asks in `tests/asks/test_trust.py`. Here most of a book is written
straight into it: nobody could wait for hundreds of calls in each test.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Literal

from sayso import Ask, Desk
from sayso.asks.books import Pen
from sayso.autonomy.book import Book
from sayso.autonomy.ledger import Key
from sayso.model.actor import Actor, Origin
from sayso.model.requirement import Requirement
from tests.fine import DAYS, fine

LAW = """
[tools.refund]
tier = "low"

[tools.refund.args]
order = { type = ["integer", "string"], optional = true }
amount = { type = "integer", optional = true }
memo = { type = "string", optional = true }

[tools.wire]
tier = "high"
args = { order = { type = ["integer", "string"], optional = true } }

[tools.drop]
tier = "critical"
args = { order = { type = ["integer", "string"], optional = true } }

[tools.credit]
tier = "low"
args = { sum = "integer", currency = { optional = true } }
bucket = "currency"

[tiers.low]
needs = ["1 reviewer"]
"""
SAW = {"order: text": None}
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
    began = desk.store.now() - 8 * DAYS
    pen = Pen.begun(desk.store, key, Requirement.parse(["1 senior"]), began)
    assert pen is not None
    _said(pen, "fine")
    while standing != pen.book.ledger.standing:
        while pen.book.ledger.standing == "reviewed":
            _said(pen, "fine")
            if pen.book.missing == 1:
                pen.at = (pen.book.changed_at or began) + DAYS
        _said(pen, "ratified")
        if standing == "locked":
            _said(pen, "incident")
    assert desk.store.commit(*pen.appends())
    return pen.book


def _said(pen: Pen, what: str) -> None:
    label: dict[str, Any] = {"detection": 1.0} if what in ("fine", "incident") else {}
    if what == "fine":
        label["saw"] = SAW
    pen.write(what, _ANNA, _HERE, ask="a-0000", **label)


def earned(desk: Desk, call: Callable[[], Ask], *, by: str | None = None, more: int = 0) -> Book:
    """Let a key of low risk earn a proposal: its last call by the real way.

    `more` is how many calls beyond the usual it takes, after harm.
    """
    first = call()
    book = fine(desk, first, NEEDED + more - 1)
    desk.approve(first, by=by)
    return desk.trust.key(book.id)


def granted(desk: Desk, call: Callable[[], Ask], *, by: str | None = None, more: int = 0) -> Book:
    """Let a key earn a grant, which somebody ratifies."""
    book = earned(desk, call, by=by, more=more)
    assert book.grant_ask is not None
    desk.approve(desk.get(book.grant_ask), by=by)
    return desk.trust.key(book.id)
