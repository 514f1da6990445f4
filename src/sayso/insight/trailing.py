"""The trail: of each event of the journal, who did what to what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sayso.errors import Tampered
from sayso.insight.reading import Batch, starts_of
from sayso.model.event import Event
from sayso.model.event_kinds import EVENTS
from sayso.store.contract import Store
from sayso.store.trail import DESK, TrailRow

# Payloads are read of those kinds alone whose payload has something that is listed.
_JUDGED = frozenset(
    kind for kind, of in EVENTS.items() if "verdict" in of.says and of.family == "ask"
)
_CALLED = frozenset(kind for kind, of in EVENTS.items() if of.family == "step")
_TELLING = _JUDGED | _CALLED
LONGEST_TOOL = 200  # characters of a name by which a tool is found


def trail_in(batch: Batch) -> list[TrailRow]:
    """Return the events of a batch as the trail lists them."""
    return rows_of(batch.store, batch.events)


def erased_in(batch: Batch) -> list[TrailRow]:
    """Return what is left to say of asks that were erased, for it may have been noted before."""
    erased = {event.stream for event in batch.of("payload.erased")}
    found: list[TrailRow] = []
    for journal in batch.store.journals(sorted(erased)):
        verdict = str(_said(journal[-1]).get("verdict") or "")
        found += [
            row._replace(verdict=verdict) if row.kind == "ask.decided" else row
            for row in rows_of(batch.store, journal)
        ]
    return found


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
    said = _said(event) if event.kind in _TELLING else {}
    who = event.who
    if event.kind == "ask.decided" and said.get("settled"):
        who = f"person:{said['settled']}"  # the clock only wrote it down
    if event.kind in _CALLED:
        tool = _called(event.kind, said)
    verdict = said.get("verdict") if event.kind in _JUDGED else None
    sort, actor = _actor(who)
    return TrailRow(
        team,
        event.micros,
        event.stream,
        event.seq,
        event.kind,
        sort,
        actor,
        storable(tool)[:LONGEST_TOOL] if tool else "",
        storable(verdict) if isinstance(verdict, str) else "",
    )


@lru_cache(maxsize=256)
def _actor(who: str) -> tuple[str, str]:
    """Return what somebody is, and their whole name, as every database takes them."""
    return storable(who.partition(":")[0]), storable(who)


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
