"""Keeping the index of cases: a reader of the journal that goes on where it stopped.

Writing a decision costs nothing more for it. Whoever asks for cases reads on
first, and so does the sweep; of several who do so at once one gets on. What the
index has can be dropped at any time: the journal has all of it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from sayso.errors import BadValue, SaysoError
from sayso.insight.case import is_case, row_of
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.folding import fold
from sayso.store.casebook import CaseRow
from sayso.store.contract import Store

_log = logging.getLogger("sayso.insight")
_BATCH = 500  # events
# What a journal that was changed by hand may end in.
SENSELESS = (SaysoError, KeyError, TypeError, ValueError, AttributeError)


def catch_up(store: Store, *, most: int | None = None) -> None:
    """Read the journal to its end; at most so many events, for somebody who has other work."""
    left = most
    while left is None or left > 0:
        read = _read_on(store)
        if read < _BATCH:
            return
        left = None if left is None else left - read


def rebuild(store: Store) -> None:
    """Make the index anew, from the beginning of the journal."""
    store.drop_cases()
    catch_up(store)


def _read_on(store: Store) -> int:
    """Take the next events in; return how many there were."""
    before = store.case_cursor()
    events = _tail(store, before)
    if not events:
        return 0
    changed = {event.stream for event in events if _concerns(event)}
    rows, gone = _cases(store, sorted(changed))
    after = events[-1].cursor or before
    if not store.put_cases(rows, gone, before=before, after=after):
        return _BATCH  # somebody else read on: look again where they are
    return len(events)


def _tail(store: Store, cursor: str) -> list[Event]:
    try:
        return store.tail(cursor or None, _BATCH)
    except BadValue:  # the database was restored, and its journal is numbered anew
        store.drop_cases()
        return store.tail(None, _BATCH)


def _concerns(event: Event) -> bool:
    """Whether it may make a case of an ask, or change one."""
    return event.stream.startswith("a-") and event.kind != "ask.opened"


def _cases(store: Store, ids: Sequence[str]) -> tuple[list[CaseRow], list[str]]:
    """Return the asks among these that are cases, and those that are none, or no longer."""
    rows = [row_of(ask) for ask in asks_of(store, ids) if is_case(ask)]
    known = {row.id for row in rows}
    return rows, [ask_id for ask_id in ids if ask_id not in known]


def asks_of(store: Store, ids: Sequence[str]) -> list[Ask]:
    """Return asks as their journals say. One that makes no sense is left out, and said to be."""
    found = []
    for events in store.journals(ids):
        try:
            found.append(fold(events))
        except SENSELESS as error:
            _log.error("The journal of %s is no case: %s", events[0].stream, error)
    return found
