"""Keeping the trail: a reader of the journal that notes of each event who did what to what.

Writing the journal costs nothing more for it. Whoever looks reads on first, and so does the sweep.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sayso.errors import Tampered
from sayso.insight.reading import Reader, of_ask, starts_of
from sayso.model.event import Event
from sayso.store.contract import Store
from sayso.store.trail import DESK, TrailRow

LONGEST_TOOL = 200  # characters of a name by which a tool is found


def read_trail(store: Store, *, most: int | None = None) -> bool:
    """Read the journal on, at most so many events; return whether its end was reached."""
    return _Trail(store).catch_up(most)


def read_trail_again(store: Store) -> None:
    """Forget the trail, and make it anew from the beginning of the journal."""
    reader = _Trail(store)
    reader.drop()
    reader.catch_up()


def rows_of(store: Store, events: Sequence[Event]) -> list[TrailRow]:
    """Return events as the trail lists them."""
    whose = _whose(store, {event.stream for event in events})
    return [row_of(event, *whose[event.stream]) for event in events]


def teams_of(store: Store, streams: Iterable[str]) -> Mapping[str, str]:
    """Return the team that each stream belongs to, as the trail names it."""
    return {stream: whose.team for stream, whose in _whose(store, streams).items()}


class _Whose(NamedTuple):
    """What an event does not say itself: the team of its stream, and the tool of its ask."""

    team: str
    tool: str = ""


class _Trail(Reader):
    """Of everything."""

    name = "trail"

    def take(self, events: Sequence[Event], before: str, after: str) -> bool:
        rows, changed = rows_of(self.store, events), list(self._erased(events))
        return self.store.put_trail(rows, changed, before=before, after=after)

    def _erased(self, events: Sequence[Event]) -> Iterator[TrailRow]:
        """Yield what is left to say of asks that were erased, for it may have been noted before."""
        erased = {event.stream for event in events if event.kind == "payload.erased"}
        for journal in self.store.journals(sorted(erased)):
            verdict = _said(journal[-1]).get("verdict") or ""
            for row in rows_of(self.store, journal):
                yield row._replace(verdict=str(verdict)) if row.kind == "ask.decided" else row


def _whose(store: Store, streams: Iterable[str]) -> Mapping[str, _Whose]:
    # What is of no ask and no run that is listed is for those who look after the desk.
    found = dict.fromkeys(streams, _Whose(DESK))
    asks = [stream for stream in found if stream.startswith("a-")]
    for ask_id, listed in (store.indexed(asks) if asks else {}).items():
        found[ask_id] = _Whose(str(listed["team"] or ""), str(listed["tool"] or ""))
    runs = [stream for stream in found if stream.startswith("r-")]
    starts = starts_of(store, runs)
    for run_id in runs:
        if run_id in starts:
            found[run_id] = _Whose(str(starts[run_id].get("team") or ""))
        elif (listed_run := store.run(run_id)) is not None:  # its beginning is no longer to be read
            found[run_id] = _Whose(listed_run.team or "")
    for key in [stream for stream in found if stream.startswith("k-")]:
        row = store.trust_of(key)
        if row is not None:
            found[key] = _Whose(row.team, row.tool)
    return found


def row_of(event: Event, team: str, tool: str) -> TrailRow:
    """Return an event as the trail lists it."""
    said = _said(event)
    actor = event.who
    if event.kind == "ask.decided" and said.get("settled"):
        actor = f"person:{said['settled']}"  # the clock only wrote it down
    if not (of_ask(event) or event.stream.startswith("k-")):
        tool = _called(event.kind, said)
    verdict = said.get("verdict") if event.kind.startswith("ask.") else None
    return TrailRow(
        team=team,
        at=event.micros,
        stream=event.stream,
        seq=event.seq,
        kind=event.kind,
        sort=storable(actor.partition(":")[0]),
        actor=storable(actor),
        tool=storable(tool)[:LONGEST_TOOL],
        verdict=storable(verdict) if isinstance(verdict, str) else "",
    )


def storable(text: str) -> str:
    """Return a text that every database takes: what somebody else wrote stops no reader."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def _called(kind: str, said: Mapping[str, Any]) -> str:
    """Return the tool that a run called without asking anybody."""
    if kind == "step.begun" or (kind.startswith("step.") and said.get("verb") == "call"):
        return str(said.get("name") or "")
    return ""


def _said(event: Event) -> Mapping[str, Any]:
    try:
        return event.payload or {}
    except Tampered:  # named by whoever verifies; here it only says nothing
        return {}
