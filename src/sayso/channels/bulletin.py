"""What a webhook is told of an event: what happened, and to which ask or run.

It is made from the journal when it is sent, as things stood at that event, so that every attempt
says the same and nothing has to be kept that an erasure would miss. What an agent wrote is made
visible. Arguments, notes and results are said only to webhooks that were added with `full`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sayso.channels.record import ask_record
from sayso.errors import BadValue, Tampered
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.event_kinds import check_kind
from sayso.model.folding import fold
from sayso.model.text import one_line
from sayso.store.contract import Store
from sayso.store.outbox import DeliveryRow

PING = "ping"
_TITLE = 200


def bulletin(store: Store, delivery: DeliveryRow, *, full: bool) -> bytes:
    """Return the body of a message: JSON, in ASCII.

    Raises:
        Tampered: the journal no longer says this, or nothing that makes sense.
    """
    events = _events(store, delivery)
    if not events or events[-1].seq != delivery.seq:
        raise Tampered(f"Event {delivery.seq} of {delivery.stream} is no longer in the journal.")
    last = events[-1]
    try:
        return written(last.kind, last.at, _data(events, full=full))
    except (KeyError, TypeError, ValueError, AttributeError, BadValue) as error:
        raise Tampered(
            f"The journal of {delivery.stream} makes no sense. Run: sayso audit verify"
        ) from error


def _events(store: Store, delivery: DeliveryRow) -> list[Event]:
    """Return an ask's journal up to the event; of anything longer, the two ends."""
    beginning = store.beginnings([delivery.stream])
    first = beginning[0][0] if beginning else None
    if first is not None and first.kind == "ask.opened":
        return store.stream(delivery.stream)[: delivery.seq]
    ends = store.stream(delivery.stream, delivery.seq - 1)[:1]
    return ends if first is None or delivery.seq == 1 else [first, *ends]


def written(kind: str, at: datetime, data: dict[str, Any]) -> bytes:
    """Return a message in the form that Standard Webhooks recommends."""
    said = {"type": kind, "timestamp": at.isoformat(), "data": data}
    return json.dumps(said, separators=(",", ":")).encode()


def _data(events: Sequence[Event], *, full: bool) -> dict[str, Any]:
    first, last = events[0], events[-1]
    data: dict[str, Any] = {"id": first.stream, "event": last.seq, "by": str(last.actor)}
    if first.kind == "ask.opened":
        data |= _ask(events, full=full)
    elif first.kind == "run.started":
        data |= _run(first)
    if full:
        data["said"] = last.payload
    return data


def _ask(events: Sequence[Event], *, full: bool) -> dict[str, Any]:
    ask = fold(events)
    said = {
        "kind": ask.kind,
        "status": ask.status,
        "title": one_line(ask.title, _TITLE),
        "agent": one_line(ask.content.agent, _TITLE),
        "risk": ask.risk,
        "team": team_of(events[0]),
        "run": ask.content.run,
        "due_at": None if ask.due_at is None else ask.due_at.isoformat(),
        "verdict": _verdict(ask),
    }
    return {**said, "ask": ask_record(ask)} if full else said


def _verdict(ask: Ask) -> str | None:
    return None if ask.judged is None else ask.judged.verdict


def _run(started: Event) -> dict[str, Any]:
    said = started.payload or {}
    return {"workflow": one_line(str(said.get("workflow", "")), 80), "team": team_of(started)}


def team_of(first: Event) -> str | None:
    """Return the team of the ask or run that this event began; none, if that cannot be read."""
    try:
        said = first.payload or {}
    except Tampered:
        return None
    content = said.get("content")
    team = content.get("team") if isinstance(content, dict) else said.get("team")
    return team if isinstance(team, str) else None


def decided_alone(beginning: Sequence[Event]) -> bool:
    """Whether the policy decided an ask as it opened, so that nobody was asked."""
    if len(beginning) < 2 or beginning[0].kind != "ask.opened":
        return False
    return beginning[1].kind == "ask.decided" and beginning[1].who.startswith("policy:")


def matches(kinds: Sequence[str], kind: str) -> bool:
    """Whether a kind of event is among those wanted: `ask.opened`, `ask.*`, or `*`."""
    return kind in kinds or "*" in kinds or f"{kind.partition('.')[0]}.*" in kinds


def check_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds wanted, each once.

    Raises:
        BadValue: there are none, or one of them is no kind of event.
    """
    given = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if not given:
        raise BadValue("A webhook is told of at least one kind of event, such as ask.opened.")
    return tuple(dict.fromkeys(check_kind(kind, families=True) for kind in given))
