"""The journal of a run as a page tells it: part by part, each event in plain words with all it says.

What a model or a tool wrote stands in a fence; what is long is folded, and what is too long for a
page is in the API.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sayso.channels.agent_words import reply_line
from sayso.channels.facts import Fact, facts_from
from sayso.channels.headline import headline
from sayso.channels.story import in_order, told, with_begin
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.folding import as_met
from sayso.model.money import say_dollars
from sayso.model.span import say_span
from sayso.runs.journal import asks_of
from sayso.store.contract import RunRow, Store
from sayso.web.visit import Visit

PART = 100  # events of a run's own journal on one page
_LONG = 20_000  # characters of an event beyond which a page does not unfold it
_LEAST = 0.1  # seconds; what took less is not worth a word
# Of these we say everything in the line itself, or it is said on the page of the ask.
_PLAIN = ("ask.opened", "run.started")
# How an event came, and where it belongs, is for those who verify the journal.
_DOOR = frozenset(
    {
        "via",
        "account",
        "request",
        "key",
        "verb",
        "name",
        "took",
        "seen",
        "worker",
        "holder",
        "version",
    }
)
_FAILED = ("step.failed", "effect.failed", "run.failed")
_DOUBTS = ("effect.unknown", "run.parked", "effect.late")
_ASKS = ("ask.opened", "ask.settling")


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalLine:
    """One event. `text` was made visible when it was written; `words` are a model's own."""

    id: str
    at: datetime
    icon: str
    tone: str
    text: str
    depth: int
    href: str | None = None
    took: str | None = None
    words: str | None = None
    facts: tuple[Fact, ...] = ()
    left_out: int = 0  # characters that no page unfolds


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a run's journal: its own events, and what it asked meanwhile."""

    events: Sequence[Event]
    asks: Sequence[Ask]
    journals: Sequence[Sequence[Event]]
    first: int
    last: int


def part_of(visit: Visit, row: RunRow, upto: int | None) -> Part:
    """Read the part of a journal that ends with this event of the run, or with its last one."""
    store, last = visit.store, max(row.seq if upto is None else min(upto, row.seq), 0)
    after = max(last - PART, 0)
    events = store.passage(row.id, after, last)
    since = events[0].at if events and after else None
    until = _next_at(store, row, last) if last < row.seq else None
    roster = visit.people
    journals = store.run_asks_between(row.id, since, until)
    asks = asks_of(row.id, journals)
    seen = {ask.id for ask in asks if visit.sees(ask.content.team, ask.content.agent, roster)}
    return Part(
        events=events,
        asks=[ask for ask in asks if ask.id in seen],
        journals=[one for one in journals if one[0].stream in seen],
        first=after + 1,
        last=last,
    )


def _next_at(store: Store, row: RunRow, last: int) -> datetime | None:
    following = store.passage(row.id, last, last + 1)
    return following[0].at if following else None


def journal_of(part: Part) -> tuple[JournalLine, ...]:
    """Tell a part of a journal, in the order things happened, each as it was then."""
    known = {ask.id: ask for ask in part.asks}
    met = {one[0].stream: as_met(known[one[0].stream], one) for one in part.journals}
    events = in_order(part.events, part.journals)
    return tuple(
        _line(event, met.get(event.stream, {}).get(event.seq), start)
        for event, start in with_begin(events)
    )


def _key(event: Event) -> str:
    return str((event.payload or {}).get("key") or "")


def _line(event: Event, ask: Ask | None, start: Event | None) -> JournalLine:
    said = event.payload or {}
    model = event.kind == "step.done" and said.get("verb") == "model"
    called = None if ask is None or not ask.digest else headline(ask)
    text = reply_line(said) if model else told(event, ask, begun=start, called=called).plain
    icon, tone = _look(event, said)
    size = len(event.text or "")
    return JournalLine(
        id=f"{event.stream}.{event.seq}",
        at=event.at,
        icon=icon,
        tone=tone,
        text=text.strip(),
        depth=min(_key(event).count("."), 3) if event.kind.startswith("step.") else 0,
        href=None if ask is None else f"/inbox/{ask.id}",
        took=_took(event, said, start),
        words=(str((said.get("result") or {}).get("text") or "") or None) if model else None,
        facts=() if size > _LONG or event.kind in _PLAIN else _facts(said, start, model=model),
        left_out=size if size > _LONG else 0,
    )


def _look(event: Event, said: Mapping[str, Any]) -> tuple[str, str]:
    if event.kind in _FAILED or said.get("verdict") == "reject":
        return "x", "stop"
    if event.kind in _DOUBTS:
        return "triangle-alert", "warn"
    if event.kind in _ASKS:
        return "pause", "warn"
    if event.kind in ("run.started", "run.retried"):
        return "activity", ""
    if said.get("verb") == "model":
        return "message-square", ""
    return ("square-terminal", "") if said.get("verb") == "call" else ("check", "")


def _took(event: Event, said: Mapping[str, Any], start: Event | None) -> str | None:
    seconds = said.get("took")
    if not isinstance(seconds, int | float):
        seconds = None if start is None else (event.at - start.at).total_seconds()
    if seconds is None or seconds < _LEAST:
        return None
    return f"{seconds:.1f} s" if seconds < 10 else say_span(timedelta(seconds=seconds))


def _facts(said: Mapping[str, Any], start: Event | None, *, model: bool) -> tuple[Fact, ...]:
    """Return what an event says beyond its line, value by value."""
    if model:
        reply = said.get("result") or {}
        calls = [
            (str(call.get("tool", "")), call.get("args") or {}) for call in reply.get("calls") or ()
        ]
        return facts_from([*_pairs(calls), *_spent(reply)])
    args = (start.payload or {}).get("args") if start is not None else None
    shown = {} if args is None else {"arguments": args}
    shown |= {name: value for name, value in said.items() if name not in _DOOR and _tells(value)}
    return facts_from(shown)


def _pairs(calls: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [(f"wants {tool}", json.dumps(args, ensure_ascii=False)) for tool, args in calls]


def _spent(reply: Mapping[str, Any]) -> list[tuple[str, Any]]:
    usage = dict(reply.get("usage") or {})
    if isinstance(usage.get("cost"), int | float):
        usage["cost"] = say_dollars(usage["cost"])
    named = {"input": "tokens read", "output": "tokens written", "cost": "cost"}
    return [(words, usage[name]) for name, words in named.items() if usage.get(name) is not None]


def _tells(value: object) -> bool:
    return value is not None and value != [] and value != {} and value is not False
