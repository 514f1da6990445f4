"""That a call was fine, said of a key that does not run alone: it follows the decision.

Whatever takes trust away is written with the decision itself, and so is every word on a key that runs
alone. A good word for one that is reviewed anyway can wait: lost in a crash, it has to be earned once
more. So it costs no sync, and what is said of a key at the same moment is written together, instead
of racing for the next line of its book.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

from sayso.asks.books import Pen, book_of, remember, remembered
from sayso.asks.standing import Standing, tries
from sayso.asks.vouching import good_word, label_of, pen_for, put_up
from sayso.errors import SaysoError, Tampered
from sayso.model.ask import Ask, Decision
from sayso.model.stake import Stake
from sayso.store.contract import Store

_log = logging.getLogger("sayso.trust")
_REVIEWED = ("reviewed", "proposed", "locked")  # nothing of these runs alone


class Praise(NamedTuple):
    """That people found a call to be fine."""

    at: Standing
    ask: Ask
    stake: Stake
    decision: Decision


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
    return Praise(at, ask, stake, decision)


def speak(store: Store, praise: Praise) -> None:
    """Write it into the book of its key, with whatever else is said of the key just now.

    The decision stands already, so nothing that goes wrong here is an error of whoever made it.
    """
    saying = _saying(store, praise.stake.key)
    saying.waiting.append(praise)
    with saying.turn:
        together = [saying.waiting.popleft() for _ in range(len(saying.waiting))]
        if not together:  # whoever had the turn has written it
            return
        try:
            _write(store, together)
        except SaysoError as error:
            asks = ", ".join(each.ask.id for each in together)
            _log.warning("%s: found to be fine, and it does not count: %s", asks, error)


def _write(store: Store, together: list[Praise]) -> None:
    last = together[-1]
    known = remembered(store, last.stake.key)  # read a moment ago; should it have grown, once more
    for _ in tries(last.stake.key):
        pen = pen_for(store, last.ask, last.stake) if known is None else Pen(store, known)
        known = None
        if pen is None:
            return
        before = pen.book
        for each in together:
            said = good_word(each.at, each.ask, each.stake, each.decision)
            pen.write("fine", each.decision.by, each.decision.origin, **said)
        if store.commit(*put_up(pen, last.at, before, last.ask).appends(), synced=False):
            remember(store, pen.book)
            return


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
