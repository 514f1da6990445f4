"""What the clock does: remind people, let others stand in, settle a decision, close what is late.

A timeout is a decision like any other, by the clock, and it fails closed. Everything
here is written by whoever notices first: the sweep, a reviewer, or the program that
waits. Only one of them wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sayso.asks.spending import resolution
from sayso.asks.standing import Standing, grow, stamped
from sayso.model.actor import CLOCK, Origin
from sayso.model.agenda import Deed, due, reminder
from sayso.model.ask import Ask
from sayso.model.ruled import NEVER_BY_TIMEOUT
from sayso.model.span import say_span
from sayso.store.contract import Append, Store

_ORIGIN = Origin("clock", "")
_KIND: dict[Deed, str] = {
    "remind": "ask.reminded",
    "escalate": "ask.escalated",
    "expire": "ask.decided",
    "settle": "ask.decided",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """What the clock did; `won` is false if somebody else was faster. Either way, look again."""

    deed: Deed
    won: bool


def keep_time(store: Store, at: Standing, now: datetime | None = None) -> Kept | None:
    """Do the next thing that time has made due; `None` if nothing is."""
    found = due(at.ask, now or at.now)
    if found is None:
        return None
    said = {"remind": _reminder, "escalate": _rung, "expire": _timeout, "settle": _settled}
    payload = stamped(_ORIGIN, **said[found.deed](at.ask, now or at.now))
    kind = _KIND[found.deed]
    if found.deed == "expire" and at.ask.content.optional:
        kind = "ask.withdrawn"
    event, ask = grow(at.ask, kind, at=at.now, actor=CLOCK, payload=payload)
    settled = resolution(store, ask) if found.deed == "settle" else []
    return Kept(found.deed, store.commit(Append(event=event, ask=ask), *settled))


def _reminder(ask: Ask, now: datetime) -> dict[str, Any]:
    """Say which reminder it is. Of those that were missed, one is enough."""
    due_at, shares = ask.due_at, ask.content.ruled.remind
    if due_at is None:
        return {}
    times = ask.reminded + 1
    while times < len(shares) and reminder(ask, due_at, times) <= now:
        times += 1
    return {"times": times, "share": shares[times - 1], "due_at": due_at.isoformat()}


def _rung(ask: Ask, _now: datetime) -> dict[str, Any]:
    after, roles = ask.content.ruled.ladder[ask.climbed]
    return {"roles": list(roles), "after": after}


def _settled(ask: Ask, _now: datetime) -> dict[str, Any]:
    """Say again what counts from now on, for whoever reads only this event."""
    said = ask.pending
    if said is None:
        return {}
    return {
        "settled": said.by.id,
        "verdict": said.verdict,
        "answer": said.answer,
        "note": said.note,
        "kind": said.kind,
        "end": said.end or None,
    }


def _timeout(ask: Ask, _now: datetime) -> dict[str, Any]:
    """Say what becomes of an ask that nobody decided."""
    seconds = round((ask.content.due_at or ask.opened_at).timestamp() - ask.opened_at.timestamp())
    waited = say_span(timedelta(seconds=seconds))
    if ask.content.optional:
        return {"note": f"Nobody objected within {waited}."}
    if consents_by_timeout(ask):
        note = f"Nobody objected within {waited}, which the policy takes for a yes."
        return {"verdict": "approve", "note": note}
    return {"verdict": "reject", "note": f"Nobody decided within {waited}."}


def consents_by_timeout(ask: Ask) -> bool:
    """Whether silence is a yes: the policy says so, nobody has refused, and little is at stake."""
    content = ask.content
    refused = any(ask.meaning(vote.verdict).stance == "refusal" for vote in ask.votes)
    grave = {content.risk, content.ruled.tier} & set(NEVER_BY_TIMEOUT)
    return (
        content.ruled.on_timeout == "approve"
        and content.kind in ("action", "draft", "plan")
        and not (refused or grave or content.reversible is False or ask.gone)
    )
