"""Counting what happened: a reader of the journal that adds up, by the hour and by the day.

Each event is counted once, in the commit that moves the cursor. What people decided is counted
when it counts; what runs alone, when it begins. An ask that was erased before it was counted is
counted without its agent and tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log2
from typing import NamedTuple

from sayso.insight.reading import SENSELESS, Reader, asks_of, of_ask, starts_of
from sayso.model.ask import Ask
from sayso.model.event import Event, micros
from sayso.store.contract import Store
from sayso.store.tallies import Tally

HOUR = 3_600_000_000  # microseconds
DAY = 24  # hours
_BINS = 8  # to a power of two: each is 9% longer than the one before
_BRIEFEST = 1_000  # microseconds

# What a verdict of people counts as. The kind of a rejection is added to it.
_JUDGED = {"approve": "approved", "edit": "edited", "reject": "rejected", "respond": "sent_back"}
_COUNTED = frozenset({"ask.opened", "ask.decided", "ask.withdrawn"})


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


class _Fact(NamedTuple):
    """One thing to count."""

    at: int
    team: str
    agent: str
    tool: str
    tier: str
    kind: str
    what: str
    took: int | None = None


class _Counts(Reader):
    """Of everything that metrics are made from."""

    def reached(self) -> str:
        return self.store.tally_cursor()

    def take(self, events: Sequence[Event], before: str, after: str) -> bool:
        return self.store.put_tallies(_added_up(self._facts(events)), before=before, after=after)

    def drop(self) -> None:
        self.store.drop_tallies()

    def _facts(self, events: Sequence[Event]) -> Iterator[_Fact]:
        counted = [event for event in events if of_ask(event) and event.kind in _COUNTED]
        asks = {ask.id: ask for ask in asks_of(self.store, sorted({one.stream for one in counted}))}
        for event in counted:
            if event.stream in asks:
                yield from _of_ask(event, asks[event.stream])
        begun = [event for event in events if event.kind == "step.begun"]
        starts = starts_of(self.store, sorted({event.stream for event in begun}))
        for event in begun:
            yield from _of_call(event, starts.get(event.stream, {}).get("team") or "")


def _of_ask(event: Event, ask: Ask) -> Iterator[_Fact]:
    what, took = _became(event, ask)
    if what is None:
        return
    content = ask.content
    tier = content.ruled.tier or content.risk or ""
    who = (content.team or "", content.agent, ask.tool or "")
    yield _Fact(event.micros, *who, tier, ask.kind, what, took)


def _became(event: Event, ask: Ask) -> tuple[str | None, int | None]:
    """Return what an event of an ask counts as, if it does, and how long people took."""
    decision = ask.decision
    alone = decision is not None and decision.by.kind == "policy"
    if event.kind == "ask.withdrawn":
        return "withdrawn", None
    if event.kind == "ask.opened":
        return (None if alone else "asked"), None
    if alone:
        return "alone", None
    if decision is None or decision.by.kind != "person":
        return "expired", None
    what = _JUDGED[decision.verdict]
    if decision.kind is not None:
        what = f"{what}.{decision.kind}"
    voted = max((vote.at for vote in decision.votes), default=decision.at)
    return what, max(0, micros(voted) - micros(ask.opened_at))


def _of_call(event: Event, team: str) -> Iterator[_Fact]:
    """Count a call that needed nobody, when it is tried for the first time."""
    try:
        said = event.payload or {}
        agent = event.actor.id
    except SENSELESS:
        return
    if said.get("attempt", 1) == 1:
        tool = str(said.get("name", ""))
        yield _Fact(event.micros, team, agent, tool, "", "action", "alone")


def _added_up(facts: Iterator[_Fact]) -> list[Tally]:
    """Return facts as rows, one for each that differs in more than how often it was."""
    rows: dict[Tally, tuple[int, int]] = {}
    for fact in facts:
        hour = fact.at // HOUR
        part = 0 if fact.took is None else bin_of(fact.took)
        ends = (fact.kind, fact.what, part, 0, 0)
        for row in (
            Tally("hour", hour, fact.team, "", "", "", *ends),
            Tally("day", hour - hour % DAY, fact.team, fact.agent, fact.tool, fact.tier, *ends),
        ):
            n, took = rows.get(row, (0, 0))
            rows[row] = n + 1, took + (fact.took or 0)
    # In one order: two who count must not wait for each other.
    return [row._replace(n=n, micros=took) for row, (n, took) in sorted(rows.items())]
