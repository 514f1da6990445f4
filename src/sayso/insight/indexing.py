"""Keeping the indexes of cases and of all asks: readers of the journal that go on where they stopped.

Opening and deciding cost nothing more for it. Whoever searches reads on first, and so does the
sweep; of several who do so at once one gets on. What an index has can be dropped at any time: the
journal has all of it.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence

from sayso.errors import BadValue, SaysoError
from sayso.insight.case import is_case, row_of, text_of
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.folding import fold
from sayso.store.contract import Store

_log = logging.getLogger("sayso.insight")
_BATCH = 500  # events
# What a journal that was changed by hand may end in.
SENSELESS = (SaysoError, KeyError, TypeError, ValueError, AttributeError)


def catch_up(store: Store, *, most: int | None = None) -> None:
    """Read the journal to its end for cases; at most so many events, if there is other work."""
    _Cases(store).catch_up(most)


def catch_up_texts(store: Store, *, most: int | None = None) -> bool:
    """Read the journal on for the words of all asks; return whether its end was reached."""
    return _Texts(store).catch_up(most)


def rebuild(store: Store) -> None:
    """Make both indexes anew, from the beginning of the journal."""
    for reader in (_Cases(store), _Texts(store)):
        reader.drop()
        reader.catch_up()


class _Reader(ABC):
    """Whoever keeps one index."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @abstractmethod
    def reached(self) -> str:
        """Return how far the index has come."""

    @abstractmethod
    def concerns(self, event: Event) -> bool:
        """Whether an event of an ask may change what the index says of it."""

    @abstractmethod
    def put(self, ids: Sequence[str], before: str, after: str) -> bool:
        """Write what the journal says of these asks; False if somebody else has got on."""

    @abstractmethod
    def drop(self) -> None:
        """Forget the index."""

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
        changed = {event.stream for event in events if _of_ask(event) and self.concerns(event)}
        if not self.put(sorted(changed), before, events[-1].cursor or before):
            return _BATCH  # somebody else read on: look again where they are
        return len(events)

    def _tail(self, cursor: str, limit: int = _BATCH) -> list[Event]:
        try:
            return self._store.tail(cursor or None, limit)
        except BadValue:  # the database was restored, and its journal is numbered anew
            self.drop()
            return self._store.tail(None, limit)


class _Cases(_Reader):
    """Of what people decided."""

    def reached(self) -> str:
        return self._store.case_cursor()

    def concerns(self, event: Event) -> bool:
        return event.kind != "ask.opened"

    def put(self, ids: Sequence[str], before: str, after: str) -> bool:
        rows = [row_of(ask) for ask in asks_of(self._store, ids) if is_case(ask)]
        gone = _others(ids, [row.id for row in rows])
        return self._store.put_cases(rows, gone, before=before, after=after)

    def drop(self) -> None:
        self._store.drop_cases()


# What leaves the words of an ask, and whether it is open, as they were.
_WORDLESS = frozenset({"ask.reminded", "ask.escalated", "ask.assigned"})


class _Texts(_Reader):
    """Of all asks, open and closed."""

    def reached(self) -> str:
        return self._store.text_cursor()

    def concerns(self, event: Event) -> bool:
        return event.kind.startswith(("ask.", "payload.")) and event.kind not in _WORDLESS

    def put(self, ids: Sequence[str], before: str, after: str) -> bool:
        folded = _folded(self._store, ids)
        rows = [text_of(ask, *_leaving(events)) for ask, events in folded if ask.digest]
        gone = _others(ids, [row.id for row in rows])
        return self._store.put_texts(rows, gone, before=before, after=after)

    def drop(self) -> None:
        self._store.drop_texts()


def _of_ask(event: Event) -> bool:
    return event.stream.startswith("a-")


def _leaving(events: Sequence[Event]) -> list[str]:
    """Return why an ask was withdrawn: the one thing said to it that it does not carry."""
    notes = [(event.payload or {}).get("note") for event in events if event.kind == "ask.withdrawn"]
    return [note for note in notes if isinstance(note, str)]


def _others(ids: Sequence[str], known: Sequence[str]) -> list[str]:
    return sorted({*ids} - {*known})


def asks_of(store: Store, ids: Sequence[str]) -> list[Ask]:
    """Return asks as their journals say. One that makes no sense is left out, and said to be."""
    return [ask for ask, _ in _folded(store, ids)]


def _folded(store: Store, ids: Sequence[str]) -> list[tuple[Ask, Sequence[Event]]]:
    found: list[tuple[Ask, Sequence[Event]]] = []
    for events in store.journals(ids):
        try:
            found.append((fold(events), events))
        except SENSELESS as error:
            _log.error("The journal of %s is no case: %s", events[0].stream, error)
    return found
