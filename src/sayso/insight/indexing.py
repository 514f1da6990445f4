"""Keeping the indexes of cases and of all asks: readers of the journal that go on where they stopped.

Opening and deciding cost nothing more for it. Whoever searches reads on first, and so does the
sweep; of several who do so at once one gets on. What an index has can be dropped at any time: the
journal has all of it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from sayso.insight.case import is_case, row_of, text_of
from sayso.insight.reading import Reader, asks_of, folded, of_ask
from sayso.model.event import Event
from sayso.store.contract import Store


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


class _Index(Reader):
    """Whoever keeps an index of asks: what the journal says of an ask replaces what it said before."""

    @abstractmethod
    def concerns(self, event: Event) -> bool:
        """Whether an event of an ask may change what the index says of it."""

    @abstractmethod
    def put(self, ids: Sequence[str], before: str, after: str) -> bool:
        """Write what the journal says of these asks; False if somebody else has got on."""

    def take(self, events: Sequence[Event], before: str, after: str) -> bool:
        """Take the next events in."""
        changed = {event.stream for event in events if of_ask(event) and self.concerns(event)}
        return self.put(sorted(changed), before, after)


class _Cases(_Index):
    """Of what people decided."""

    name = "cases"

    def concerns(self, event: Event) -> bool:
        return event.kind != "ask.opened"

    def put(self, ids: Sequence[str], before: str, after: str) -> bool:
        rows = [row_of(ask) for ask in asks_of(self.store, ids) if is_case(ask)]
        gone = _others(ids, [row.id for row in rows])
        return self.store.put_cases(rows, gone, before=before, after=after)


# What leaves the words of an ask, and whether it is open, as they were.
_WORDLESS = frozenset({"ask.reminded", "ask.escalated", "ask.assigned"})


class _Texts(_Index):
    """Of all asks, open and closed."""

    name = "texts"

    def concerns(self, event: Event) -> bool:
        return event.kind.startswith(("ask.", "payload.")) and event.kind not in _WORDLESS

    def put(self, ids: Sequence[str], before: str, after: str) -> bool:
        found = folded(self.store, ids)
        rows = [text_of(ask, *_leaving(events)) for ask, events in found if ask.digest]
        gone = _others(ids, [row.id for row in rows])
        return self.store.put_texts(rows, gone, before=before, after=after)


def _leaving(events: Sequence[Event]) -> list[str]:
    """Return why an ask was withdrawn: the one thing said to it that it does not carry."""
    notes = [(event.payload or {}).get("note") for event in events if event.kind == "ask.withdrawn"]
    return [note for note in notes if isinstance(note, str)]


def _others(ids: Sequence[str], known: Sequence[str]) -> list[str]:
    return sorted({*ids} - {*known})
