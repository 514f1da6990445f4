"""Counting what happened: facts of the journal, added up by the hour and by the day.

Each event is counted once, in the commit that moves the cursor. What an event counts as is said in
`insight.facts`. An ask that was erased before it was counted is counted without its agent and tool.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor, log2
from typing import Any

from sayso.insight.facts import COUNTED, TRUST, Fact, facts_of_ask, facts_of_call, facts_of_trust
from sayso.insight.reading import SENSELESS, Batch
from sayso.model.event import Event
from sayso.store.contract import Store
from sayso.store.tallies import Tally

_log = logging.getLogger("sayso.insight")
HOUR = 3_600_000_000  # microseconds
DAY = 24  # hours
_Counted = tuple[int, tuple[str, str, str, str, str], str, int, str]
_BINS = 8  # to a power of two: each is 9% longer than the one before
_BRIEFEST = 1_000  # microseconds


def bin_of(took: int) -> int:
    """Return the bin of a time in microseconds."""
    return floor(_BINS * log2(max(took, _BRIEFEST) / 1_000_000))


def seconds_in(bin: int, share: float) -> float:  # noqa: A002 - what it is
    """Return the seconds at that share of the way through a bin."""
    return float(2 ** ((bin + share) / _BINS))


def tallies_in(batch: Batch) -> list[Tally]:
    """Return everything that metrics are made from, added up."""
    return _added_up(_facts(batch))


def _facts(batch: Batch) -> Iterator[Fact]:
    for event in batch.of(*COUNTED):
        told = batch.asks.get(event.stream)
        if told is not None:
            yield from _sensible(event, facts_of_ask(event, told.ask, told.events))
    for event in batch.of("step.begun"):
        yield from facts_of_call(event, batch.starts.get(event.stream, {}).get("team") or "")
    spoken = batch.of(*TRUST)
    keys = _keys_of(batch.store, {event.stream for event in spoken})
    for event in spoken:
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
    sums: dict[_Counted, list[int]] = {}
    for of, what, amount, timed, person in facts:
        part = bin_of(amount) if timed and amount is not None else 0
        counted = of.at // HOUR, of[1:], what, part, person
        if counted in sums:
            known = sums[counted]
            known[0] += 1
            known[1] += amount or 0
        else:
            sums[counted] = [1, amount or 0]
    rows: dict[tuple[object, ...], list[int]] = {}
    for counted, (n, amount) in sums.items():
        for place in _places(*counted):
            known = rows.setdefault(place, [0, 0])
            known[0] += n
            known[1] += amount
    # In one order: two who count must not wait for each other.
    return [Tally(*place, *rows[place]) for place in sorted(rows)]  # type: ignore[arg-type]


def _places(
    hour: int, of: tuple[str, str, str, str, str], what: str, part: int, person: str
) -> Iterator[tuple[object, ...]]:
    """Yield where a fact is counted: for a person, or for the hour, the day and for ever."""
    team, agent, tool, tier, kind = of
    day = hour - hour % DAY
    if person:
        yield "person", day, team, "", "", "", person, kind, what, part
        return
    yield "hour", hour, team, "", "", "", "", kind, what, part
    yield "day", day, team, agent, tool, tier, "", kind, what, part
    yield "ever", 0, "", "", "", "", "", kind, what, 0
