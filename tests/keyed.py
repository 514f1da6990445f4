"""Keys that have come as far as a test needs: most of what was said of them stands in their book."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Any

from sayso import Ask, Desk
from sayso.asks.books import Pen, book_of
from sayso.asks.lawbook import default_policy
from sayso.autonomy.book import Book
from sayso.model.actor import Actor, Origin
from sayso.policy.reading import read
from sayso.policy.rules import Policy
from tests.fine import DAYS, fine

SAW = {"order: text": None, "amount": 40}
NEEDED = {"low": 98, "medium": 248, "high": 497}
LAW = """
[tools]
refund = "medium"
wire = "high"
note = "low"

[tiers.low]
needs = ["1 reviewer"]
"""
_orders = count(1)


def law(text: str = LAW) -> Policy:
    """A policy under which calls of `note`, `refund` and `wire` are asked for because of their tier."""
    return read(text, source="law.toml", default=default_policy())


def call(desk: Desk, tool: str = "refund", **more: Any) -> Ask:
    """Ask for a call, another one each time."""
    return desk.open(tool, {"order": f"R-{next(_orders)}", "amount": 40}, **more)


def said(
    desk: Desk,
    key: str,
    what: str,
    times: int = 1,
    by: str = "sam",
    after: timedelta | None = None,
    **more: Any,
) -> Book:
    """Write into the book of a key, without an ask for each line."""
    book = book_of(desk.store, key)
    assert book is not None
    assert book.changed_at is not None
    pen = Pen(desk.store, book, None if after is None else book.changed_at + after)
    for number in range(times):
        asked = {"ask": f"a-{number:04d}", "detection": 0.8, **more}
        if what == "fine":
            asked["saw"] = SAW
        pen.write(what, Actor("person", by), Origin("python", ""), **asked)
    assert desk.store.commit(*pen.appends())
    return pen.book


def earning(
    desk: Desk, tool: str = "refund", *, by: str | None = None, short: int = 1, **more: Any
) -> Book:
    """A key that is so many fine calls short of its proposal."""
    first = call(desk, tool, **more)
    assert first.stake is not None
    fine(desk, first, NEEDED[first.stake.tier] - 1 - short, (by or "sam", "ada"))
    desk.approve(first, by=by)
    return desk.trust.key(first.stake.key)


def proposed(desk: Desk, tool: str = "refund", *, by: str | None = None, **more: Any) -> Book:
    """A key about which people are asked whether it may run alone."""
    key = earning(desk, tool, by=by, **more).id
    desk.approve(call(desk, tool, **more), by=by)
    book = desk.trust.key(key)
    assert book.grant_ask is not None
    return book


def granted(
    desk: Desk,
    tool: str = "refund",
    *,
    by: str | None = None,
    second: str = "ada",
    **more: Any,
) -> Book:
    """A key that runs alone, as one or two people let it; the coin of the desk picks nothing."""
    desk.law.coin = lambda: 0.999
    book = proposed(desk, tool, by=by, **more)
    for name in (by, second):
        ask = desk.get(str(book.grant_ask))
        if ask.open:
            desk.approve(ask, by=name)
    return desk.trust.key(book.id)


def locked(desk: Desk, tool: str = "refund", *, by: str | None = None, **more: Any) -> Book:
    """A key that has lost three grants by harm."""
    key = earning(desk, tool, by=by, **more).id
    for _ in range(3):
        book = desk.trust.key(key)
        missing = book.missing or 0
        if missing > 1:
            said(desk, key, "fine", missing // 2)
        said(desk, key, "fine", missing - missing // 2, by="ada", after=DAYS)
        said(desk, key, "ratified")
        said(desk, key, "incident", harm="it paid twice")
    return desk.trust.key(key)
