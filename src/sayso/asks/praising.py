"""That a call was fine, said of a key that does not run alone.

Whatever takes trust away is written with the decision itself, and so is every word on a key that runs
alone. A good word for one that is reviewed anyway goes with its decision too, unless somebody of this
program is writing into the book of the key just now: then it does not race for the next line, but is
left to them, who write all that was said meanwhile together and unsynced. Lost in a crash, it has to
be earned once more.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

from sayso.asks.books import Pen, book_of, remember, remembered
from sayso.asks.standing import Standing, tries
from sayso.asks.vouching import label_of, pen_for, put_up
from sayso.autonomy.book import Book
from sayso.autonomy.terms import DETECTION
from sayso.errors import SaysoError, Tampered
from sayso.model.ask import Ask, Decision
from sayso.model.stake import Stake
from sayso.store.contract import Append, Store

_log = logging.getLogger("sayso.trust")
_REVIEWED = ("reviewed", "proposed", "locked")  # nothing of these runs alone


class Praise(NamedTuple):
    """That people found a call to be fine."""

    at: Standing
    ask: Ask
    stake: Stake
    decision: Decision
    book: Book | None  # of the key, as it was just read


@dataclass(eq=False, slots=True)
class _Saying:
    """What is said of one key in this process, and who writes it down."""

    waiting: deque[Praise] = field(default_factory=deque)
    turn: Lock = field(default_factory=Lock)


_said: WeakKeyDictionary[Store, dict[str, _Saying]] = WeakKeyDictionary()
_KEYS = 1000  # with a place of their own, for each database
_lock = Lock()


def praise_of(store: Store, at: Standing, ask: Ask) -> Praise | None:
    """Return the good word that a decision is, if it may follow."""
    decision, stake = ask.decision, ask.stake
    if decision is None or decision.by.kind != "person" or ask.kind == "feedback":
        return None
    if stake is None or stake.settles is not None or label_of(ask) != "fine":
        return None
    try:
        book = book_of(store, stake.key)
    except Tampered:
        return None
    if book is not None and book.ledger.standing not in _REVIEWED:
        return None
    return Praise(at, ask, stake, decision, book)


def commit(store: Store, appends: Sequence[Append], praise: Praise, *, ahead: bool = False) -> bool:
    """Write a decision with its good word, or ahead of it.

    Returns whether the decision is written. Nothing that goes wrong with the word is an error of
    whoever decided.

    Args:
        store: Where.
        appends: The decision.
        praise: The word.
        ahead: Whether the word follows in any case: another program may be writing into its book.
    """
    saying = _saying(store, praise.stake.key)
    if ahead or not saying.turn.acquire(blocking=False):
        written = store.commit(*appends)
        if written:
            saying.waiting.append(praise)
    else:
        try:
            written = _commit(store, appends, praise)
        finally:
            saying.turn.release()
    _write_down(store, saying)
    return written


def _commit(store: Store, appends: Sequence[Append], praise: Praise) -> bool:
    pen = _told(store, [praise], praise.book)
    if pen is None:
        return store.commit(*appends)
    written = store.commit(*appends, *pen.appends())
    if written:
        remember(store, pen.book)
    return written


def _write_down(store: Store, saying: _Saying) -> None:
    """Write what was said, if nobody else is at it: whoever has the turn looks again after it."""
    while saying.waiting and saying.turn.acquire(blocking=False):
        together = [saying.waiting.popleft() for _ in range(len(saying.waiting))]
        try:
            _write(store, together)
        except SaysoError as error:
            _lost(together, error)
        finally:
            saying.turn.release()


def _write(store: Store, together: Sequence[Praise]) -> None:
    key = together[-1].stake.key
    known = remembered(store, key)  # read a moment ago; should it have grown, once more
    for _ in tries(key):
        pen = _told(store, together, known)
        known = None
        if pen is None:
            return
        if store.commit(*pen.appends(), synced=False):
            remember(store, pen.book)
            return


def _told(store: Store, together: Sequence[Praise], known: Book | None) -> Pen | None:
    """Return the lines that say so, and what follows from them; `None` if there cannot be any."""
    last = together[-1]
    try:
        pen = pen_for(store, last.ask, last.stake) if known is None else Pen(store, known)
        if pen is None:
            return None
        before = pen.book
        for each in together:
            said = {"ask": each.ask.id, "detection": each.stake.detection or DETECTION}
            pen.write("fine", each.decision.by, each.decision.origin, **said)
        return put_up(pen, last.at, before, last.ask)
    except SaysoError as error:
        _lost(together, error)
        return None


def _lost(together: Sequence[Praise], error: SaysoError) -> None:
    asks = ", ".join(each.ask.id for each in together)
    _log.warning("%s: found to be fine, and it does not count: %s", asks, error)


def _saying(store: Store, key: str) -> _Saying:
    with _lock:
        keys = _said.setdefault(store, {})
        if len(keys) >= _KEYS:
            keys.clear()
        return keys.setdefault(key, _Saying())


def _forget() -> None:
    """Begin anew: a forked child has none of the threads that may hold a lock here."""
    global _lock
    _lock = Lock()
    _said.clear()


os.register_at_fork(after_in_child=_forget)
