"""What happened last, in plain words: who decided what, what came of it, which runs ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sayso.channels.headline import headline
from sayso.channels.story import told
from sayso.insight.reading import folded, starts_of
from sayso.insight.trail import lately
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.folding import as_met
from sayso.model.text import one_line
from sayso.web.visit import Visit

_SHOWN = 12
_LOOKED_AT = 1000  # events of one's teams, however many there are
_TAKEN = 60  # of those that are told, some of which may be of no interest
# What is told of, with its icon and its tone.
_LOOKS: Mapping[str, tuple[str, str]] = {
    "ask.opened": ("pause", "warn"),
    "ask.decided": ("check", ""),
    "ask.withdrawn": ("undo-2", ""),
    "effect.done": ("circle-check", ""),
    "effect.failed": ("circle-alert", "stop"),
    "effect.unknown": ("circle-question-mark", "warn"),
    "run.done": ("circle-check", ""),
    "run.failed": ("circle-alert", "stop"),
    "run.parked": ("pause", "warn"),
    "run.cancelled": ("octagon-x", ""),
    "run.retried": ("refresh-cw", ""),
}
_VERDICTS = {"edit": ("pencil", ""), "reject": ("x", "stop"), "respond": ("message-square", "")}


@dataclass(frozen=True, slots=True, kw_only=True)
class HappenedLine:
    """One thing that happened. `text` was made visible when it was written."""

    icon: str
    tone: str
    text: str
    about: str  # the workflow of a run
    who: str
    href: str
    at: datetime


class _Known(NamedTuple):
    """An ask as it stands, and as each of its events met it."""

    ask: Ask
    met: Mapping[int, Ask]


def happened(visit: Visit) -> tuple[HappenedLine, ...]:
    """Return what happened last of what this person may see, the newest first."""
    own = visit.teams()
    teams = None if own is None else ("", *own)
    events = lately(visit.store, _LOOKS, teams=teams, steps=_LOOKED_AT, limit=_TAKEN)
    asks = _asks(visit, [event.stream for event in events if event.stream.startswith("a-")])
    runs = _runs(visit, [event.stream for event in events if event.kind.startswith("run.")])
    lines = []
    for event in sorted(events, key=lambda event: -event.micros):
        known, run = asks.get(event.stream), runs.get(event.stream)
        if known is not None and not _by_policy(event, known.ask):
            lines.append(_of_ask(event, known.met.get(event.seq, known.ask)))
        elif run is not None:
            lines.append(_of_run(event, run))
    return tuple(lines[:_SHOWN])


def _asks(visit: Visit, ids: Sequence[str]) -> dict[str, _Known]:
    roster = visit.people
    found = folded(visit.store, list(dict.fromkeys(ids))) if ids else []
    return {
        ask.id: _Known(ask, as_met(ask, events))
        for ask, events in found
        if visit.sees(ask.content.team, ask.content.agent, roster) and ask.digest
    }


def _runs(visit: Visit, ids: Sequence[str]) -> dict[str, str]:
    """Return the workflows of those of these runs that the caller sees."""
    roster = visit.people
    starts = starts_of(visit.store, list(dict.fromkeys(ids))) if ids else {}
    return {
        run_id: str(said.get("workflow", ""))
        for run_id, said in starts.items()
        if visit.sees(said.get("team"), None, roster)
    }


def _by_policy(event: Event, ask: Ask) -> bool:
    """Whether nobody was asked: what the policy allowed is told by what came of it."""
    alone = ask.decision is not None and ask.decision.by.kind == "policy"
    return alone and event.kind.startswith("ask.")


def _of_ask(event: Event, ask: Ask) -> HappenedLine:
    icon, tone = _LOOKS[event.kind]
    if event.kind == "ask.decided" and event.payload:
        icon, tone = _VERDICTS.get(str(event.payload.get("verdict")), (icon, tone))
    return HappenedLine(
        icon=icon,
        tone=tone,
        about="",
        text=told(event, ask, called=headline(ask)).plain.strip(),
        who=ask.content.agent,
        href=f"/inbox/{ask.id}",
        at=event.at,
    )


def _of_run(event: Event, workflow: str) -> HappenedLine:
    icon, tone = _LOOKS[event.kind]
    return HappenedLine(
        icon=icon,
        tone=tone,
        about=f"{one_line(workflow, 60)}{':' if event.actor.kind == 'person' else ''}",
        text=told(event).plain.strip(),
        who=event.stream,
        href=f"/runs/{event.stream}",
        at=event.at,
    )
