"""What the clock does: reject what nobody decided in time.

A timeout is a decision like any other, by the clock, and it fails closed. It is
written by whoever notices first: the sweep, a reviewer who comes too late, or
the program that waits. Only one of them wins.
"""

from __future__ import annotations

from datetime import timedelta

from sayso.asks.standing import Standing, grow, stamped
from sayso.model.actor import CLOCK, Origin
from sayso.model.span import say_span
from sayso.store.contract import Append, Store

_ORIGIN = Origin("clock", "")


def expire(store: Store, at: Standing) -> bool:
    """Write the clock's rejection of an overdue ask; False if somebody else was faster.

    Whoever calls has looked at the deadline that the journal names.
    """
    due_at = at.ask.due_at
    if not at.ask.open or due_at is None:
        return False
    seconds = round((due_at - at.ask.opened_at).total_seconds())
    waited = say_span(timedelta(seconds=seconds))
    payload = stamped(_ORIGIN, verdict="reject", note=f"Nobody decided within {waited}.")
    event, ask = grow(at.ask, "ask.decided", at=at.now, actor=CLOCK, payload=payload)
    return store.commit(Append(event=event, ask=ask))
