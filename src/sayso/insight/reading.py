"""A stretch of the journal, decoded and folded once for all who make something of it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from sayso.errors import SaysoError
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.folding import fold
from sayso.store.contract import Store

_log = logging.getLogger("sayso.insight")
# What a journal that was changed by hand may end in.
SENSELESS = (SaysoError, KeyError, TypeError, ValueError, AttributeError)
# They leave the words of an ask, and what people said to it, as they were.
_WORDLESS = frozenset({"ask.reminded", "ask.escalated", "ask.assigned"})
_PLACE = attrgetter("stream", "seq")
_STREAM = attrgetter("stream")


class Told(NamedTuple):
    """An ask, and the events it was folded from."""

    ask: Ask
    events: Sequence[Event]


class Batch:
    """The next events of the journal, in the order of their commits."""

    def __init__(self, store: Store, events: Sequence[Event]) -> None:
        self.store = store
        self.events = events

    @cached_property
    def kinds(self) -> Mapping[str, Sequence[Event]]:
        """The events by their kinds."""
        found: dict[str, list[Event]] = {}
        for event in self.events:
            found.setdefault(event.kind, []).append(event)
        return found

    def of(self, *kinds: str) -> list[Event]:
        """Return the events of some kinds."""
        return [event for kind in kinds for event in self.kinds.get(kind, ())]

    @cached_property
    def changed(self) -> frozenset[str]:
        """The asks of whose words or verdicts an event may tell."""
        return frozenset(
            event.stream
            for event in self.events
            if event.kind not in _WORDLESS and event.stream.startswith("a-")
        )

    @cached_property
    def asks(self) -> Mapping[str, Told]:
        """The asks that changed; one that makes no sense is left out, and said to be.

        Most began in this batch, and so all there is of them is in it.
        """
        own = sorted((one for one in self.events if one.stream in self.changed), key=_PLACE)
        found: dict[str, Told] = {}
        for stream, group in groupby(own, key=_STREAM):
            journal = list(group)
            told = _told(journal) if journal[0].seq == 1 else None
            if told is not None:
                found[stream] = told
        older = self.changed.difference(found)
        return found | {one.ask.id: one for one in folded(self.store, sorted(older))}

    @cached_property
    def starts(self) -> Mapping[str, Mapping[str, Any]]:
        """The payloads of the first events of its runs."""
        return starts_of(self.store, sorted({e.stream for e in self.events if _of_run(e)}))


def _of_run(event: Event) -> bool:
    return event.stream.startswith("r-")


def of_ask(event: Event) -> bool:
    """Whether an event is one of an ask."""
    return event.stream.startswith("a-")


def asks_of(store: Store, ids: Sequence[str]) -> list[Ask]:
    """Return asks as their journals say. One that makes no sense is left out, and said to be."""
    return [ask for ask, _ in folded(store, ids)]


def starts_of(store: Store, runs: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """Return what was said as these runs began; one whose words are gone or changed is left out."""
    found: dict[str, Mapping[str, Any]] = {}
    for first, *_ in store.beginnings(list(runs)):
        try:
            said = first.payload
        except SENSELESS:
            continue
        if said and first.kind == "run.started":
            found[first.stream] = said
    return found


def folded(store: Store, ids: Sequence[str]) -> list[Told]:
    """Return asks with their journals; one that makes no sense is left out, and said to be."""
    return [told for events in store.journals(ids) if (told := _told(events)) is not None]


def _told(events: Sequence[Event]) -> Told | None:
    try:
        return Told(fold(events), events)
    except SENSELESS as error:
        _log.error("The journal of %s is no case: %s", events[0].stream, error)
        return None
