"""Reading the journal on, from where one stopped: what every index made from it has in common.

How far an index has come is a cursor in the database, moved in the commit that writes what was
read. Of several who read on at once one gets on, so nothing is taken in twice and nothing left out.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sayso.errors import BadValue, SaysoError
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.folding import fold
from sayso.store.contract import Store
from sayso.store.readers import ReaderName

_log = logging.getLogger("sayso.insight")
_BATCH = 500  # events
# What a journal that was changed by hand may end in.
SENSELESS = (SaysoError, KeyError, TypeError, ValueError, AttributeError)


class Reader(ABC):
    """Whoever keeps one index."""

    name: ClassVar[ReaderName]

    def __init__(self, store: Store) -> None:
        self.store = store

    def reached(self) -> str:
        """Return how far the index has come."""
        return self.store.reached(self.name)

    @abstractmethod
    def take(self, events: Sequence[Event], before: str, after: str) -> bool:
        """Take the next events in; False if somebody else has got on."""

    def drop(self) -> None:
        """Forget the index."""
        self.store.restart(self.name)

    def catch_up(self, most: int | None = None) -> bool:
        """Read on, at most so many events; return whether the end was reached."""
        left = most
        while left is None or left > 0:
            read = self._read_on()
            if read < _BATCH:
                return True
            left = None if left is None else left - read
        return not self._tail(self.reached(), 1)

    def _read_on(self) -> int:
        """Take the next events in; return how many there were."""
        before = self.reached()
        events = self._tail(before)
        if not events:
            return 0
        if not self.take(events, before, events[-1].cursor or before):
            return _BATCH  # somebody else read on: look again where they are
        return len(events)

    def _tail(self, cursor: str, limit: int = _BATCH) -> list[Event]:
        try:
            return self.store.tail(cursor or None, limit, kept_here=True)
        except BadValue:  # the database was restored, and its journal is numbered anew
            self.drop()
            return self.store.tail(None, limit, kept_here=True)


def of_ask(event: Event) -> bool:
    """Whether an event is one of an ask."""
    return event.stream.startswith("a-")


def asks_of(store: Store, ids: Sequence[str]) -> list[Ask]:
    """Return asks as their journals say. One that makes no sense is left out, and said to be."""
    return [ask for ask, _ in folded(store, ids)]


def starts_of(store: Store, runs: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return what was said as these runs began; one whose words are gone or changed is left out."""
    found: dict[str, Mapping[str, Any]] = {}
    for first, *_ in store.beginnings(runs):
        try:
            said = first.payload
        except SENSELESS:
            continue
        if said and first.kind == "run.started":
            found[first.stream] = said
    return found


def folded(store: Store, ids: Sequence[str]) -> list[tuple[Ask, Sequence[Event]]]:
    """Return asks with their journals; one that makes no sense is left out, and said to be."""
    found: list[tuple[Ask, Sequence[Event]]] = []
    for events in store.journals(ids):
        try:
            found.append((fold(events), events))
        except SENSELESS as error:
            _log.error("The journal of %s is no case: %s", events[0].stream, error)
    return found
