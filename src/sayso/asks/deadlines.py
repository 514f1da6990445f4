"""What the clock does: remind people, let others stand in, settle a decision, close what is late.

A timeout is a decision like any other, by the clock, and it fails closed. Everything
here is written by whoever notices first: the sweep, a reviewer, or the program that
waits. Only one of them wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sayso.asks.opening import without
from sayso.asks.spending import resolution
from sayso.asks.standing import Standing, grow, stamped
from sayso.asks.vouching import learned
from sayso.model.actor import CLOCK, Origin
from sayso.model.agenda import Deed, due, reminder
from sayso.model.ruled import NEVER_BY_TIMEOUT
from sayso.model.span import say_span
from sayso.model.tally import decides
from sayso.store.contract import Append, Store

_ORIGIN = Origin("clock", "")
_LEFT = "Somebody who decided it has left, or holds another role by now; decide it again."
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
    payload = stamped(_ORIGIN, **said[found.deed](at, now or at.now))
    kind = _KIND[found.deed]
    if found.deed == "expire" and at.ask.content.optional:
        kind = "ask.withdrawn"
    if found.deed == "settle" and not _still_stands(at):
        kind, payload = "ask.taken_back", stamped(_ORIGIN, note=_LEFT)
    event, ask = grow(at.ask, kind, at=at.now, actor=CLOCK, payload=payload)
    settled: list[Append] = []
    if ask.decision is not None:
        settled = [*resolution(store, ask), *learned(store, at, ask)]
    return Kept(found.deed, store.commit(Append(event=event, ask=ask), *settled))


def _still_stands(at: Standing) -> bool:
    """Whether those who decided are still there, in the roles they decided in."""
    return at.roster.solo or decides(at.ask, at.ask.votes, at.roster)


def _reminder(at: Standing, now: datetime) -> dict[str, Any]:
    """Say which reminder it is. Of those that were missed, one is enough."""
    ask = at.ask
    due_at, shares = ask.due_at, ask.content.ruled.remind
    if due_at is None:
        return {}
    times = ask.reminded + 1
    while times < len(shares) and reminder(ask, due_at, times) <= now:
        times += 1
    return {"times": times, "share": shares[times - 1], "due_at": due_at.isoformat()}


def _rung(at: Standing, _now: datetime) -> dict[str, Any]:
    after, roles = at.ask.content.ruled.ladder[at.ask.climbed]
    return {"roles": list(roles), "after": after}


def _settled(at: Standing, _now: datetime) -> dict[str, Any]:
    """Say again what counts from now on, for whoever reads only this event."""
    said = at.ask.pending
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


def _timeout(at: Standing, _now: datetime) -> dict[str, Any]:
    """Say what becomes of an ask that nobody decided."""
    ask = at.ask
    seconds = round((ask.content.due_at or ask.opened_at).timestamp() - ask.opened_at.timestamp())
    waited = say_span(timedelta(seconds=seconds))
    if ask.content.optional:
        return {"note": f"Nobody objected within {waited}."}
    if _silence_consents(at):
        note = f"Nobody objected within {waited}, which the policy takes for a yes."
        return {"verdict": "approve", "note": note}
    return {"verdict": "reject", "note": f"Nobody decided within {waited}."}


def _silence_consents(at: Standing) -> bool:
    """Whether silence is a yes: the policy says so, and silence is all there is.

    Not once anybody has spoken: refused, edited, taken something back; nor where nobody could
    have said no, where a yes is to settle, or where much is at stake (E22, E23).
    """
    ask, content = at.ask, at.ask.content
    grave = {content.risk, content.ruled.tier} & set(NEVER_BY_TIMEOUT)
    quiet = ask.version == 1 and not (ask.contested or ask.gone)
    return (
        content.ruled.on_timeout == "approve"
        and content.kind in ("action", "draft", "plan")
        and not (grave or content.reversible is False or content.ruled.cool_off)
        and quiet
        and "reject" in content.allow
        and _somebody_could(at)
    )


def _somebody_could(at: Standing) -> bool:
    """Whether the people of now could have decided it at all."""
    people = without(at.roster, at.ask.content)
    return people.solo is at.roster.solo and (
        at.roster.solo or at.ask.content.needs.met_by(people.people)
    )
