"""Counting what happened: a reader of the journal that adds up, by the hour and by the day.

Each event is counted once, in the commit that moves the cursor. What an event counts as is said in
`insight.facts`. An ask that was erased before it was counted is counted without its agent and tool.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor, log2
from typing import Any

from sayso.insight.facts import COUNTED, TRUST, Fact, facts_of_ask, facts_of_call, facts_of_trust
from sayso.insight.reading import SENSELESS, Reader, folded, of_ask, starts_of
from sayso.model.event import Event
from sayso.store.contract import Store
from sayso.store.tallies import Tally

_log = logging.getLogger("sayso.insight")
HOUR = 3_600_000_000  # microseconds
DAY = 24  # hours
_BINS = 8  # to a power of two: each is 9% longer than the one before
_BRIEFEST = 1_000  # microseconds


def count_on(store: Store, *, most: int | None = None) -> bool:
    """Count the journal to its end, at most so many events; return whether the end was reached."""
    return _Counts(store).catch_up(most)


def count_again(store: Store) -> None:
    """Forget all counts, and count the journal from its beginning."""
    reader = _Counts(store)
    reader.drop()
    reader.catch_up()


def bin_of(took: int) -> int:
    """Return the bin of a time in microseconds."""
    return floor(_BINS * log2(max(took, _BRIEFEST) / 1_000_000))


def seconds_in(bin: int, share: float) -> float:  # noqa: A002 - what it is
    """Return the seconds at that share of the way through a bin."""
    return float(2 ** ((bin + share) / _BINS))


class _Counts(Reader):
    """Of everything that metrics are made from."""

    name = "tallies"

    def take(self, events: Sequence[Event], before: str, after: str) -> bool:
        return self.store.put_tallies(_added_up(self._facts(events)), before=before, after=after)

    def _facts(self, events: Sequence[Event]) -> Iterator[Fact]:
        counted = [event for event in events if of_ask(event) and event.kind in COUNTED]
        asks = folded(self.store, sorted({one.stream for one in counted}))
        journals = {ask.id: (ask, journal) for ask, journal in asks}
        for event in counted:
            if event.stream in journals:
                yield from _sensible(event, facts_of_ask(event, *journals[event.stream]))
        begun = [event for event in events if event.kind == "step.begun"]
        starts = starts_of(self.store, sorted({event.stream for event in begun}))
        for event in begun:
            yield from facts_of_call(event, starts.get(event.stream, {}).get("team") or "")
        told = [event for event in events if event.kind in TRUST]
        keys = _keys_of(self.store, {event.stream for event in told})
        for event in told:
            yield from facts_of_trust(event, keys.get(event.stream, {}))


def _sensible(event: Event, facts: Iterator[Fact]) -> Sequence[Fact]:
    """Return the facts of an event; of a journal that somebody changed, none, and say so."""
    try:
        return list(facts)
    except SENSELESS as error:
        _log.error("Event %s of %s is not counted: %s", event.seq, event.stream, error)
        return []


def _keys_of(store: Store, streams: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """Return what was said as these keys began."""
    found: dict[str, Mapping[str, Any]] = {}
    for first, *_ in store.beginnings(sorted(streams)):
        try:
            found[first.stream] = first.payload or {}
        except SENSELESS:
            continue
    return found


def _added_up(facts: Iterator[Fact]) -> list[Tally]:
    """Return facts as rows, one for each that differs in more than how often it was."""
    rows: dict[Tally, tuple[int, int]] = {}
    for fact in facts:
        for row in _rows_of(fact):
            n, amount = rows.get(row, (0, 0))
            rows[row] = n + 1, amount + (fact.amount or 0)
    # In one order: two who count must not wait for each other.
    return [row._replace(n=n, micros=amount) for row, (n, amount) in sorted(rows.items())]


def _rows_of(fact: Fact) -> Iterator[Tally]:
    """Yield where a fact is counted: for a person, or for the hour, the day and for ever."""
    hour = fact.at // HOUR
    day = hour - hour % DAY
    part = bin_of(fact.amount) if fact.timed and fact.amount is not None else 0
    ends = (fact.kind, fact.what, part, 0, 0)
    if fact.person:
        yield Tally("person", day, fact.team, "", "", "", fact.person, *ends)
        return
    yield Tally("hour", hour, fact.team, "", "", "", "", *ends)
    yield Tally("day", day, fact.team, fact.agent, fact.tool, fact.tier, "", *ends)
    yield Tally("ever", 0, "", "", "", "", "", fact.kind, fact.what, 0, 0, 0)
