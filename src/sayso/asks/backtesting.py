"""What another policy would have said to the asks of late."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from sayso.asks.law import NO_LAW, Law
from sayso.asks.lawbook import InForce
from sayso.asks.ruling import rule
from sayso.errors import BadValue
from sayso.model.asked import read
from sayso.model.event import Event
from sayso.policy.rules import Policy
from sayso.policy.ruling import Ruling
from sayso.store.contract import Store

LAST = 1000  # asks that are looked at
_EACH = 12  # events of the journal for each of them, at most


class Otherwise(NamedTuple):
    """An ask that would have been ruled otherwise, with both rulings."""

    ask: str
    tool: str | None
    agent: str
    team: str | None
    before: Ruling
    after: Ruling


@dataclass(frozen=True, slots=True)
class Backtest:
    """How many asks were looked at, and those that would have been ruled otherwise."""

    looked_at: int
    otherwise: tuple[Otherwise, ...]


def backtest(
    store: Store, before: Policy, after: Policy, *, law: Law = NO_LAW, last: int = LAST
) -> Backtest:
    """Rule anew, by two policies, on what was asked of late; nothing is written.

    Each ask is taken as it was put, at the moment it was put. What a gate asked for by itself is
    left out.

    Args:
        store: The desk.
        before: One policy.
        after: The other one.
        law: What code declares of the tools, by now.
        last: How many asks are looked at.
    """
    # Each with a memory of its own: what rulings remember of the law is left as it is.
    was, would = (InForce(one, b"", replace(law, known=[])) for one in (before, after))
    found, looked_at = [], 0
    for event in store.recent(last * _EACH):
        if looked_at == last:
            break
        if event.kind == "ask.opened" and event.text is not None:
            looked_at += 1
            found += _compared(event, event.text, was, would)
    return Backtest(looked_at, tuple(found))


def _compared(event: Event, text: str, before: InForce, after: InForce) -> list[Otherwise]:
    try:
        content = read(text).content
    except (BadValue, KeyError, TypeError, ValueError):  # others say so
        return []
    # Somebody elsewhere asked in so many words; what a ruling froze says so of other asks.
    requested = bool(content.posted) or content.ruled.requested
    was, would = (rule(law, content, event.at, requested=requested) for law in (before, after))
    if _says(was) == _says(would):
        return []
    tool = content.proposal.tool
    return [Otherwise(event.stream, tool, content.agent, content.team, was, would)]


def _says(ruling: Ruling) -> tuple[object, ...]:
    asks = (ruling.tier, ruling.needs, ruling.within, ruling.on_timeout) if ruling.asks else ()
    return (ruling.effect, *asks)
