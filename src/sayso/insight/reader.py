"""The one reader of the journal: all indexes that are made from it, in one pass.

How far it has come is a cursor in the database, moved in the commit that writes what was read. Of
several who read on at once one gets on, so nothing is taken in twice and nothing left out. Writing
the journal costs nothing more for it: whoever searches or counts reads on first, and so does the sweep.
The indexes can be dropped at any time; the journal has all of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sayso.errors import BadValue
from sayso.insight.counting import tallies_in
from sayso.insight.indexing import cases_in, texts_in
from sayso.insight.labelling import labels_in
from sayso.insight.reading import Batch
from sayso.insight.trailing import erased_in, trail_in
from sayso.model.event import Event
from sayso.store.contract import Store
from sayso.store.readers import Entries

_BATCH = 500  # events


def catch_up(store: Store, *, most: int | None = None) -> bool:
    """Read the journal on, at most so many events; return whether its end was reached."""
    left = most
    while left is None or left > 0:
        read = _read_on(store)
        if read < _BATCH:
            return True
        left = None if left is None else left - read
    return not _tail(store, store.reached(), 1)


def rebuild(store: Store) -> None:
    """Forget all indexes, and make them anew from the beginning of the journal."""
    store.restart()
    catch_up(store)


def entries_of(store: Store, events: Sequence[Event]) -> Entries:
    """Return what the indexes say of these events, the next ones of the journal."""
    batch = Batch(store, events)
    cases, no_cases = cases_in(batch)
    texts, no_texts = texts_in(batch)
    return Entries(
        cases=cases,
        no_cases=no_cases,
        texts=texts,
        no_texts=no_texts,
        tallies=tallies_in(batch),
        labels=labels_in(batch),
        trail=trail_in(batch),
        erased=erased_in(batch),
    )


def _read_on(store: Store) -> int:
    """Take the next events in; return how many there were."""
    before = store.reached()
    events = _tail(store, before, _BATCH)
    if not events:
        return 0
    taken = store.take_in(
        entries_of(store, events), before=before, after=events[-1].cursor or before
    )
    # If somebody else read on meanwhile, look again where they are.
    return len(events) if taken else _BATCH


def _tail(store: Store, cursor: str, limit: int) -> list[Event]:
    try:
        return store.tail(cursor or None, limit, kept_here=True)
    except BadValue:  # the database was restored, and its journal is numbered anew
        store.restart()
        return store.tail(None, limit, kept_here=True)
