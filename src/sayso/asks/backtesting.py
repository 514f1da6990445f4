"""What another policy would have said to the asks of late."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sayso.asks.ruling import facts_of
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
    before: Ruling
    after: Ruling


@dataclass(frozen=True, slots=True)
class Backtest:
    """How many asks were looked at, and those that would have been ruled otherwise."""

    looked_at: int
    otherwise: tuple[Otherwise, ...]


def backtest(store: Store, before: Policy, after: Policy, last: int = LAST) -> Backtest:
    """Rule anew, by two policies, on what was asked of late; nothing is written.

    Each ask is taken as it was put, at the moment it was put. What it wanted for itself is left out.
    """
    found, looked_at = [], 0
    for event in store.recent(last * _EACH):
        if looked_at == last:
            break
        if event.kind == "ask.opened" and event.text is not None:
            looked_at += 1
            found += _compared(event, event.text, before, after)
    return Backtest(looked_at, tuple(found))


def _compared(event: Event, text: str, before: Policy, after: Policy) -> list[Otherwise]:
    try:
        content = read(text).content
    except (BadValue, KeyError, TypeError, ValueError):  # others say so
        return []
    facts = facts_of(content, always=False, requested=content.ruled.requested)
    was, would = before.ruling(facts, event.at), after.ruling(facts, event.at)
    if _says(was) == _says(would):
        return []
    return [Otherwise(event.stream, content.proposal.tool, content.agent, was, would)]


def _says(ruling: Ruling) -> tuple[object, ...]:
    asks = (ruling.tier, ruling.needs, ruling.within, ruling.on_timeout) if ruling.asks else ()
    return (ruling.effect, *asks)
